/**
 * A dump holds the transaction numbers of its server. A restored database has the same usage as
 * before, also if its server's numbers begin anew.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { readAsOf } from '../../../db/usage/as-of.ts';
import { numberRestoredUsage } from '../../../db/usage/restored.ts';
import { fold } from '../../../db/usage/roll-ups/fold.ts';
import { readSums } from '../../../db/usage/roll-ups/snapshot.ts';
import { readUsage } from '../../../db/usage/roll-ups/sums.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { type UsageEntry, writeEntry } from './usage-world.ts';

setDefaultTimeout(60_000);

let fresh: TestDatabase;
beforeAll(async () => {
  fresh = await createTestDatabase();
});
afterAll(() => fresh.drop());

/** What the numbers of the other server are ahead. */
const AHEAD = 1_000_000_000;

async function charged(): Promise<number> {
  const as_of = await readAsOf(fresh.sql);
  const query = { filters: { organization_id: 'org_a' }, as_of, groups: [], starts: [] };
  const rows = await readSums(fresh.sql, (reader) => readUsage(reader, query));
  return rows.reduce((sum, { counts }) => sum + counts.charged_nano_usd, 0);
}

async function write(amount: number, count: number): Promise<void> {
  const entry: UsageEntry = {
    ...{ organization_id: 'org_a', key_id: 'key_1', scene: 'chat', model: 'a', protocol: 'openai' },
    ...{ at: new Date('2026-03-07T12:00:00Z'), overrun: 0, tokens: 1, ended_ms: 5 },
    ...{ first_token_ms: null, end_user: null, task: false, outcome: 'completed' },
    charged: amount,
  };
  for (let at = 0; at < count; at += 1) await writeEntry(fresh.sql, entry);
}

async function foldAll(): Promise<void> {
  while ((await fold(fresh.sql)).more);
}

/** Moves all numbers ahead, as a dump of another server has them. */
async function restore(): Promise<void> {
  for (const table of ['usage_line', 'call_record']) {
    await fresh.sql`update ${fresh.sql(table)} set xid = xid + ${AHEAD}`;
  }
  await fresh.sql`update usage_fold set next_xid = next_xid + ${AHEAD} where next_xid > 0`;
}

test('rows that no fold has added count after a restore', async () => {
  await write(1, 3);
  await restore();
  expect(await charged()).toBe(0);
  expect(await numberRestoredUsage(fresh.sql)).toBe(true);
  expect(await charged()).toBe(3);
  expect(await numberRestoredUsage(fresh.sql)).toBe(false);
  await foldAll();
  expect(await charged()).toBe(3);
});

test('rows of the sums and rows that came after them count once after a restore', async () => {
  await write(10, 4);
  await foldAll();
  await write(100, 5);
  await restore();
  const both = await Promise.all([numberRestoredUsage(fresh.sql), numberRestoredUsage(fresh.sql)]);
  expect(both.toSorted()).toEqual([false, true]);
  expect(await charged()).toBe(543);
  await write(1_000, 1);
  expect(await charged()).toBe(1_543);
  await foldAll();
  expect(await charged()).toBe(1_543);
  const [row] = await fresh.sql<{ sum: number }[]>`
    select sum(charged_nano_usd)::int8 as sum from usage_day
    join usage_series on usage_series.id = series_id where scope = 'total'`;
  expect(row?.sum).toBe(1_543);
});
