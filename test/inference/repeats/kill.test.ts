/** P7, P10: the replica that runs a call with an idempotency key is killed, or stopped. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { RepeatWorld } from '../../support/repeat-world.ts';
import { until } from '../../support/until.ts';

setDefaultTimeout(120_000);

let world: RepeatWorld;
beforeAll(async () => {
  world = await RepeatWorld.start(2);
});
afterAll(() => world.stop());

const CHAT = '/v1/chat/completions';
const chat = (text: string, stream: boolean) => ({
  ...{ model: 'gpt-4o', stream, messages: [{ role: 'user', content: text }] },
});

test('an answer that its client received is kept; a call that was interrupted never runs twice', async () => {
  const [survivor, victim] = world.replicas;
  if (!survivor || !victim) throw new Error('two replicas were started');
  const { id, key } = await world.newKey();
  const whole = chat('Hello [[sim tokens=9]]', true);
  const kept = await world.receive(CHAT, whole, { idempotency_key: 'kept', key, to: victim });
  expect(kept.status).toBe(200);
  const since = await world.lastCall();
  const cut = [
    chat('Hello [[sim latency_ms=60000]]', false),
    chat('Hi [[sim chunk_ms=500]]', true),
  ];
  const pending = cut.map((body, index) =>
    world
      .receive(CHAT, body, { idempotency_key: `cut-${index}`, key, to: victim })
      .catch(() => 'broken'),
  );
  await until('the provider has both calls', async () => (await world.callsSince(since)) === 2);
  victim.kill('SIGKILL');
  await victim.exited;
  expect(await Promise.all(pending)).toEqual(['broken', 'broken']);

  const repeat = await world.receive(CHAT, whole, { idempotency_key: 'kept', key, to: survivor });
  expect(repeat.status).toBe(200);
  expect(repeat.text).toBe(kept.text);
  expect(repeat.headers.get('idempotent-replayed')).toBe('true');

  for (const [index, body] of cut.entries()) {
    const sent = { idempotency_key: `cut-${index}`, key, to: survivor };
    // The survivor declares the other replica dead after its lease.
    const refused = await world.receiveAtLast(CHAT, () => body, sent);
    expect(refused.status).toBe(409);
    expect(refused.headers.get('x-should-retry')).toBe('false');
    expect(refused.text).toContain('idempotency_outcome_unknown');
  }
  expect(await world.callsSince(since)).toBe(2);
  expect(await world.chargesOf(id)).toBe(1);
});

test('a replica that stops ends the calls whose clients have left, and keeps their answers', async () => {
  const survivor = world.first;
  const stopping = await world.addReplica();
  const { id, key } = await world.newKey();
  const body = chat('Hello [[sim tokens=5 latency_ms=1500]]', true);
  const since = await world.lastCall();
  const client = new AbortController();
  const sent = { idempotency_key: 'left', key };
  const left = world.receive(CHAT, body, { ...sent, to: stopping, signal: client.signal });
  left.catch(() => undefined);
  await until('the provider has the call', async () => (await world.callsSince(since)) === 1);
  client.abort();
  stopping.kill('SIGTERM');
  expect(await stopping.exited).toBe(0);
  const repeat = await world.receive(CHAT, body, { ...sent, to: survivor });
  expect({ ...repeat, headers: 0 }).toMatchObject({ status: 200 });
  expect(repeat.text).toContain('[DONE]');
  expect(await world.callsSince(since)).toBe(1);
  expect(await world.chargesOf(id)).toBe(1);
});
