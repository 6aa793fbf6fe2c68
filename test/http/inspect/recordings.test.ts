/** Flight recordings of actors and requests, replayed without the server. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { parseRecording, type Recording, replayRecording } from '../../../src/replay/recording.ts';
import { errorOf } from '../../support/envelope.ts';
import { insideOf, startTenants, type Tenants } from '../../support/tenants.ts';

setDefaultTimeout(90_000);

let tenants: Tenants;
beforeAll(async () => {
  tenants = await startTenants();
});
afterAll(() => tenants.stop());

const operator = (path: string) =>
  tenants.send('GET', `/v1/operator/inspect${path}`, tenants.weir.operator_token);
const owner = (path: string, tenant = tenants.home) =>
  tenants.send('GET', `/v1/management/inspect${path}`, tenant.management_token);

async function fileOf(sent: Promise<Response>): Promise<{ text: string; recording: Recording }> {
  const response = await sent;
  const text = await response.text();
  expect([response.status, response.status === 200 ? '' : text]).toEqual([200, '']);
  expect(response.headers.get('content-disposition')).toStartWith('attachment; filename="weir-');
  // The prompt, the keys and the client's own words are in no recording.
  expect(text).not.toMatch(/lighthouse|\[\[sim|sk-[\w-]{20}|op-|mt-|sim-canary/i);
  return { text, recording: parseRecording(text) };
}

/** Replays a file. Nothing of it may differ from its hashes. */
function replayed(recording: Recording) {
  const actors = replayRecording(recording);
  expect(actors.map(({ kind, problem }) => [kind, problem])).toEqual(
    actors.map(({ kind }) => [kind, null]),
  );
  return actors;
}

test('a task: its file replays to its end, with the money that moved', async () => {
  const { recording } = await fileOf(operator(`/actors/task/${tenants.home.task}/recording`));
  expect(recording).toMatchObject({ viewer: 'operator', request: null });
  const [task] = replayed(recording);
  const last = task?.moments.at(-1);
  expect(last?.state).toBe('completed');
  expect(last?.money.held).toBeGreaterThan(0);
  expect(last?.money.held).toBe(Number(last?.money.settled) + Number(last?.money.released));
  const rows = await tenants.database.sql<{ seq: number; context_hash: string }[]>`
    select seq, context_hash from actor_event
    where kind = 'task' and actor_id = ${tenants.home.task} order by seq`;
  expect(recording.actors[0]?.events.map(({ hash }) => hash)).toEqual(
    rows.map(({ context_hash }) => context_hash),
  );
});

test('an organization’s file replays too, and names no channel (P5)', async () => {
  const seen = await fileOf(operator(`/actors/task/${tenants.home.task}/recording`));
  const { text, recording } = await fileOf(owner(`/actors/task/${tenants.home.task}/recording`));
  expect(seen.text).toMatch(insideOf(tenants));
  expect(text).not.toMatch(insideOf(tenants));
  expect(recording.viewer).toBe('organization');
  expect(replayed(recording)[0]?.moments.at(-1)?.state).toBe('completed');
});

test('a quota and a channel: their files begin with what is kept', async () => {
  const call = await fetch(`${tenants.weir.base_url}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${tenants.home.api_key}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ model: 'gpt-4o', messages: [{ role: 'user', content: 'Hi' }] }),
  });
  expect(call.status).toBe(200);
  await call.text();
  const quota = await fileOf(owner(`/actors/quota/${tenants.home.key_id}/recording`));
  expect(replayed(quota.recording)[0]?.moments.length).toBeGreaterThan(0);
  const id = encodeURIComponent('canary-channel-openai/gpt-4o');
  replayed((await fileOf(operator(`/actors/channel/${id}/recording`))).recording);
  await errorOf(await owner(`/actors/channel/${id}/recording`), 404);
});

test('a request: its record, and each actor that it touched', async () => {
  const { request } = tenants.home;
  const own = await fileOf(owner(`/requests/${request}/recording`));
  expect(own.text).not.toMatch(insideOf(tenants));
  expect(own.recording.request).toMatchObject({ request_id: request, outcome: 'completed' });
  expect(own.recording.request).not.toHaveProperty('metadata');
  const kinds = new Set(own.recording.actors.map(({ kind }) => kind));
  expect([...kinds].filter((kind) => !['quota', 'batch'].includes(kind))).toEqual([]);
  const all = await fileOf(operator(`/requests/${request}/recording`));
  expect(all.recording.actors.map(({ kind }) => kind)).toContain('channel');
  expect(all.recording.request).toHaveProperty('channel');
  replayed(all.recording);
});

test('a request that created a task has the task and its webhook', async () => {
  const { sql } = tenants.database;
  const [row] = await sql<{ request_id: string }[]>`
    select request_id from task where id = ${tenants.home.task}`;
  const { recording } = await fileOf(operator(`/requests/${row?.request_id}/recording`));
  expect(recording.actors.map(({ kind }) => kind)).toContain('task');
  expect(recording.actors.map(({ kind }) => kind)).toContain('webhook');
  replayed(recording);
});

test('P6: the request of another organization answers like one that does not exist', async () => {
  const strange = await errorOf(await owner(`/requests/${tenants.away.request}/recording`), 404);
  for (const id of [`req_${'0'.repeat(32)}`, 'x', '%00']) {
    expect(await errorOf(await owner(`/requests/${id}/recording`), 404)).toEqual(strange);
    await errorOf(await operator(`/requests/${id}/recording`), 404);
  }
});
