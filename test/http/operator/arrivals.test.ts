/** Operators listen to the calls that reach any of two replicas, also to those that are refused. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { CANARY, ChannelWorld, chatOn } from '../../support/channel-world.ts';
import { errorOf } from '../../support/envelope.ts';
import { type Connection, openEvents } from '../../support/event-source.ts';
import type { RunningWeir } from '../../support/weir.ts';

setDefaultTimeout(60_000);

let world: ChannelWorld;
beforeAll(async () => {
  world = await ChannelWorld.start();
});
afterAll(async () => {
  await world.clear();
  await world.stop();
});

interface Call {
  request_id: string;
  state: string;
  path: string;
  method: string;
  replica: string;
  status: number | null;
  model: string | null;
  channel: string | null;
  api_key_id: string | null;
  api_key_prefix: string | null;
  program: string | null;
  stream: boolean;
  error: null | Record<'code' | 'message' | 'fault' | 'fix' | 'provider_message', string | null>;
  stages: { stage: string; at_ms: number }[];
}

async function listen(weir: RunningWeir, last?: number | string): Promise<Connection> {
  const url = `${weir.base_url}/v1/operator/arrivals`;
  const connection = await openEvents(url, weir.operator_token, last);
  expect(connection.status).toBe(200);
  return connection;
}

/** Reads events until one fits, and returns its call. */
async function callIn(connection: Connection, fits: (call: Call) => boolean): Promise<Call> {
  for (let event = await connection.next(); event; event = await connection.next()) {
    const call = event.data as unknown as Call;
    if (event.event === 'call' && fits(call)) return call;
  }
  throw new Error('the stream ended');
}

const idOf = (response: Response) => response.headers.get('x-request-id');
const ended = (response: Response) => (call: Call) =>
  call.request_id === idOf(response) && call.state === 'ended';

function post(weir: RunningWeir, path: string, headers: Record<string, string>, body: object = {}) {
  return fetch(weir.base_url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'user-agent': 'curl/8.5.0', ...headers },
    body: JSON.stringify(body),
  });
}

describe.each([0, 1] as const)('a call that reaches replica %d', (number) => {
  const weir = () => world.replicas[number];

  test('is seen by listeners of both, with its stages', async () => {
    const listeners = await Promise.all(world.replicas.map((each) => listen(each)));
    const response = await chatOn(weir());
    expect(response.status).toBe(200);
    for (const listener of listeners) {
      const call = await callIn(listener, ended(response));
      expect(weir().api_key).toStartWith(call.api_key_prefix?.slice(0, -1) ?? '?');
      expect(call.api_key_id).toStartWith('key_');
      expect(call).toMatchObject({
        ...{ object: 'arrival', method: 'POST', path: '/v1/chat/completions', status: 200 },
        ...{ model: 'gpt-4o', channel: 'demo-openai', error: null, protocol: 'openai' },
      } as object);
      expect(call.stages.map(({ stage }) => stage)).toEqual([
        ...['arrived', 'authenticated', 'reserved', 'attempt_1', 'ended'],
      ]);
    }
  });

  test('with a wrong key is seen with the start of that key, its fault and its fix', async () => {
    const listeners = await Promise.all(world.replicas.map((each) => listen(each)));
    const secret = `sk-wrong-${CANARY}-${CANARY}`;
    const response = await post(weir(), '/v1/chat/completions', {
      authorization: `Bearer ${secret}`,
    });
    expect(response.status).toBe(401);
    for (const listener of listeners) {
      const call = await callIn(listener, ended(response));
      expect(call).toMatchObject({
        ...{ status: 401, api_key_id: null, api_key_prefix: 'sk-wrong…', program: 'curl/8.5.0' },
        error: { code: 'invalid_api_key', fault: 'caller', fix: expect.stringContaining('sk-') },
      });
      expect(call.stages.map(({ stage }) => stage)).toEqual(['arrived', 'refused']);
      expect(JSON.stringify(call)).not.toContain(CANARY);
    }
  });

  test('without a key, to a wrong path, or with GET, is seen with its fix', async () => {
    const listener = await listen(world.replicas[0]);
    const { api_key } = weir();
    const authorization = `Bearer ${api_key}`;
    const cases: [() => Promise<Response>, Partial<Call>, string][] = [
      [
        () => post(weir(), '/v1/chat/completions', {}),
        { api_key_prefix: null, status: 401 },
        'Bearer',
      ],
      [
        () => post(weir(), '/chat/completions', { authorization }),
        { path: '/chat/completions', status: 404 },
        '/v1/chat/completions',
      ],
      [
        () => fetch(`${weir().base_url}/v1/chat/completions`),
        { method: 'GET', status: 405, path: '/v1/chat/completions' },
        'POST',
      ],
    ];
    // Calls that are sent together may end in any order, and `callIn` keeps none that it has read.
    for (const [send, expected, fix] of cases) {
      const call = await callIn(listener, ended(await send()));
      expect(call).toMatchObject(expected);
      expect(call.error?.fix).toContain(fix);
    }
  });

  test('is seen while it runs and while it streams', async () => {
    const listener = await listen(world.replicas[1 - number] ?? weir());
    const slow = 'Slowly [[sim latency_ms=1500 tokens=40 chunk_ms=50]]';
    const sent = post(
      ...([weir(), '/v1/chat/completions', { authorization: `Bearer ${weir().api_key}` }] as const),
      { model: 'gpt-4o', stream: true, messages: [{ role: 'user', content: slow }] },
    );
    const running = await callIn(
      listener,
      ({ state, model }) => state === 'running' && model !== null,
    );
    expect(running).toMatchObject({ status: null, error: null, model: 'gpt-4o' });
    const response = await sent;
    expect(idOf(response)).toBe(running.request_id);
    const id = running.request_id;
    await callIn(listener, (call) => call.request_id === id && call.state === 'answering');
    await response.text();
    const last = await callIn(listener, (call) => call.request_id === id && call.state === 'ended');
    expect(last).toMatchObject({ status: 200, stream: true });
    expect(last.stages.at(-1)?.stage).toBe('ended');
  });
});

test('a page that opens a moment later sees the latest calls of both replicas', async () => {
  const responses = await Promise.all(world.replicas.map((weir) => chatOn(weir)));
  const listener = await listen(world.replicas[0]);
  const missing = new Set(responses.map(idOf));
  while (missing.size > 0) {
    const { request_id } = await callIn(listener, ({ state }) => state === 'ended');
    missing.delete(request_id);
  }
});

test('a stream resumes by id, also on the other replica, without the calls before it', async () => {
  const first = await listen(world.replicas[0]);
  const old = await chatOn(world.replicas[0]);
  const seen = await callIn(first, ended(old));
  expect(seen.state).toBe('ended');
  const missed = await chatOn(world.replicas[1]);
  const later = await listen(world.replicas[1], Date.now());
  // The call came less than two seconds ago.
  await callIn(later, ended(missed));
  const next = await listen(world.replicas[1], Date.now() + 3_600_000);
  const soon = Promise.race([next.next(), Bun.sleep(1_500)]);
  expect(await soon).toBeUndefined();
});

test('a provider that refuses the key is the fault of the account, and names the channel', async () => {
  await world.create({ id: 'mine', models: { 'gpt-4o': 'gpt-4o' } });
  await world.simulator.setAccount(CANARY, { revoked: true });
  const listener = await listen(world.replicas[0]);
  const response = await chatOn(world.replicas[0]);
  const call = await callIn(listener, ended(response));
  expect(call).toMatchObject({ channel: 'mine', error: { fault: 'account' } });
  expect(call.error?.fix).toContain('mine');
  expect(call.error?.provider_message).toContain('Incorrect API key');
  expect(JSON.stringify(call)).not.toContain(`sim-${CANARY}`);
});

test('management and operator requests, polls and lists are no calls', async () => {
  const listener = await listen(world.replicas[0]);
  const { base_url, api_key, operator_token, management_token } = world.replicas[0];
  const get = (path: string, token: string) =>
    fetch(base_url + path, { headers: { authorization: `Bearer ${token}` } });
  await get('/v1/models', api_key);
  await get('/v1/operator/channels', operator_token);
  await post(world.replicas[0], '/v1/management/api-keys', {
    authorization: `Bearer ${management_token}`,
  });
  await get('/favicon.ico', api_key);
  await get('/healthz', '');
  const response = await chatOn(world.replicas[0]);
  const paths = new Set<string>();
  await callIn(listener, (call) => {
    paths.add(call.path);
    return ended(response)(call);
  });
  expect(
    [...paths].filter((path) => /models|operator|management|favicon|healthz/.test(path)),
  ).toEqual([]);
});

test('400: an id that no event has', async () => {
  const { base_url, operator_token } = world.replicas[0];
  const headers = { authorization: `Bearer ${operator_token}`, 'last-event-id': 'x' };
  const response = await fetch(`${base_url}/v1/operator/arrivals`, { headers });
  expect((await errorOf(response, 400)).param).toBe('Last-Event-ID');
});

test('401: nobody but operators may listen', async () => {
  const { base_url, api_key, management_token } = world.replicas[0];
  for (const token of [api_key, management_token, 'op-nobody']) {
    const headers = { authorization: `Bearer ${token}` };
    const response = await fetch(`${base_url}/v1/operator/arrivals`, { headers });
    expect((await errorOf(response, 401)).code).toBe('invalid_api_key');
  }
});
