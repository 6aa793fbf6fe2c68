/** The audit that reads usage lines in slices finds what the audit of all lines at once finds. */
import { afterEach, expect, setDefaultTimeout, test } from 'bun:test';
import type { Sql } from '../../../db/client.ts';
import { findImbalances } from '../../../db/ledger/audit.ts';
import { beginReading, endReading, readSlice } from '../../../db/ledger/lines-audit.ts';
import { findQuickImbalances } from '../../../db/ledger/quick-audit.ts';
import { auditLines } from '../../support/lines-audit.ts';
import { openFirstMonth, type RetentionWorld } from '../retention/retention-world.ts';

setDefaultTimeout(60_000);

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** Two accounts with charges of grants and of a hold. */
async function world(): Promise<RetentionWorld> {
  const of = await openFirstMonth(cleanups);
  const [first, second] = of.accounts;
  if (!first || !second) throw new Error('two accounts are needed');
  for (const amount of [70, 0, 5]) await of.call(0, first, amount, 'a', 3);
  await of.call(1, second, 31, 'b', 4);
  await of.hold(first, 100);
  await of.endHold(0, 0, 2_000_000_000);
  return of;
}

const verdictOf = async (sql: Sql) => (await auditLines(sql)).verdict;

test('P15: all sums are right, however many lines a slice has, and whether or not lines are folded', async () => {
  const of = await world();
  for (const isFolded of [false, true]) {
    if (isFolded) await of.foldAll();
    for (const limit of [1, 2, 100]) {
      const { verdict, overruns } = await auditLines(of.sql, limit);
      expect(verdict).toBe('right');
      expect(overruns).toMatchObject({ count: 1, amount: '1999199000' });
      expect(overruns.latest).toHaveLength(1);
    }
    expect(await findQuickImbalances(of.sql)).toEqual([]);
  }
});

/** Changes that make one sum wrong, by the name of that sum. */
const WRONG: Record<string, string> = {
  'key used': 'update api_key set used_nano_usd = used_nano_usd + 1',
  'organization settled': `update organization
    set settled_nano_usd = settled_nano_usd + 1, held_nano_usd = held_nano_usd - 1`,
  'grant lines':
    'update usage_line set grant_id = (select id from quota_grant where id <> grant_id limit 1)',
  'hold lines':
    'update hold set charged_nano_usd = charged_nano_usd - 1 where charged_nano_usd > 0',
  'organization usage': 'update usage_day set charged_nano_usd = charged_nano_usd + 1',
  line: 'update usage_line set charged_nano_usd = charged_nano_usd + 1 where charged_nano_usd = 31',
};

test.each(Object.entries(WRONG))('P15: finds that a sum is wrong: %s', async (what, change) => {
  const of = await world();
  await of.foldAll();
  await of.sql.unsafe(change);
  expect(await verdictOf(of.sql)).toBe('wrong');
  const found = await findImbalances(of.sql);
  expect(found.length).toBeGreaterThan(0);
  if (what !== 'line') expect(found.map((each) => each.what)).toContain(what);
});

test('the quick audit names sums that differ from the sums of usage, without reading lines', async () => {
  const of = await world();
  await of.foldAll();
  const { key_id, organization_id } = of.first;
  await of.sql`update api_key set used_nano_usd = used_nano_usd + 1 where id = ${key_id}`;
  expect(await findQuickImbalances(of.sql)).toMatchObject([
    { what: 'key used', id: key_id, nano_usd: 1 },
  ]);
  await of.sql`update api_key set used_nano_usd = used_nano_usd - 1 where id = ${key_id}`;
  await of.sql`
    update usage_day set charged_nano_usd = charged_nano_usd - 2 from usage_series
    where series_id = usage_series.id and scope = 'total' and organization_id = ${organization_id}`;
  expect(await findQuickImbalances(of.sql)).toMatchObject([
    { what: 'organization usage', id: organization_id, nano_usd: -2 },
  ]);
});

test('the quick audit does not compare charges while older lines are summed', async () => {
  const of = await world();
  await of.sql`update usage_fold set is_ready = false`;
  await of.sql`update api_key set used_nano_usd = used_nano_usd + 1`;
  expect(await findQuickImbalances(of.sql)).toEqual([]);
  await of.sql`update deposit set amount_nano_usd = amount_nano_usd + 1`;
  const found = await findQuickImbalances(of.sql);
  expect(new Set(found.map(({ what }) => what))).toEqual(new Set(['organization deposits']));
});

test('lines and overruns that came during a reading count once', async () => {
  const of = await world();
  let reading = await readSlice(of.sql, await beginReading(of.sql), 3);
  await of.call(0, of.first, 9, 'a', 1);
  await of.sql`update usage_line set overrun_nano_usd = 8 where charged_nano_usd = 9`;
  while (!reading.isDone) reading = await readSlice(of.sql, reading, 1);
  const { verdict, overruns } = await endReading(of.sql, reading);
  expect(verdict).toBe('right');
  expect(overruns).toMatchObject({ count: 2, amount: '1999199008' });
  expect(overruns.latest.map(({ nano_usd }) => nano_usd).sort()).toEqual([1_999_199_000, 8]);
});

test('a reading during which retention removed lines has to begin again', async () => {
  const of = await world();
  const reading = await readSlice(of.sql, await beginReading(of.sql), 2);
  await of.sql`update usage_retention set closed_until = now() where table_name = 'usage_line'`;
  expect((await endReading(of.sql, reading)).verdict).toBe('again');
});
