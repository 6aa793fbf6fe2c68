/** Operators reset the circuit of a provider that was away, on two replicas. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { errorOf } from '../../support/envelope.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { until } from '../../support/until.ts';
import { type RunningWeir, startWeir } from '../../support/weir.ts';

setDefaultTimeout(90_000);

const ID = 'away/gpt-4o';
let database: TestDatabase;
let replicas: [RunningWeir, RunningWeir];
let startReplica: () => Promise<RunningWeir>;
beforeAll(async () => {
  database = await createTestDatabase();
  // Nothing listens on this port, so each call fails at once.
  const channel = {
    ...{ id: 'away', protocol: 'openai', base_url: 'http://127.0.0.1:1/v1', api_key: 'key' },
    models: { 'gpt-4o': 'physical' },
  };
  const options = {
    config: JSON.stringify({ channels: [channel] }),
    env: { DATABASE_URL: database.url },
  };
  startReplica = () => startWeir(options);
  replicas = [await startReplica(), await startReplica()];
});
afterAll(async () => {
  for (const weir of replicas) await weir.stop();
  await database.drop();
});

interface Circuit {
  state: string;
  replica: string;
  acts: string[];
}
interface Logged {
  event: { type: string };
  cause: string;
  to: string;
}

async function operate<Answer>(method: string, path: string, body?: object, weir = replicas[0]) {
  const response = await fetch(`${weir.base_url}/v1/operator/inspect/actors${path}`, {
    method,
    headers: {
      authorization: `Bearer ${weir.operator_token}`,
      'content-type': 'application/json',
    },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`);
  return (await response.json()) as Answer;
}

const ACTOR = `/channel/${encodeURIComponent(ID)}`;
const circuits = async () =>
  (await operate<{ data: Circuit[] }>('GET', `?kind=channel&id=${ID}`)).data;
const call = () =>
  fetch(`${replicas[0].base_url}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${replicas[0].api_key}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ model: 'gpt-4o', messages: [{ role: 'user', content: 'hello' }] }),
  });

test('an open circuit is reset on both replicas, by either', async () => {
  for (const [acting, other] of [replicas, [replicas[1], replicas[0]] as const]) {
    await until('the circuit is open on both replicas', async () => {
      await call();
      const states = (await circuits()).map(({ state }) => state);
      return states.length === 2 && states.every((state) => state === 'open');
    });
    const seen = await operate<Circuit>('GET', ACTOR, undefined, acting);
    expect(seen.acts).toEqual(['reset']);
    const reset = await operate<Circuit>('POST', `${ACTOR}/reset`, { state: 'open' }, acting);
    expect(reset).toMatchObject({ state: 'degraded', acts: [] });
    const after = await until('the other replica has reset its circuit too', async () => {
      const both = await circuits();
      return both.every(({ state }) => state === 'degraded') && both;
    });
    const causes = await Promise.all(
      after.map(async ({ replica }) => {
        const path = `${ACTOR}/events?replica=${replica}&limit=1000`;
        const { data } = await operate<{ data: Logged[] }>('GET', path);
        const [last] = data.filter(({ event }) => event.type === 'MENDED').toReversed();
        expect(last?.to).toBe('degraded');
        return last?.cause;
      }),
    );
    expect(causes.map(String).sort()).toEqual(['operator', 'replica']);
    expect(other.pid).not.toBe(acting.pid);
  }
  const lines = await database.sql`
    select action, subject_id, before from audit_log where action = 'channel.reset'`;
  expect(lines.map((line) => ({ ...line }))).toEqual([
    ...[1, 2].map(() => ({ action: 'channel.reset', subject_id: ID, before: { state: 'open' } })),
  ]);
});

test('a circuit that is not open cannot be reset', async () => {
  const { base_url, operator_token } = replicas[0];
  const { state } = await operate<Circuit>('GET', ACTOR);
  expect(state).toBe('degraded');
  const response = await fetch(`${base_url}/v1/operator/inspect/actors${ACTOR}/reset`, {
    method: 'POST',
    headers: { authorization: `Bearer ${operator_token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ state }),
  });
  const error = await errorOf(response, 409);
  expect(error.message).toBe('The channel cannot be reset in the state degraded.');
});

test('a replica whose own circuit never opened resets those of the others', async () => {
  await until('the circuit is open on both replicas', async () => {
    await call();
    return (await circuits()).every(({ state }) => state === 'open');
  });
  const late = await startReplica();
  try {
    const [open] = await until('the list has the circuits of all replicas', async () => {
      const all = await circuits();
      const states = all.map(({ state }) => state).sort();
      return states.join() === 'healthy,open,open' && all.filter(({ state }) => state === 'open');
    });
    const path = `${ACTOR}/reset?replica=${open?.replica}`;
    const reset = await operate<Circuit>('POST', path, { state: 'open' }, late);
    expect(reset).toMatchObject({ state: 'degraded', replica: open?.replica });
    await until('no circuit is open', async () =>
      (await circuits()).every(({ state }) => state !== 'open'),
    );
  } finally {
    await late.stop();
  }
});
