/** The calls in flight, now and at an instant of the past, for operators and for an organization. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { errorOf } from '../../support/envelope.ts';
import { type RunningSimulator, startSimulator } from '../../support/simulator.ts';
import { until } from '../../support/until.ts';
import { type RunningWeir, startWeir } from '../../support/weir.ts';

setDefaultTimeout(90_000);

const MODEL = 'gpt-4o';
let simulator: RunningSimulator;
let weir: RunningWeir;
beforeAll(async () => {
  simulator = await startSimulator();
  const channel = {
    ...{ id: 'east', protocol: 'openai', base_url: simulator.openai_url, api_key: 'sim-east' },
    models: { [MODEL]: 'gpt-4o-canary' },
  };
  weir = await startWeir({
    ...{ shared_database: true, config: JSON.stringify({ channels: [channel] }) },
  });
});
afterAll(async () => {
  await weir.stop();
  await simulator.stop();
});

interface Listed {
  readonly request_id: string;
  readonly stage: string;
  readonly held: number | null;
  readonly charged: number | null;
  readonly channel_id?: string;
  readonly circuit?: string;
}
interface Answer {
  readonly at: string;
  readonly total: number;
  readonly data: Listed[];
}

async function ask(role: 'operator' | 'management', query = ''): Promise<Response> {
  const token = role === 'operator' ? weir.operator_token : weir.management_token;
  return fetch(`${weir.base_url}/v1/${role}/inspect/calls${query}`, {
    headers: { authorization: `Bearer ${token}` },
  });
}
const calls = async (role: 'operator' | 'management', query = '') =>
  (await (await ask(role, query)).json()) as Answer;

const call = (content: string, signal?: AbortSignal) =>
  fetch(`${weir.base_url}/v1/chat/completions`, {
    ...(signal ? { signal } : {}),
    method: 'POST',
    headers: { authorization: `Bearer ${weir.api_key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: MODEL, messages: [{ role: 'user', content }] }),
  });

test('a call is there while it runs, and at the same instant after its end', async () => {
  const answer = call('Hello [[sim latency_ms=3000]]');
  const live = await until('the channel has the call', async () => {
    const now = await calls('operator');
    return now.data[0]?.stage === 'calling' && now;
  });
  const [running] = live.data;
  expect(running).toMatchObject({ channel_id: 'east', circuit: 'healthy', charged: null });
  expect(running?.held).toBeGreaterThan(0);
  const own = await calls('management');
  expect(own.data.map(({ request_id }) => request_id)).toEqual([running?.request_id ?? '']);
  expect(JSON.stringify(own)).not.toMatch(/east|canary/);

  const response = await answer;
  expect(response.status).toBe(200);
  await response.text();
  const then = `?at=${live.at}`;
  const past = await until('the call is recorded', async () => {
    const found = await calls('operator', then);
    return found.data[0]?.charged != null && found;
  });
  expect(past).toMatchObject({ at: live.at, total: 1 });
  expect(past.data[0]).toMatchObject({
    ...{ request_id: running?.request_id, stage: 'calling', held: null },
    ...{ channel_id: 'east', circuit: 'healthy' },
  });
  expect(past.data[0]?.charged).toBeGreaterThan(0);
  const ownPast = await calls('management', then);
  expect(ownPast.data[0]).toMatchObject({ stage: 'calling' });
  expect(JSON.stringify(ownPast)).not.toMatch(/east|canary/);

  const before = new Date(Date.parse(live.at) - 60_000).toISOString();
  expect(await calls('operator', `?at=${before}`)).toMatchObject({ total: 0, data: [] });
  expect((await calls('operator')).total).toBe(0);
});

test('a call that runs still is shown at an instant since its arrival', async () => {
  // The call lasts for longer than the slowest machine needs to ask twice.
  const caller = new AbortController();
  const answer = call('Hello [[sim latency_ms=60000]]', caller.signal).catch(() => undefined);
  const live = await until('the channel has the call', async () => {
    const now = await calls('operator');
    return now.data[0]?.stage === 'calling' && now;
  });
  const then = await calls('operator', `?at=${live.at}`);
  expect(then.data.map(({ request_id }) => request_id)).toEqual([live.data[0]?.request_id ?? '']);
  caller.abort();
  await answer;
});

test('the circuit has the state that it had then', async () => {
  await simulator.setAccount('east', { status: 500 });
  await until('the circuit is open', async () => {
    await (await call('Hello')).text();
    const path = `/v1/operator/channels/east/circuit-history?model=${MODEL}`;
    const answer = await fetch(weir.base_url + path, {
      headers: { authorization: `Bearer ${weir.operator_token}` },
    });
    const { data } = (await answer.json()) as { data: { to: string }[] };
    return data.some(({ to }) => to === 'open');
  });
  await simulator.setAccount('east', { latency_ms: 3_000 });
  const seen = await until('the probe is a call in flight', async () => {
    const answer = call('Hello');
    const now = await Promise.race([
      answer.then(() => undefined),
      until('a call', async () => {
        const found = await calls('operator');
        const [first] = found.data;
        return first?.circuit === 'probing' && found;
      }),
    ]);
    await (await answer).text();
    return now;
  });
  expect(seen.data[0]?.circuit).toBe('probing');
  const then = await until('it is recorded', async () => {
    const found = await calls('operator', `?at=${seen.at}`);
    return found.data[0]?.charged != null && found;
  });
  expect(then.data[0]).toMatchObject({ channel_id: 'east', circuit: 'probing' });
});

test('an instant must be in the past, and well written', async () => {
  for (const at of ['2999-01-01T00:00:00Z', 'yesterday', '2026-11-26']) {
    const error = await errorOf(await ask('operator', `?at=${at}`), 400);
    expect(error.message).toBe('at must be an RFC 3339 datetime in the past.');
  }
});
