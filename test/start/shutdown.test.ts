/** P16: a replica that is stopped returns its money, also that of calls whose clients just left. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { findMoneyNotAtRest } from '../support/books/money-at-rest.ts';
import { RepeatWorld } from '../support/repeat-world.ts';
import { until } from '../support/until.ts';

setDefaultTimeout(120_000);

let world: RepeatWorld;
beforeAll(async () => {
  world = await RepeatWorld.start();
});
afterAll(() => world.stop());

/** More than can run at the same time. */
const ITEMS = 150;
const CHAT = '/v1/chat/completions';

for (const { name, stream, script } of [
  { name: 'answers later', stream: false, script: 'latency_ms=1500' },
  { name: 'answers just then', stream: false, script: 'latency_ms=60' },
  { name: 'streams on', stream: true, script: 'chunk_ms=100 tokens=30' },
]) {
  test(`the clients left, the provider ${name}: no grant stays open, and each call is on record`, async () => {
    const stopping = await world.addReplica();
    const { sql } = world.database;
    const { id, key } = await world.newKey();
    const since = await world.lastCall();
    const left = new AbortController();
    const calls = Array.from({ length: 8 }, (_, number) =>
      world
        .receive(
          CHAT,
          {
            ...{ model: 'gpt-4o', stream },
            messages: [{ role: 'user', content: `Call ${number} [[sim ${script}]]` }],
          },
          { key, to: stopping, signal: left.signal },
        )
        .catch(() => 'left'),
    );
    await until('the provider has all calls', async () => (await world.callsSince(since)) === 8);
    left.abort();
    await Promise.all(calls);
    stopping.kill('SIGTERM');
    expect(await stopping.exited).toBe(0);

    const open = await sql`select id from quota_grant where key_id = ${id} and status = 'open'`;
    expect([...open]).toEqual([]);
    expect(await findMoneyNotAtRest(sql, { are_grants_returned: false })).toEqual([]);
    const [found] = await sql`
      select (select count(*) from usage_line where key_id = ${id})
        + (select count(*) from call_record where key_id = ${id}) as calls`;
    expect(Number(found?.['calls'])).toBe(8);
  });
}

test('a batch runs: the items that started end, and the others are left for the next start', async () => {
  const stopping = await world.addReplica();
  const { key } = await world.newKey();
  const since = await world.lastCall();
  const requests = Array.from({ length: ITEMS }, (_, number) => ({
    custom_id: `item-${number}`,
    params: {
      ...{ model: 'claude-opus-4-6', max_tokens: 50 },
      messages: [{ role: 'user', content: `Item ${number} [[sim latency_ms=400]]` }],
    },
  }));
  const made = await world.receive('/v1/messages/batches', { requests }, { key, to: stopping });
  expect(made.status).toBe(200);
  await until('the first items run', async () => (await world.callsSince(since)) > 0);
  for (const replica of [world.first, stopping]) replica.kill('SIGTERM');
  for (const replica of [world.first, stopping]) expect(await replica.exited).toBe(0);
  expect(await world.callsSince(since)).toBeLessThan(ITEMS);
  const { sql } = world.database;
  expect(await findMoneyNotAtRest(sql, { are_grants_returned: true })).toEqual([]);
  // The batch goes on where it was.
  await world.addReplica();
  await world.idle();
  expect(await world.callsSince(since)).toBe(ITEMS);
});
