/**
 * The records of tasks and batches: each has the facts of its create call, whichever replica ends it.
 * The packages of OpenAI and Anthropic create them, so the program, the end user and the tags are
 * those that a real client sends.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import Anthropic from '@anthropic-ai/sdk';
import { parse } from 'csv-parse/sync';
import OpenAI from 'openai';
import { failureOf } from '../../support/failure-of.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { type RunningSimulator, startSimulator } from '../../support/simulator.ts';
import { until } from '../../support/until.ts';
import { type RunningWeir, startWeir } from '../../support/weir.ts';

setDefaultTimeout(90_000);

let simulator: RunningSimulator;
let database: TestDatabase;
let first: RunningWeir;
let second: RunningWeir;

interface Shown {
  request_id: string;
  task_id?: string;
  outcome: string;
  program: string | null;
  timeline: { stage: string; at_ms: number; until_ms?: number; result?: string | null }[];
}

function configOf(url: string): string {
  const channel = (id: string, protocol: string, path: string, models: string[], priority = 0) => ({
    ...{ id, protocol, priority, base_url: url + path, api_key: `sim-${id}` },
    models: Object.fromEntries(
      models.map((model) => [model, model === 'midjourney' ? 'MID_JOURNEY' : `canary-${model}`]),
    ),
  });
  return JSON.stringify({
    channels: [
      channel('images-main', 'openai-images', '/openai/v1', ['gpt-image-1']),
      channel('images-spare', 'openai-images', '/openai/v1', ['gpt-image-1'], 1),
      channel('poor-main', 'openai-images', '/openai/v1', ['gpt-image-2']),
      channel('jobs-main', 'midjourney', '/midjourney/mj', ['midjourney']),
      channel('anthropic-main', 'anthropic', '/anthropic', ['claude-haiku-4-5']),
    ],
    roles: { standard: 1_000_000 },
  });
}

async function manage<Answer>(path: string): Promise<Answer> {
  const response = await fetch(`${second.base_url}/v1/management${path}`, {
    headers: { authorization: `Bearer ${second.management_token}` },
  });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as Answer;
}
const shown = (id: string) => manage<Shown>(`/requests/${id}`);
const listed = async (query: string, id: string) => {
  const { data } = await manage<{ data: Shown[] }>(`/requests?limit=100&${query}`);
  return data.filter(({ request_id }) => request_id === id);
};
const lineOf = async (id: string) => {
  const { data } = await manage<{ data: Shown[] }>('/usage?limit=100');
  return data.filter(({ request_id }) => request_id === id);
};
/** A record without a charge is written shortly after its call. */
const ended = (id: string, outcome: string) =>
  until(
    `the end of ${id} as ${outcome}`,
    async () => {
      const call = await shown(id).catch(() => undefined);
      return call?.outcome === outcome && call;
    },
    60_000,
  );

const openai = (weir: RunningWeir) =>
  new OpenAI({ baseURL: `${weir.base_url}/v1`, apiKey: second.api_key, maxRetries: 0 });
const PROGRAM = /^OpenAI\/JS \d+\.\d+\.\d+$/;

/** Creates a task, and returns the id of the request and the id of the task. */
async function createTask(weir: RunningWeir, body: object, headers: Record<string, string> = {}) {
  const { data, response } = await openai(weir)
    .post<{ id: string }>('/images/generations', { body, headers })
    .withResponse();
  return { request_id: response.headers.get('x-request-id') ?? '', task_id: data.id };
}
const job = (directives: string, more: object = {}) => ({
  ...{ model: 'midjourney', prompt: `A lighthouse [[sim ${directives}]]`, ...more },
});

beforeAll(async () => {
  [simulator, database] = await Promise.all([startSimulator(), createTestDatabase()]);
  const options = { config: configOf(simulator.url), env: { DATABASE_URL: database.url } };
  second = await startWeir(options);
  first = await startWeir(options);
});
afterAll(async () => {
  await Promise.all([first, second].map((each) => each?.stop()));
  await simulator.stop();
  await database.drop();
});

describe('a task', () => {
  test('that fails is listed once, as it ended, and counts as a request', async () => {
    const cases = [
      ['moderation', 'refused', 400, 'caller', 'content_policy_violation'],
      ['upstream', 'failed', 502, 'provider', 'upstream_error'],
    ] as const;
    for (const [reason, outcome, status, fault, error_code] of cases) {
      const { request_id, task_id } = await createTask(first, job(`task_ms=10 fail=${reason}`));
      const record = await ended(request_id, outcome);
      expect(record).toMatchObject({ task_id, status, fault, error_code, amount: 0 });
      expect(record.program).toMatch(PROGRAM);
      expect(record.timeline.map(({ stage }) => stage)).toEqual([
        ...['arrived', 'authenticated', 'reserved', 'attempt_1', 'ended'],
      ]);
      expect(record.timeline[3]).toMatchObject({ result: error_code });
      expect(await listed('', request_id)).toHaveLength(1);
      expect(await listed(`outcome=${outcome}&errorCode=${error_code}`, request_id)).toHaveLength(
        1,
      );
      expect(await listed('outcome=accepted', request_id)).toEqual([]);
      expect(await lineOf(request_id)).toEqual([]);
    }
    interface Answer {
      series: { group: string; value: number }[];
    }
    const { series } = await manage<Answer>('/usage/query?metric=requests&group=outcome');
    const counts = series.map(({ group, value }) => [group, value]);
    expect(counts).toContainEqual(['refused', 1]);
    expect(counts).toContainEqual(['failed', 1]);
  });

  test('that is repeated or runs is known as such', async () => {
    const body = job('task_ms=60000', { user: 'anna' });
    const headers = { 'idempotency-key': 'once' };
    const created = await createTask(first, body, headers);
    const repeated = await createTask(second, body, headers);
    expect(repeated.task_id).toBe(created.task_id);
    const running = await shown(created.request_id);
    expect(running).toMatchObject({ outcome: 'accepted', status: 200, user: 'anna' });
    expect(await listed('outcome=accepted&fault=caller', created.request_id)).toEqual([]);
    expect(await listed('outcome=accepted', created.request_id)).toHaveLength(1);
    expect(await lineOf(created.request_id)).toMatchObject([
      { outcome: 'held', user: 'anna', protocol: 'openai', task_id: created.task_id },
    ]);
    expect(await ended(repeated.request_id, 'repeated')).toMatchObject({ amount: 0 });
    await openai(second)
      .post(`/images/generations/${created.task_id}/cancel`)
      .catch(() => null);
  });

  test("that fails by the operator's account is the provider's fault for its owner", async () => {
    // A task whose client waits is not tried again later.
    const body = { model: 'gpt-image-2', prompt: 'A lighthouse' };
    await fetch(`${simulator.url}/_sim/accounts/poor-main`, {
      ...{ method: 'PUT', body: JSON.stringify({ revoked: true }) },
      headers: { 'content-type': 'application/json' },
    });
    const error = await failureOf(openai(first).images.generate(body));
    const id = (error as { requestID?: string }).requestID ?? '';
    const record = await ended(id, 'failed');
    expect(record).toMatchObject({ fault: 'provider', error_code: 'all_channels_failed' });
    const [row] = await database.sql`
      select fault from call_record where task_id = ${record.task_id ?? ''}`;
    expect(row?.['fault']).toBe('account');
  });

  test('that moved to another channel names both attempts, and no channel', async () => {
    const image = {
      ...{ model: 'gpt-image-1', size: '1024x1024', quality: 'low', user: 'ben', async: true },
      prompt: 'A lighthouse [[sim status=503 channel=images-main]]',
    };
    const { request_id } = await createTask(first, image);
    const record = await ended(request_id, 'completed');
    expect(record.timeline.map(({ stage, result = null }) => [stage, result])).toEqual([
      ...[
        ['arrived', null],
        ['authenticated', null],
        ['reserved', null],
      ],
      ...[
        ['attempt_1', 'server'],
        ['attempt_2', null],
        ['ended', null],
        ['settled', null],
      ],
    ]);
    expect(record).toMatchObject({ attempts: 2, user: 'ben' });
    expect(JSON.stringify(record)).not.toMatch(/-main|-spare|canary/);
  });

  test('whose client waits has one record, also if the client leaves', async () => {
    const leave = new AbortController();
    const body = { model: 'gpt-image-1', size: '1024x1024' as const, quality: 'low' as const };
    const prompt = 'A lighthouse [[sim latency_ms=20000]]';
    const call = openai(first).images.generate({ ...body, prompt }, { signal: leave.signal });
    const running = await until('the running call', async () => {
      const { data } = await manage<{ data: { request_id: string; held: number }[] }>('/calls');
      return data.find(({ held }) => held > 0);
    });
    leave.abort();
    await failureOf(call);
    const record = await ended(running.request_id, 'canceled');
    expect(record).toMatchObject({ status: 499, fault: 'caller', error_code: 'request_cancelled' });
    expect(await listed('', running.request_id)).toHaveLength(1);
  });

  test('of a streamed image that is refused was not accepted', async () => {
    const body = {
      ...{ model: 'gpt-image-1', stream: true as const, size: '1024x1024' as const },
      prompt: 'A lighthouse [[sim fail=moderation at=submit]]',
    };
    const error = await failureOf(openai(first).images.generate(body));
    const id = (error as { requestID?: string }).requestID ?? '';
    expect(await ended(id, 'refused')).toMatchObject({ stream: true, fault: 'caller' });
  });
});

test('a task that another replica ends has the facts of its create call', async () => {
  const body = {
    ...{ model: 'midjourney', prompt: 'A lighthouse [[sim task_ms=4000]]', user: 'carla' },
  };
  const { request_id, task_id } = await createTask(first, body);
  await until('the job', async () => {
    const now = await openai(second).get<{ status: string }>(`/images/generations/${task_id}`);
    return now.status === 'processing';
  });
  first.kill('SIGKILL');
  await first.exited;
  const record = await ended(request_id, 'completed');
  const [line] = await lineOf(request_id);
  const facts = {
    ...{ request_id, task_id, user: 'carla', protocol: 'openai', model_vendor: 'midjourney' },
  };
  expect(record).toMatchObject({ ...facts, usage: { units: { images: 1 } } });
  expect(line).toMatchObject({ ...facts, units: { images: 1 } });
  for (const each of [record, line]) expect(each?.program).toMatch(PROGRAM);
  const { timeline } = record;
  expect(timeline.map(({ stage }) => stage)).toEqual([
    ...['arrived', 'authenticated', 'reserved', 'attempt_1', 'ended', 'settled'],
  ]);
  // The job takes 4 s. The clock of the database says so, also after a change of replicas.
  expect(timeline.at(-2)?.at_ms).toBeGreaterThan(4_000);
  expect(timeline.at(-1)?.at_ms).toBeLessThan(60_000);
  expect(await listed('', request_id)).toHaveLength(1);

  const response = await fetch(`${second.base_url}/v1/management/usage/export`, {
    headers: { authorization: `Bearer ${second.management_token}` },
  });
  const rows = parse(await response.text(), { columns: true }) as Record<string, string>[];
  expect(rows.find((row) => row['request_id'] === request_id)).toMatchObject({
    ...{ task_id, user: 'carla', protocol: 'openai', units: '{"images":1}' },
  });
});

test('a batch is accepted, and its items name the program of its creator', async () => {
  const client = new Anthropic({
    ...{ baseURL: second.base_url, apiKey: second.api_key, maxRetries: 0 },
  });
  const params = {
    ...{ model: 'claude-haiku-4-5', max_tokens: 50, metadata: { user_id: 'dora' } },
    messages: [{ role: 'user' as const, content: 'Hello [[sim tokens=5]]' }],
  };
  const { data, request_id } = await client.messages.batches
    .create({ requests: [{ custom_id: 'a', params }] })
    .withResponse();
  expect(await ended(request_id ?? '', 'accepted')).toMatchObject({ message_batch_id: data.id });
  await until('the end of the batch', async () => {
    const batch = await client.messages.batches.retrieve(data.id);
    return batch.processing_status === 'ended';
  });
  const { data: items } = await manage<{ data: Shown[] }>('/usage?user=dora');
  expect(items).toHaveLength(1);
  expect(await shown(items[0]?.request_id ?? '')).toMatchObject({
    ...{ outcome: 'completed', message_batch_id: data.id, user: 'dora', protocol: 'anthropic' },
    program: expect.stringMatching(/^Anthropic\/JS /) as string,
  });
});
