/**
 * The event streams of tasks, over HTTP from two real replicas on one PostgreSQL, with a client that
 * knows nothing of Weir.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { connectDatabase, type Database } from '../../db/client.ts';
import { hashCredential, newCredential, newId, shownPrefix } from '../../db/secrets.ts';
import { MAX_WATCHES_PER_KEY } from '../../src/inference/tasks/task-watches.ts';
import { errorOf } from '../support/envelope.ts';
import {
  type Connection,
  followEvents,
  openEvents,
  type SeenEvent,
} from '../support/event-source.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { type RunningSimulator, startSimulator } from '../support/simulator.ts';
import { until } from '../support/until.ts';
import { type RunningWeir, startWeir } from '../support/weir.ts';
import { withoutSignatures } from '../support/without-signatures.ts';

setDefaultTimeout(90_000);

const VIDEO = 'grok-imagine-video';
/** Its protocol reports no progress. */
const SILENT = 'veo-3.1';

let simulator: RunningSimulator;
let database: Database;
let url: string;
let drop: () => Promise<void>;
let one: RunningWeir;
let two: RunningWeir;
/** A stream of a task without progress, which only shows heartbeats. */
let silent: Connection;

beforeAll(async () => {
  simulator = await startSimulator();
  const fresh = await createTestDatabase();
  ({ drop, url } = fresh);
  database = connectDatabase(url, { pool: 'single' });
  one = await start();
  two = await start();
  silent = await openEvents(
    eventsOf(one, (await create({ model: SILENT, task_ms: 60_000 })).id),
    one.api_key,
  );
});
afterAll(async () => {
  silent.close();
  await one.stop();
  await two.stop();
  await database.close();
  await drop();
  await simulator.stop();
});

function start(port?: number): Promise<RunningWeir> {
  const channel = (protocol: string, path: string, models: Record<string, string>) => ({
    id: `canary-channel-${protocol}`,
    ...{ protocol, models, base_url: simulator.url + path, api_key: `sim-canary-${protocol}` },
  });
  const channels = [
    channel('xai', '/xai/v1', { [VIDEO]: 'canary-physical' }),
    channel('veo', '/google/v1beta', { [SILENT]: 'veo-3.1-generate-preview' }),
  ];
  const config = JSON.stringify({ channels, roles: { standard: 1_000_000 } });
  const env = { DATABASE_URL: url, WEIR_SECRET_KEY: Buffer.alloc(32, 1).toString('base64') };
  return startWeir({ config, env, ...(port === undefined ? {} : { port }) });
}

interface Order {
  model?: string;
  task_ms?: number;
  fail?: 'moderation';
  weir?: RunningWeir;
}

async function create({ model = VIDEO, task_ms = 100, fail, weir = one }: Order = {}) {
  const directives = `task_ms=${task_ms}${fail ? ` fail=${fail}` : ''}`;
  const response = await fetch(`${weir.base_url}/v1/videos/generations`, {
    method: 'POST',
    headers: { authorization: `Bearer ${weir.api_key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, prompt: `A lighthouse [[sim ${directives}]]` }),
  });
  const task = (await response.json()) as { id: string; created: number };
  expect({ status: response.status, task }).toMatchObject({ status: 200 });
  return task;
}

const eventsOf = (weir: RunningWeir, id: string) => `${weir.base_url}/v1/tasks/${id}/events`;

/** The record of a task, as polling returns it. The signatures of links change with time. */
async function recordOf(id: string, weir = one): Promise<Record<string, unknown>> {
  const response = await fetch(`${weir.base_url}/v1/tasks/${id}`, {
    headers: { authorization: `Bearer ${weir.api_key}` },
  });
  return unsigned((await response.json()) as Record<string, unknown>);
}
const unsigned = (record: Record<string, unknown>): Record<string, unknown> =>
  JSON.parse(JSON.stringify(record).replaceAll(/http:[^"?]*(\/v1\/files\/[^"?]*)\?[^"]*/g, '$1'));

async function openStreams(weir: RunningWeir): Promise<number> {
  const text = await (await fetch(`${weir.base_url}/metrics`)).text();
  return Number(/^weir_event_streams(?:\{.*\})? (\d+)$/m.exec(text)?.[1]);
}

/** Checks what every whole stream promises. */
function expectWholeStream(events: readonly SeenEvent[]): void {
  const ids = events.map(({ id }) => id);
  expect(ids).toEqual([...new Set(ids)].toSorted((a, b) => a - b));
  expect(events.slice(0, -1).every(({ event }) => event === 'progress')).toBe(true);
  expect(['completed', 'failed']).toContain(events.at(-1)?.event ?? '');
  const shown = events.slice(0, -1).map(({ data }) => `${data['status']} ${data['progress']}`);
  expect(shown).toEqual([...new Set(shown)]);
  const progress = events.slice(0, -1).map(({ data }) => Number(data['progress'] ?? -1));
  expect(progress).toEqual(progress.toSorted((a, b) => a - b));
}

describe('GET /v1/tasks/{id}/events', () => {
  test.concurrent('200: the present state at once, then each change, then the record that polling returns', async () => {
    const task = await create({ task_ms: 6_000 });
    const stream = await openEvents(eventsOf(one, task.id), one.api_key);
    expect(stream.status).toBe(200);
    const first = await stream.next();
    expect(first?.event).toBe('progress');
    expect(first?.data).toEqual({
      id: task.id,
      task_id: task.id,
      status: expect.stringMatching(/^(pending|processing)$/),
      progress: null,
      created: task.created,
      model: VIDEO,
    });
    const events = [...(first ? [first] : []), ...(await stream.rest())];
    expectWholeStream(events);
    const last = events.at(-1);
    expect(last?.event).toBe('completed');
    expect(unsigned(last?.data ?? {})).toEqual(await recordOf(task.id));
    expect(last?.data['billing_transaction_id']).toMatch(/^txn_/);
    // A link of the terminal record works.
    expect((await fetch(String(last?.data['video_url']))).status).toBe(200);
    const reported = events.flatMap(({ data }) => (data['progress'] as number | null) ?? []);
    expect(reported.length).toBeGreaterThan(0);
    for (const each of reported)
      expect(Number.isInteger(each) && each >= 0 && each <= 100).toBe(true);
    // P5: internal states, channels and the provider stay hidden.
    expect(withoutSignatures(JSON.stringify(events))).not.toMatch(
      /canary|sim-|submitting|polling|waiting/,
    );
  });

  test.concurrent('200: two clients on two replicas get the same events', async () => {
    const { id } = await create({ task_ms: 6_000 });
    const streams = await Promise.all(
      [one, two].map((weir) => openEvents(eventsOf(weir, id), weir.api_key)),
    );
    const [here, there] = await Promise.all(streams.map((stream) => stream.rest()));
    if (!here || !there) throw new Error('no streams');
    for (const events of [here, there]) expectWholeStream(events);
    // The first event is the state at the time of the connection. Then the events are the same.
    const from = Math.max(here[0]?.id ?? 0, there[0]?.id ?? 0);
    const after = (events: SeenEvent[]) =>
      events
        .filter(({ id: each }) => each > from)
        .map(({ data, ...rest }) => ({ ...rest, data: unsigned(data) }));
    expect(after(there)).toEqual(after(here));
    expect(after(here).length).toBeGreaterThan(1);
  });

  test.concurrent('200: a task that fails ends with its record', async () => {
    const { id } = await create({ task_ms: 1_500, fail: 'moderation' });
    const events = await (await openEvents(eventsOf(two, id), two.api_key)).rest();
    expectWholeStream(events);
    expect(events.at(-1)?.event).toBe('failed');
    expect(events.at(-1)?.data).toEqual(await recordOf(id));
    expect(events.at(-1)?.data).toMatchObject({ error: { code: 'content_policy_violation' } });
  });

  test.concurrent('Last-Event-ID resumes after any event, on any replica; after the last one, 204', async () => {
    const { id } = await create({ task_ms: 5_000 });
    const all = await (await openEvents(eventsOf(one, id), one.api_key)).rest();
    expectWholeStream(all);
    for (const [index, event] of all.entries()) {
      const weir = index % 2 ? one : two;
      const resumed = await openEvents(eventsOf(weir, id), weir.api_key, event.id);
      if (index === all.length - 1) {
        expect(resumed.status).toBe(204);
        continue;
      }
      const rest = await resumed.rest();
      expect(rest.map((each) => each.id)).toEqual(all.slice(index + 1).map((each) => each.id));
      expect(unsigned(rest.at(-1)?.data ?? {})).toEqual(await recordOf(id));
    }
    // Without the header, an ended task has its terminal record at once, and nothing else.
    const fresh = await (await openEvents(eventsOf(two, id), two.api_key)).rest();
    expect(fresh.map(({ event }) => event)).toEqual(['completed']);
    expect(unsigned(fresh[0]?.data ?? {})).toEqual(await recordOf(id));
    // The client stops, although the server closes each stream.
    const followed = await followEvents(() => eventsOf(one, id), one.api_key);
    expect(followed.map(({ event }) => event)).toEqual(['completed']);
  });

  test.each(['abc', '-1', '0', '1.5', '1e3', '99999999999999999999'])(
    '400: Last-Event-ID %s',
    async (header) => {
      const { id } = await create();
      const error = await errorOf(await get(eventsOf(one, id), one.api_key, header), 400);
      expect(error).toMatchObject({ code: 'invalid_request_error', param: 'Last-Event-ID' });
    },
  );

  test('400: Last-Event-ID after the end of the log', async () => {
    const { id } = await create();
    await (await openEvents(eventsOf(one, id), one.api_key)).rest();
    const error = await errorOf(await get(eventsOf(one, id), one.api_key, '4000'), 400);
    expect(error.param).toBe('Last-Event-ID');
  });

  test('401 without a valid key', async () => {
    const { id } = await create();
    await errorOf(await fetch(eventsOf(one, id)), 401);
    await errorOf(await get(eventsOf(one, id), 'sk-wrong'), 401);
    await errorOf(await get(eventsOf(one, id), one.management_token), 401);
  });

  test('P6: 404 for another organization’s task, exactly as for an unknown one', async () => {
    const { id } = await create();
    const stranger = await addStranger();
    const unknown = id.replace(/.{6}$/, 'ffffff');
    for (const header of [undefined, '1', 'abc']) {
      const [theirs, nobodys] = await Promise.all(
        [id, unknown].map(async (each) => {
          const response = await get(eventsOf(one, each), stranger, header);
          const error = await errorOf(response, 404);
          const names = [...response.headers.keys()].filter((name) => name !== 'date');
          return { error, names };
        }),
      );
      expect(theirs).toEqual(nobodys);
      expect(theirs?.error.code).toBe('async_task_not_found');
    }
  });

  test('405 for other methods; HEAD opens no stream', async () => {
    const { id } = await create();
    const before = await openStreams(two);
    const headers = { authorization: `Bearer ${two.api_key}` };
    const head = await fetch(eventsOf(two, id), { method: 'HEAD', headers });
    expect([head.status, head.headers.get('content-type')]).toEqual([
      200,
      'text/event-stream; charset=utf-8',
    ]);
    expect(await openStreams(two)).toBe(before);
    await errorOf(await fetch(eventsOf(two, id), { method: 'POST', headers }), 405);
  });

  test('429 above the streams of one key; a client that leaves frees its stream', async () => {
    const { id } = await create({ task_ms: 30_000, weir: two });
    const before = await openStreams(two);
    const streams = await Promise.all(
      Array.from({ length: MAX_WATCHES_PER_KEY }, () => openEvents(eventsOf(two, id), two.api_key)),
    );
    expect(streams.every(({ status }) => status === 200)).toBe(true);
    expect(await openStreams(two)).toBe(before + MAX_WATCHES_PER_KEY);
    const response = await get(eventsOf(two, id), two.api_key);
    expect(response.headers.get('retry-after')).toBeString();
    const error = await errorOf(response, 429);
    expect(error).toMatchObject({ code: 'rate_limit_exceeded', retryable: true });
    expect(error.hint).toBeString();
    for (const stream of streams) stream.close();
    await until('all streams are closed', async () => (await openStreams(two)) === before);
    const again = await openEvents(eventsOf(two, id), two.api_key);
    expect(again.status).toBe(200);
    again.close();
  });

  test('P6: the stream of a revoked key ends without a record', async () => {
    const manage = (method: string, path: string, body: object) =>
      fetch(`${one.base_url}/v1/management/api-keys${path}`, {
        method,
        headers: {
          authorization: `Bearer ${one.management_token}`,
          'content-type': 'application/json',
        },
        body: JSON.stringify(body),
      });
    const created = await manage('POST', '', { name: 'soon revoked' });
    const { id: key_id, key } = (await created.json()) as { id: string; key: string };
    const { id } = await create({ task_ms: 4_000 });
    const stream = await openEvents(eventsOf(one, id), key);
    expect((await stream.next())?.event).toBe('progress');
    await manage('PATCH', `/${key_id}`, { status: 'revoked' });
    const rest = await stream.rest();
    expect(rest.map(({ event }) => event)).not.toContain('completed');
    await errorOf(await get(eventsOf(one, id), key), 401);
  });

  test('a client that follows a task over a restart of Weir misses and repeats nothing', async () => {
    const { id } = await create({ task_ms: 6_000, weir: two });
    // This client only uses the replica that restarts; the other one stays on its replica.
    const restarted = followEvents(() => eventsOf(two, id), two.api_key);
    const steady = followEvents(() => eventsOf(one, id), one.api_key);
    await Bun.sleep(2_500);
    const { port } = two;
    const began_ms = performance.now();
    two.kill('SIGTERM');
    expect(await two.exited).toBe(0);
    // An open stream does not delay the end of the process.
    expect(performance.now() - began_ms).toBeLessThan(25_000);
    await two.stop();
    two = await start(port);
    const [here, there] = await Promise.all([steady, restarted]);
    for (const events of [here, there]) expectWholeStream(events);
    const from = Math.max(here[0]?.id ?? 0, there[0]?.id ?? 0);
    const idsAfter = (events: SeenEvent[]) =>
      events.map((each) => each.id).filter((each) => each > from);
    expect(idsAfter(there)).toEqual(idsAfter(here));
    expect(there.at(-1)?.event).toBe('completed');
  });

  test('a stream without events has a comment every 15 seconds', async () => {
    expect((await silent.next())?.data['progress']).toBeNull();
    const pending = silent.rest();
    await until('two heartbeats', () => silent.comments.length >= 2, 60_000);
    expect(silent.comments[0]).toBe('keep-alive');
    silent.close();
    await pending.catch(() => undefined);
  });
});

function get(address: string, api_key: string, last_event_id?: string): Promise<Response> {
  const headers = { authorization: `Bearer ${api_key}` };
  return fetch(address, {
    headers: last_event_id === undefined ? headers : { ...headers, 'last-event-id': last_event_id },
  });
}

/** Creates another organization. Returns its key. */
async function addStranger(): Promise<string> {
  const organization_id = newId('org');
  const key = newCredential('sk');
  await database.sql`insert into organization ${database.sql({ id: organization_id, name: 'strangers' })}`;
  await database.sql`insert into api_key ${database.sql({
    ...{ id: newId('key'), organization_id, name: 'strange' },
    ...{ key_hash: hashCredential(key), key_prefix: shownPrefix(key) },
  })}`;
  return key;
}
