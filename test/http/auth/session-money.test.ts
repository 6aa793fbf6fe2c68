/** What calls of people cost, with real money: the charge, the cap, the record, tasks and their files. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { findMoneyFaults } from '../../support/money-faults.ts';
import { type Browser, join, refusalOf } from '../../support/people.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { type RunningSimulator, startSimulator } from '../../support/simulator.ts';
import { until } from '../../support/until.ts';
import { type RunningWeir, startWeir } from '../../support/weir.ts';

setDefaultTimeout(60_000);

let simulator: RunningSimulator;
let database: TestDatabase;
let weir: RunningWeir;
let member: Browser;

beforeAll(async () => {
  simulator = await startSimulator();
  database = await createTestDatabase();
  const channel = (id: string, protocol: string, path: string, models: object) => ({
    ...{ id, protocol, base_url: simulator.url + path, api_key: `sim-${id}`, models },
  });
  const channels = [
    channel('chat', 'openai', '/openai/v1', { 'gpt-4o': 'gpt-4o' }),
    channel('images', 'midjourney', '/midjourney/mj', { midjourney: 'MID_JOURNEY' }),
  ];
  const config = JSON.stringify({ channels, roles: { standard: 1_000_000 } });
  weir = await startWeir({ config, env: { DATABASE_URL: database.url } });
  const [organization] = await database.sql<{ id: string }[]>`select id from organization`;
  const organization_id = organization?.id ?? '';
  const { base_url, operator_token } = weir;
  const joined = { base_url, organization_id, credentials: { operator_token } };
  member = await join(joined, 'member@example.com', 'member');
});
afterAll(async () => {
  await weir.stop();
  expect(await findMoneyFaults(database.sql)).toEqual([]);
  await simulator.stop();
  await database.drop();
});

interface Key {
  id: string;
  used_amount: number;
}

/** Makes a key as a page does: with the session. */
const newKey = (body: object) => member.ask<Key>('POST', '/v1/management/api-keys', body);
const send = (key: Key, method: string, path: string, body?: object) =>
  member.send(method, path, body, {
    headers: { 'weir-key': key.id, 'user-agent': 'Mozilla/5.0 (X11)' },
  });
const turn = (content: string) => ({ model: 'gpt-4o', messages: [{ role: 'user', content }] });

test('a call is charged to the key, and its record names the dashboard', async () => {
  const key = await newKey({ name: 'playground' });
  const answer = await send(key, 'POST', '/v1/chat/completions', turn('hi [[sim tokens=7]]'));
  expect(answer.status).toBe(200);
  const text = await answer.text();
  expect(text + JSON.stringify([...answer.headers])).not.toContain('sk-');
  const id = answer.headers.get('x-request-id') ?? '';
  const record = await member.ask<{ program: string; api_key_id: string; amount: number }>(
    'GET',
    `/v1/management/requests/${id}`,
  );
  expect(record).toMatchObject({ program: 'dashboard', api_key_id: key.id });
  expect(record.amount).toBeGreaterThan(0);
  await until('the key has paid', async () => {
    const { used_amount } = await member.ask<Key>('GET', `/v1/management/api-keys/${key.id}`);
    return used_amount === record.amount;
  });
});

test('the cap of the key holds', async () => {
  const key = await newKey({ name: 'poor', limitAmount: 0.000001 });
  const answer = await send(key, 'POST', '/v1/chat/completions', turn('hi'));
  expect(await refusalOf(answer)).toBe('402 quota_exceeded');
});

test('a streamed answer arrives event by event', async () => {
  const key = await newKey({ name: 'streams' });
  const body = { ...turn('hi [[sim tokens=5]]'), stream: true };
  const answer = await send(key, 'POST', '/v1/chat/completions', body);
  expect(answer.headers.get('content-type')).toContain('text/event-stream');
  expect(await answer.text()).toContain('data: [DONE]');
});

test('a task is created, watched, polled, and its file read', async () => {
  const key = await newKey({ name: 'pictures' });
  const created = await send(key, 'POST', '/v1/images/generations', {
    ...{ model: 'midjourney', prompt: 'A lighthouse [[sim task_ms=50]]', async: true },
  });
  const { id } = (await created.json()) as { id: string };
  const events = await send(key, 'GET', `/v1/tasks/${id}/events`);
  expect(await events.text()).toContain('event: completed');
  const task = await send(key, 'GET', `/v1/tasks/${id}`);
  const { status, data } = (await task.json()) as { status: string; data: { url: string }[] };
  expect(status).toBe('completed');
  const file = await fetch(data[0]?.url ?? '');
  expect(file.status).toBe(200);
  const request_id = created.headers.get('x-request-id');
  const record = await member.ask<object>('GET', `/v1/management/requests/${request_id}`);
  expect(record).toMatchObject({ program: 'dashboard', task_id: id });
});

test('a stream of a task ends when its person signs out', async () => {
  const key = await newKey({ name: 'left' });
  const created = await send(key, 'POST', '/v1/images/generations', {
    ...{ model: 'midjourney', prompt: 'A lighthouse [[sim task_ms=1500]]', async: true },
  });
  const { id } = (await created.json()) as { id: string };
  const events = await send(key, 'GET', `/v1/tasks/${id}/events`);
  await member.ask('POST', '/v1/auth/sign-out');
  expect(await events.text()).not.toContain('event: completed');
  await until('the task has ended', async () => {
    const [row] = await database.sql`select status from task where id = ${id}`;
    return row?.['status'] === 'completed';
  });
});
