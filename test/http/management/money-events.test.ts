/**
 * Live events of keys and balances, over two replicas. A public parser reads the stream, and each
 * state is compared with the routes that have it.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { EventSourceParserStream } from 'eventsource-parser/stream';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { type RunningSimulator, startSimulator } from '../../support/simulator.ts';
import { until } from '../../support/until.ts';
import { type RunningWeir, startWeir } from '../../support/weir.ts';

setDefaultTimeout(60_000);

let simulator: RunningSimulator;
let database: TestDatabase;
let first: RunningWeir;
let second: RunningWeir;
let key: { id: string; key: string };

beforeAll(async () => {
  [simulator, database] = await Promise.all([startSimulator(), createTestDatabase()]);
  const channel = {
    ...{ id: 'main', protocol: 'openai', base_url: `${simulator.url}/openai/v1` },
    ...{ api_key: 'sim-main', models: { 'gpt-4o': 'gpt-4o' } },
  };
  const config = JSON.stringify({ channels: [channel], roles: { standard: 1_000_000 } });
  const options = { config, env: { DATABASE_URL: database.url } };
  first = await startWeir(options);
  second = await startWeir(options);
  key = await manage('POST', '/api-keys', { name: 'Watched', limitAmount: 5 });
});
afterAll(async () => {
  await Promise.all([first, second].map((each) => each?.stop()));
  await simulator.stop();
  await database.drop();
});

async function manage<Answer>(method: string, path: string, body?: object): Promise<Answer> {
  const response = await fetch(`${second.base_url}/v1/management${path}`, {
    method,
    headers: {
      authorization: `Bearer ${second.management_token}`,
      'content-type': 'application/json',
    },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as Answer;
}

const chat = (weir: RunningWeir) =>
  fetch(`${weir.base_url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'gpt-4o',
      messages: [{ role: 'user', content: 'Hi [[sim tokens=3]]' }],
    }),
  }).then((response) => response.text());

interface KeyShown {
  api_key_id: string;
  status: string;
  used_amount: number;
  limit_amount: number | null;
  cap: string;
}
interface Seen {
  at_ms: number;
  id: string | undefined;
  event: string | undefined;
  data: { keys?: KeyShown[]; available?: number; used?: number };
}

/** Collects the events of a stream until it is closed. */
async function watch(weir: RunningWeir, last?: string) {
  const stop = new AbortController();
  const response = await fetch(`${weir.base_url}/v1/management/events`, {
    signal: stop.signal,
    headers: {
      authorization: `Bearer ${weir.management_token}`,
      ...(last === undefined ? {} : { 'last-event-id': last }),
    },
  });
  const events: Seen[] = [];
  const reading = (async () => {
    const stream = (response.body ?? new ReadableStream<Uint8Array>())
      .pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>)
      .pipeThrough(new EventSourceParserStream());
    for await (const { id, event, data } of stream) {
      events.push({ at_ms: performance.now(), id, event, data: JSON.parse(data) });
    }
  })().catch(() => undefined);
  return {
    events,
    of: (name: string) => events.filter(({ event }) => event === name),
    /** The latest state of the watched key. */
    key: () =>
      events
        .flatMap(({ data }) => data.keys ?? [])
        .findLast(({ api_key_id }) => api_key_id === key.id),
    async close() {
      stop.abort();
      await reading;
    },
  };
}

test('a stream begins with the balance and all keys, and then has what changed', async () => {
  const stream = await watch(first);
  await until('the first state', () => stream.key() && stream.of('balance').length > 0);
  const { data: keys } = await manage<{ data: { id: string }[] }>('GET', '/api-keys');
  const [begin] = stream.of('keys');
  expect(begin?.data.keys?.map(({ api_key_id }) => api_key_id).sort()).toEqual(
    keys.map(({ id }) => id).sort(),
  );
  expect(stream.key()).toEqual({
    ...{ api_key_id: key.id, status: 'active', used_amount: 0, held_amount: 0 },
    ...{ limit_amount: 5, cap: 'free' },
  });

  await chat(second);
  const balance = await until('the charge', async () => {
    const { data } = await manage<{ data: { id: string; used_amount: number }[] }>(
      'GET',
      '/api-keys',
    );
    const used = data.find(({ id }) => id === key.id)?.used_amount ?? 0;
    const now = await manage<Seen['data']>('GET', '/balance');
    const shown = stream.of('balance').at(-1)?.data;
    return used > 0 && stream.key()?.used_amount === used && shown?.used === now.used && now;
  });
  expect(stream.of('balance').at(-1)?.data).toEqual(balance);
  // Only the used key changed.
  expect(stream.of('keys').at(-1)?.data.keys).toHaveLength(1);

  await manage('PATCH', `/api-keys/${key.id}`, { limitAmount: 0.000_000_001 });
  await until('the cap', () => stream.key()?.cap === 'reached');
  await manage('PATCH', `/api-keys/${key.id}`, { limitAmount: 5, status: 'suspended' });
  await until('the status', () => stream.key()?.status === 'suspended');
  expect(stream.key()?.cap).toBe('free');
  await manage('PATCH', `/api-keys/${key.id}`, { status: 'active' });

  const last = stream.events.findLast(({ id }) => id !== undefined)?.id;
  await stream.close();
  // What changed while the client was away is in the first state.
  await manage('PATCH', `/api-keys/${key.id}`, { limitAmount: 4 });
  const resumed = await watch(second, last);
  await until('the state after the pause', () => resumed.key()?.limit_amount === 4);
  await resumed.close();
});

test('changes are sent at most once a second, however many calls make them', async () => {
  const stream = await watch(first);
  await until('the first state', () => stream.key());
  const ends_at_ms = performance.now() + 5_000;
  let calls = 0;
  while (performance.now() < ends_at_ms) {
    await Promise.all([chat(first), chat(second)]);
    calls += 2;
    // With a hundred calls between two reads, all reads are a second apart. With fewer, only those of the money are.
    await Bun.sleep(20);
  }
  const { data } = await manage<{ data: { id: string; used_amount: number }[] }>(
    'GET',
    '/api-keys',
  );
  const used = data.find(({ id }) => id === key.id)?.used_amount;
  await until('the last charge', () => stream.key()?.used_amount === used);
  expect(calls).toBeGreaterThan(20);
  for (const name of ['keys', 'balance']) {
    const times = stream.of(name).map(({ at_ms }) => at_ms);
    const gaps = times.slice(1).map((at, index) => at - (times[index] ?? 0));
    expect(times.length, name).toBeGreaterThan(2);
    // A busy computer may deliver two events closer to each other than they were read.
    expect(times.length, name).toBeLessThanOrEqual(10);
    expect(gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length, name).toBeGreaterThan(900);
  }
  await stream.close();
});
