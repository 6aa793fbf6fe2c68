/**
 * What runs now, and what just happened, over two replicas; and usage as files: exports and
 * statements of the management interface.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { parse } from 'csv-parse/sync';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { type RunningSimulator, startSimulator } from '../../support/simulator.ts';
import { until } from '../../support/until.ts';
import { type RunningWeir, startWeir } from '../../support/weir.ts';

setDefaultTimeout(60_000);

let simulator: RunningSimulator;
let database: TestDatabase;
let replicas: RunningWeir[] = [];

beforeAll(async () => {
  simulator = await startSimulator();
  database = await createTestDatabase();
  const channel = {
    ...{ id: 'canary-channel', protocol: 'openai', base_url: `${simulator.url}/openai/v1` },
    ...{ api_key: 'sim-canary', models: { 'gpt-4o': 'canary-physical' } },
  };
  const config = JSON.stringify({ channels: [channel], roles: { standard: 1_000_000 } });
  const first = await startWeir({ config, env: { DATABASE_URL: database.url } });
  replicas = [first, await startWeir({ config, env: { DATABASE_URL: database.url } })];
});
afterAll(async () => {
  await Promise.all(replicas.map((each) => each.stop()));
  await simulator.stop();
  await database.drop();
});

const [FIRST, SECOND] = [0, 1];

function request(replica: number, path: string, token: string, init: RequestInit = {}) {
  return fetch((replicas[replica]?.base_url ?? '') + path, {
    ...init,
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      ...init.headers,
    },
  });
}

const tokens = () => ({
  key: replicas[FIRST]?.api_key ?? '',
  manager: replicas[FIRST]?.management_token ?? '',
  operator: replicas[FIRST]?.operator_token ?? '',
});

const chat = (replica: number, text: string, more: object = {}, signal?: AbortSignal) =>
  request(replica, '/v1/chat/completions', tokens().key, {
    method: 'POST',
    body: JSON.stringify({
      model: 'gpt-4o',
      messages: [{ role: 'user', content: text }],
      ...more,
    }),
    ...(signal ? { signal } : {}),
  });

interface Running {
  data: { request_id: string; stage: string; held: number; logical_model: string }[];
  total: number;
  held: number;
  replicas: number;
}

test('calls in flight of both replicas are listed, with stage and held money', async () => {
  const { manager, operator } = tokens();
  const stop = new AbortController();
  const slow = [FIRST, SECOND].map((replica) =>
    chat(replica, 'Hello [[sim latency_ms=20000]]', {}, stop.signal).catch(() => undefined),
  );
  const list = async (path: string, token: string) =>
    (await (await request(FIRST, path, token)).json()) as Running;
  const found = await until('both calls', async () => {
    const running = await list('/v1/management/calls', manager);
    return running.total === 2 && running.data.every(({ stage }) => stage === 'calling') && running;
  });
  expect(found.replicas).toBe(2);
  expect(found.held).toBeGreaterThan(0);
  expect(found.held).toBeCloseTo(
    found.data.reduce((sum, { held }) => sum + held, 0),
    12,
  );
  expect(JSON.stringify(found)).not.toContain('canary');
  const seen = await list('/v1/operator/calls', operator);
  expect(seen.data).toMatchObject([
    { channel_id: 'canary-channel' },
    { channel_id: 'canary-channel' },
  ]);
  expect(new Set(seen.data.map((call) => (call as { replica_id?: string }).replica_id)).size).toBe(
    2,
  );
  stop.abort();
  await Promise.all(slow);
  await until('no call', async () => (await list('/v1/management/calls', manager)).total === 0);
});

test('the operator list needs an operator token', async () => {
  const { manager, key } = tokens();
  for (const token of [manager, key]) {
    expect((await request(FIRST, '/v1/operator/calls', token)).status).toBe(401);
    const path = token === key ? '/v1/management/events' : '/v1/operator/calls';
    expect((await request(FIRST, path, token)).status).toBe(401);
  }
});

/** Reads events until `enough` returns true for one. Returns all that came. */
async function readEvents(
  replica: number,
  last: string | undefined,
  enough: (event: Record<string, string>) => boolean,
  onOpen: () => void = () => undefined,
) {
  const stop = new AbortController();
  const response = await request(replica, '/v1/management/events', tokens().manager, {
    signal: stop.signal,
    headers: last === undefined ? {} : { 'last-event-id': last },
  });
  expect(response.status).toBe(200);
  onOpen();
  const events: Record<string, string>[] = [];
  let text = '';
  for await (const piece of response.body ?? []) {
    text += Buffer.from(piece).toString();
    const blocks = text.split('\n\n');
    text = blocks.pop() ?? '';
    for (const block of blocks) {
      const lines = block.split('\n').filter((line) => !line.startsWith(':'));
      if (lines.length === 0) continue;
      events.push(Object.fromEntries(lines.map((line) => line.split(/: (.*)/s).slice(0, 2))));
    }
    if (events.some(enough)) break;
  }
  stop.abort();
  return events;
}

test('a stream counts the running calls of both replicas', async () => {
  const stop = new AbortController();
  const count = ({ event, data = '{}' }: Record<string, string>) =>
    event === 'calls' ? (JSON.parse(data) as { total: number; held: number }) : undefined;
  const slow = [FIRST, SECOND].map((replica) =>
    chat(replica, 'Hello [[sim latency_ms=20000]]', {}, stop.signal).catch(() => undefined),
  );
  const running = await readEvents(FIRST, undefined, (event) => count(event)?.total === 2);
  expect(running.map(count).find((each) => each?.total === 2)?.held).toBeGreaterThan(0);
  stop.abort();
  await Promise.all(slow);
  const ended = await readEvents(FIRST, undefined, (event) => count(event)?.total === 0);
  expect(ended.map(count).find((each) => each?.total === 0)?.held).toBe(0);
});

test('events of one replica have the calls of the other, and resume by id without a gap', async () => {
  const isOpen = Promise.withResolvers<void>();
  const isUsage = ({ event }: Record<string, string>) => event === 'usage';
  const reading = readEvents(FIRST, undefined, isUsage, isOpen.resolve);
  // The stream has what came after its begin. Calls are made until it shows one.
  let ended = false;
  const made: string[] = [];
  const making = (async () => {
    await isOpen.promise;
    while (!ended) {
      const answer = await chat(SECOND, 'Hi [[sim tokens=3]]', { user: 'eve' });
      made.push(answer.headers.get('x-request-id') ?? '');
      await answer.text();
      await Bun.sleep(100);
    }
  })();
  const events = await reading;
  ended = true;
  await making;
  const usage = events.find(({ event }) => event === 'usage');
  const data = JSON.parse(usage?.['data'] ?? '{}') as {
    latest: { request_id: string; user: string | null }[];
  };
  const latest = data.latest.filter(({ user }) => user === 'eve');
  expect(latest.length).toBeGreaterThan(0);
  for (const { request_id } of latest) expect(made).toContain(request_id);
  expect(JSON.stringify(events)).not.toContain('canary');

  // While the client is away, another call is made; and one that is refused.
  await (await chat(FIRST, 'Hi [[sim tokens=4]]')).text();
  const refused = await chat(FIRST, 'Hi', { temperature: 9 });
  const refused_id = refused.headers.get('x-request-id') ?? '';
  const names = (text: string) =>
    (JSON.parse(text) as { latest?: { request_id: string }[] }).latest?.map((c) => c.request_id) ??
    [];
  const resumed = await readEvents(SECOND, usage?.['id'], ({ data = '{}' }) =>
    names(data).includes(refused_id),
  );
  const seen = new Set(latest.map(({ request_id }) => request_id));
  const later = resumed.flatMap(({ data = '{}' }) => names(data));
  expect(later.filter((id) => seen.has(id))).toEqual([]);
  for (const id of made) expect([...seen, ...later]).toContain(id);
});

test('a wrong Last-Event-ID is refused by name', async () => {
  const init = { headers: { 'last-event-id': 'yesterday' } };
  const response = await request(FIRST, '/v1/management/events', tokens().manager, init);
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ error: { param: 'Last-Event-ID' } });
});

test('the export has every charge once, and its exact sum, in both formats', async () => {
  const { manager } = tokens();
  await chat(FIRST, 'Hi [[sim tokens=2]]', { user: '=HYPERLINK("x"),\n2' });
  const csv = await request(FIRST, '/v1/management/usage/export', manager);
  expect(csv.headers.get('content-type')).toStartWith('text/csv');
  const as_of = csv.headers.get('x-weir-as-of') ?? '';
  const text = await csv.text();
  const ndjson = await request(
    FIRST,
    `/v1/management/usage/export?format=ndjson&as_of=${encodeURIComponent(as_of)}`,
    manager,
  );
  const objects = (await ndjson.text())
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { request_id: string; amount_nano_usd: number });
  // The csv-parse package is the judge of the CSV.
  const rows = (parse(text, { columns: true }) as Record<string, string>[]).map(
    ({ request_id = '', amount_usd = '', user = '' }) =>
      [request_id, amount_usd.replace('.', ''), user] as const,
  );
  expect(rows.map(([id, amount]) => [id, Number(amount)])).toEqual(
    objects.map(({ request_id, amount_nano_usd }) => [request_id, amount_nano_usd]),
  );
  // A spreadsheet must not run a client's text as a formula.
  expect(rows.at(-1)?.[2]).toBe('\'=HYPERLINK("x"),\n2');
  const month = new Date().toISOString().slice(0, 7);
  const statement = await request(FIRST, `/v1/management/statements/${month}`, manager);
  const { charged, deposited, is_final } = (await statement.json()) as {
    charged: { amount: number };
    deposited: number;
    is_final: boolean;
  };
  const sum = objects.reduce((total, { amount_nano_usd }) => total + amount_nano_usd, 0);
  expect(Math.round(charged.amount * 1e9)).toBe(sum);
  expect(deposited).toBe(100);
  expect(is_final).toBe(false);
  const linesOf = async (outcome: string) => {
    const path = `/v1/management/usage/export?format=ndjson&outcome=${outcome}`;
    const lines = (await (await request(FIRST, path, manager)).text()).trim().split('\n');
    return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as object);
  };
  const completed = await linesOf('completed');
  expect(completed.length).toBeGreaterThan(0);
  for (const line of completed) expect(line).toMatchObject({ outcome: 'completed' });
  expect(await linesOf('refused')).toEqual([]);
});

test('a month that is none is refused by name; an empty month is a statement', async () => {
  const { manager } = tokens();
  for (const month of ['2026-13', '2026', 'x', '2026-1']) {
    const response = await request(FIRST, `/v1/management/statements/${month}`, manager);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { param: 'month' } });
  }
  const empty = await request(FIRST, '/v1/management/statements/2020-02', manager);
  expect(await empty.json()).toMatchObject({ is_final: true, deposited: 0, by_day: [] });
});
