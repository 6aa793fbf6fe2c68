import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { type RunningSimulator, startSimulator } from '../support/simulator.ts';
import { until } from '../support/until.ts';
import { chat, type Json, message, user } from './ask.ts';

let simulator: RunningSimulator;

beforeAll(async () => {
  simulator = await startSimulator();
});
beforeEach(() => simulator.reset());
afterAll(() => simulator.stop());

const body = { messages: user('Hi') };

async function statuses(account: string, calls: number): Promise<number[]> {
  const seen: number[] = [];
  for (let call = 0; call < calls; call += 1) {
    seen.push((await chat(simulator, body, account)).status);
  }
  return seen;
}

describe('the control of an account', () => {
  test('refuses every call with a status, on that account only, until it is reset', async () => {
    await simulator.setAccount('a', { status: 503, retry_after: 4 });
    const refused = await chat(simulator, body, 'a');
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '4']);
    expect((await message(simulator, body, 'a')).status).toBe(503);
    expect((await chat(simulator, body, 'b')).status).toBe(200);
    await fetch(`${simulator.url}/_sim/accounts/a`, { method: 'DELETE' });
    expect((await chat(simulator, body, 'a')).status).toBe(200);
  });

  test('fails a share of the calls, always the same ones', async () => {
    await simulator.setAccount('a', { fail_rate: 0.3 });
    const first = await statuses('a', 100);
    await simulator.setAccount('a', { fail_rate: 0.3 });
    expect(await statuses('a', 100)).toEqual(first);
    const failed = first.filter((status) => status === 500).length;
    expect(failed).toBeWithin(15, 46);
    expect(first.filter((status) => status === 200)).toHaveLength(100 - failed);
    await simulator.setAccount('a', { fail_rate: 1, status: 502 });
    expect(await statuses('a', 3)).toEqual([502, 502, 502]);
    await simulator.setAccount('a', { fail_rate: 0, status: 502 });
    expect(await statuses('a', 3)).toEqual([200, 200, 200]);
  });

  test('takes an account down: connections are reset', async () => {
    await simulator.setAccount('a', { down: true });
    const outcome = await chat(simulator, body, 'a').catch((error: unknown) => String(error));
    expect(outcome).toBeString();
    expect((await simulator.books({ account: 'a' })).calls[0]).toMatchObject({
      status: 0,
      outcome: 'refused',
    });
  });

  test('revokes a key', async () => {
    await simulator.setAccount('a', { revoked: true });
    expect((await chat(simulator, body, 'a')).status).toBe(401);
    expect((await message(simulator, body, 'a')).status).toBe(401);
  });

  test('limits the number of parallel calls', async () => {
    await simulator.setAccount('a', { max_concurrency: 2 });
    const leaving = new AbortController();
    const hanging = ['1', '2'].map((reference) =>
      chat(
        simulator,
        { messages: user('[[sim hang=1]]'), user: reference },
        'a',
        leaving.signal,
      ).catch(() => 'left'),
    );
    await until('both calls run', async () => {
      return (await simulator.books()).totals.outcomes.running === 2;
    });
    expect((await chat(simulator, body, 'a')).status).toBe(429);
    leaving.abort();
    expect(await Promise.all(hanging)).toEqual(['left', 'left']);
    await simulator.closedBooks();
    expect((await chat(simulator, body, 'a')).status).toBe(200);
  });

  test('slows an account down; a directive overrides it', async () => {
    await simulator.setAccount('a', { latency_ms: 80 });
    const started = performance.now();
    await chat(simulator, body, 'a');
    expect(performance.now() - started).toBeGreaterThanOrEqual(75);
    await simulator.setAccount('a', { latency_ms: 3_600_000 });
    const quick = await chat(simulator, { messages: user('[[sim latency_ms=0]]') }, 'a');
    expect(quick.status).toBe(200);
  });

  test('is returned by GET, with the number of calls since it was set', async () => {
    await statuses('a', 2);
    await simulator.setAccount('a', { latency_ms: 1 });
    await statuses('a', 3);
    const shown = (await (await fetch(`${simulator.url}/_sim/accounts/a`)).json()) as Json;
    expect(shown).toEqual({ id: 'a', control: { latency_ms: 1 }, calls: 3, running: 0 });
    const all = (await (await fetch(`${simulator.url}/_sim/accounts`)).json()) as Json;
    expect(all).toEqual({ accounts: expect.arrayContaining([shown]) });
  });

  test.each([
    ['an unknown member', '{"latency":1}'],
    ['a wrong type', '{"down":"yes"}'],
    ['no object', '[1]'],
    ['broken JSON', '{'],
  ])('refuses %s', async (_name, body) => {
    const url = `${simulator.url}/_sim/accounts/a`;
    expect((await fetch(url, { method: 'PUT', body })).status).toBe(400);
    expect((await fetch(url, { method: 'POST', body })).status).toBe(405);
  });

  test('an unknown control path returns 404', async () => {
    expect((await fetch(`${simulator.url}/_sim/cats`)).status).toBe(404);
  });
});
