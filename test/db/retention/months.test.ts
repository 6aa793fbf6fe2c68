/**
 * Months of usage are made before they begin. Whole months are removed, and no sum, no balance and no
 * statement changes (docs/decisions/retention-by-months.md).
 */
import { afterEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { sumByChannel } from '../../../db/books/reconciliation.ts';
import { findImbalances } from '../../../db/ledger/audit.ts';
import { findQuickImbalances } from '../../../db/ledger/quick-audit.ts';
import { closeMonth } from '../../../db/retention/close.ts';
import { addMonths, listPartitions, RETENTION_LOCK } from '../../../db/retention/months.ts';
import { readAsOf } from '../../../db/usage/as-of.ts';
import { breakDown } from '../../../db/usage/breakdown.ts';
import { exportCharges } from '../../../db/usage/export.ts';
import { listLines } from '../../../db/usage/lines.ts';
import { chargesByKey } from '../../../db/usage/statement.ts';
import { auditLines } from '../../support/lines-audit.ts';
import {
  count,
  DAY_MS,
  DAYS,
  openFirstMonth,
  openWorld,
  passMonth,
  type RetentionWorld,
} from './retention-world.ts';

setDefaultTimeout(60_000);

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});
const world = () => openFirstMonth(cleanups);

/** Work that may write or read a row of the time of `id`. */
const OPEN_WORK: Record<string, (of: RetentionWorld, id: string) => PromiseLike<unknown>> = {
  'a task': ({ sql, first }, id) => sql`
    insert into task (id, organization_id, key_id, request_id, scene, model, hold_id, hold_nano_usd,
      submission_key, deadline_at, status, created_at)
    values ('t', ${first.organization_id}, ${first.key_id}, ${id}, 'image', 'm', ${id}, 1, ${id},
      weir_now(), 'processing', weir_now())`,
  'a batch': ({ sql, first }) => sql`
    insert into message_batch (id, organization_id, key_id, status, headers, expires_at)
    values ('b', ${first.organization_id}, ${first.key_id}, 'in_progress', '{}', weir_now())`,
  'a call with an Idempotency-Key': ({ sql, first }, id) => sql`
    insert into kept_answer (key_id, route, repeat_hash, organization_id, request_hash, request_id,
      replica_id, expires_at)
    values (${first.key_id}, '/r', 'h', ${first.organization_id}, 'r', ${id}, 'x', weir_now())`,
};

/** What a client reads of a time. */
async function readMonth({ sql, first, start }: RetentionWorld, days = 31) {
  const { organization_id } = first;
  const as_of = await readAsOf(sql);
  const month = { from: new Date(start), until: new Date(start + days * DAY_MS) };
  const { total, groups } = await breakDown(sql, { organization_id, ...month }, as_of);
  const keys = await chargesByKey(sql, organization_id, month, as_of);
  return { total, groups, keys, channels: await sumByChannel(sql, month) };
}

describe('partitions', () => {
  test('two replicas make the present month and the next two once', async () => {
    const of = await openWorld();
    cleanups.push(() => of.close());
    const made = await Promise.all([addMonths(of.sql), addMonths(of.other_sql)]);
    expect(made.map(({ length }) => length).sort()).toEqual([0, 6]);
    expect(await addMonths(of.sql)).toEqual([]);
    const partitions = await listPartitions(of.sql, 'usage_line');
    expect(partitions.map(({ until }) => until.getUTCDate())).toEqual([1, 1, 1, 1]);
    const gaps = partitions.slice(1).map(({ until }, at) => {
      const before = partitions[at]?.until;
      return before && (until.getTime() - before.getTime()) / DAY_MS;
    });
    expect(gaps.every((days) => days && days >= 28 && days <= 31)).toBe(true);
  });

  test('a replica makes no month while another one changes months', async () => {
    const of = await openWorld();
    cleanups.push(() => of.close());
    await of.other_sql.begin(async (tx) => {
      await tx`select pg_advisory_xact_lock(${RETENTION_LOCK}::int8)`;
      expect(await addMonths(of.sql)).toEqual([]);
    });
    expect(await addMonths(of.sql)).toHaveLength(6);
  });

  test('charges of a month without a partition move to it when it is made', async () => {
    const of = await world();
    await of.setNow(of.start + 200 * DAY_MS);
    await of.call(0, of.first, 70, 'a', 1);
    expect(await count(of, 'usage_line_default')).toBe(1);
    await of.foldAll();
    await addMonths(of.sql);
    expect(await count(of, 'usage_line_default')).toBe(0);
    expect(await count(of, 'usage_line')).toBe(1);
    await of.call(0, of.first, 30, 'a', 1);
    expect(await count(of, 'usage_line_default')).toBe(0);
    const { total } = await readMonth(of, 300);
    expect(total.charged_nano_usd).toBe(100);
  });

  test('a charge is committed while a partition is made and another one is removed', async () => {
    const of = await world();
    await of.call(0, of.first, 70, 'a', 1);
    await of.foldAll();
    const [before] = await of.sql<{ name: string }[]>`
      select tableoid::regclass::text as name from usage_line`;
    await passMonth(of);
    // The change of partitions holds its locks until this transaction ends.
    await of.other_sql
      .begin(async (tx) => {
        await tx`create table later (like usage_line including defaults including constraints)`;
        await tx.unsafe(`alter table usage_line attach partition later
        for values from ('fffffff0-0000-7000-8000-000000000000') to ('fffffff1-0000-7000-8000-000000000000')`);
        await tx`truncate ${tx(before?.name ?? '')}`;
        await of.call(0, of.first, 30, 'a', 1);
        throw new Error('undone');
      })
      .catch((error: Error) => expect(error.message).toBe('undone'));
    expect(await count(of, 'usage_line')).toBe(2);
  });
});

describe('a removed month', () => {
  test('P15: leaves every sum as it was, to the nano-dollar', async () => {
    const of = await world();
    const [first, second] = of.accounts;
    if (!first || !second) throw new Error('two accounts are needed');
    await of.call(0, first, 70, 'a', 3);
    await of.call(1, first, 31, 'b', 4);
    await of.call(1, second, 5, 'a', 1);
    await of.hold(first, 100);
    await of.endHold(0, 0, 2_000_000_000);
    await of.foldAll();
    const [before, overruns] = [await readMonth(of), (await auditLines(of.sql)).overruns];
    expect(before.total.charges).toBe(3);
    expect(before.channels.map(({ requests }) => requests)).toEqual([2, 1, 1]);
    expect(overruns.count).toBe(1);
    await passMonth(of);
    await of.call(0, first, 1, 'a', 1);
    await of.sweep(DAYS);
    expect(of.closed.at(-1)).toEqual({
      ...{ table: 'usage_line', rows: 4 },
      until: new Date(
        Date.UTC(new Date(of.start).getUTCFullYear(), new Date(of.start).getUTCMonth() + 1),
      ),
    });
    expect(await count(of, 'usage_line')).toBe(1);
    expect(await readMonth(of)).toEqual(before);
    expect(await findImbalances(of.sql)).toEqual([]);
    expect(await findQuickImbalances(of.sql)).toEqual([]);
    expect(await auditLines(of.sql)).toEqual({
      verdict: 'right',
      overruns: { ...overruns, latest: [] },
    });
  });

  test('P1: two removed months of one grant add up', async () => {
    const of = await world();
    await of.call(0, of.first, 70, 'a', 1);
    await of.setNow(of.start + 40 * DAY_MS);
    await of.call(0, of.first, 5, 'a', 1);
    await of.foldAll();
    await of.setNow(of.start + 100 * DAY_MS);
    await of.sweep(DAYS);
    await of.sweep(DAYS);
    expect(await count(of, 'usage_line')).toBe(0);
    expect(await findImbalances(of.sql)).toEqual([]);
    expect((await readMonth(of, 62)).total.charged_nano_usd).toBe(75);
  });

  test('the audit finds totals of removed lines that are wrong', async () => {
    const of = await world();
    await of.call(0, of.first, 70, 'a', 3);
    await of.foldAll();
    await passMonth(of);
    await of.sweep(DAYS);
    await of.sql`update closed_charge set charged_nano_usd = 69`;
    const { key_id, organization_id } = of.first;
    const gaps = [
      { what: 'key used', id: key_id, nano_usd: 1 },
      { what: 'organization settled', id: organization_id, nano_usd: 1 },
      { what: 'organization usage', id: organization_id, nano_usd: 1 },
    ];
    expect((await findImbalances(of.sql)).map((row) => ({ ...row }))).toEqual(gaps);
    expect((await auditLines(of.sql)).verdict).toBe('wrong');
    await of.sql`update closed_charge set charged_nano_usd = 70`;
    await of.sql`update closed_payer set charged_nano_usd = 71`;
    expect((await auditLines(of.sql)).verdict).toBe('wrong');
    expect(await findImbalances(of.sql)).toMatchObject([{ what: 'grant lines', nano_usd: -1 }]);
  });

  test('lists say since when lines exist, and have all later ones', async () => {
    const of = await world();
    const { organization_id } = of.first;
    await of.setNow(of.start + 30 * DAY_MS);
    await of.call(0, of.first, 1, 'a', 1);
    await passMonth(of);
    await of.call(0, of.first, 2, 'a', 1);
    await of.foldAll();
    await of.sweep(DAYS);
    const as_of = await readAsOf(of.sql);
    const list = (from?: Date) =>
      listLines(of.sql, { organization_id, from }, as_of, { offset: 0, limit: 10 });
    const { rows, total, lines_since } = await list();
    expect(rows.map(({ charged_nano_usd }) => charged_nano_usd)).toEqual([2]);
    expect(total).toBe(1);
    expect(lines_since).toEqual(of.closed.at(-1)?.until as Date);
    expect((await list(new Date(of.start))).lines_since).toEqual(lines_since);
    expect((await list(lines_since)).lines_since).toBeUndefined();
    const exported = await Array.fromAsync(exportCharges(of.sql, { organization_id }, as_of));
    expect(exported.flat()).toHaveLength(1);
  });

  test('a line that is dated after the end of its month moves the date of the lists', async () => {
    const of = await world();
    const end = Date.UTC(new Date(of.start).getUTCFullYear(), new Date(of.start).getUTCMonth() + 1);
    // The call arrives in the last millisecond of the month, and reserves its money later.
    await of.setNow(end - 1);
    await of.call(0, of.first, 1, 'a', 1, 5_000);
    await of.foldAll();
    await passMonth(of);
    await of.sweep(DAYS);
    const { organization_id } = of.first;
    const page = { offset: 0, limit: 10 };
    const found = await listLines(of.sql, { organization_id }, await readAsOf(of.sql), page);
    expect(found.lines_since?.getTime()).toBe(end + 5_000);
    expect(found.total).toBe(0);
  });

  test('a sum lacks only the parts of days that no sum has, and says so', async () => {
    const of = await world();
    const { organization_id, key_id } = of.first;
    await of.call(0, of.first, 1, 'a', 1);
    await of.setNow(of.start + DAY_MS + 3_600_000);
    await of.call(0, of.first, 2, 'a', 1);
    await of.foldAll();
    await passMonth(of);
    await of.sweep(DAYS);
    const as_of = await readAsOf(of.sql);
    const sum = async (key: string | undefined, from_ms: number) => {
      const filters = { organization_id, key_id: key, from: new Date(of.start + from_ms) };
      const { total, lines_since } = await breakDown(of.sql, filters, as_of);
      return [total.charged_nano_usd, lines_since !== undefined];
    };
    expect(await sum(key_id, 0)).toEqual([3, false]);
    expect(await sum(key_id, DAY_MS)).toEqual([2, false]);
    expect(await sum(undefined, DAY_MS + 900_000)).toEqual([2, false]);
    expect(await sum(key_id, DAY_MS + 900_000)).toEqual([0, true]);
    expect(await sum(undefined, DAY_MS + 3_600_000 - 1)).toEqual([2, true]);
  });
});

describe('a month stays', () => {
  test('until its days are over', async () => {
    const of = await world();
    await of.call(0, of.first, 1, 'a', 1);
    await of.foldAll();
    const end = Date.UTC(new Date(of.start).getUTCFullYear(), new Date(of.start).getUTCMonth() + 1);
    await of.setNow(end + DAYS * DAY_MS - 1);
    await of.sweep(DAYS);
    expect(await count(of, 'usage_line')).toBe(1);
    await of.setNow(end + DAYS * DAY_MS);
    await of.sweep(DAYS);
    expect(await count(of, 'usage_line')).toBe(0);
  });

  test('while a row is not in the sums', async () => {
    const of = await world();
    await of.foldAll();
    await of.call(0, of.first, 1, 'a', 1);
    await passMonth(of);
    expect(await closeMonth(of.sql, 'usage_line', DAYS)).toBeUndefined();
    await of.foldAll();
    expect(await closeMonth(of.sql, 'usage_line', DAYS)).toMatchObject({ rows: 1 });
  });

  test('while a transaction that writes into it runs', async () => {
    const of = await world();
    await of.call(0, of.first, 1, 'a', 1);
    await of.foldAll();
    await passMonth(of);
    const writer = await of.other_sql.reserve();
    await writer`begin`;
    const late = JSON.stringify({ id: Bun.randomUUIDv7('hex', of.start) });
    await writer`
      insert into usage_line select (jsonb_populate_record(usage_line, ${late}::text::jsonb)).*
      from usage_line`;
    const closing = closeMonth(of.sql, 'usage_line', DAYS);
    await Bun.sleep(600);
    await writer`commit`;
    writer.release();
    expect(await closing).toBeUndefined();
    expect(await count(of, 'usage_line')).toBe(2);
  });

  test('while money is held since before its end', async () => {
    const of = await world();
    await of.hold(of.first, 10);
    await passMonth(of);
    await of.sweep(DAYS);
    expect(of.closed.filter(({ until }) => until.getTime() > of.start)).toEqual([]);
    await of.endHold(1, 0, 4);
    await of.foldAll();
    await of.sweep(DAYS);
    await of.sweep(DAYS);
    expect(of.closed.filter(({ until }) => until.getTime() > of.start)).toHaveLength(2);
    // The line was made now. Its date is that of the hold.
    expect(await count(of, 'usage_line')).toBe(1);
    expect((await readMonth(of)).total.charged_nano_usd).toBe(4);
  });

  test.each(Object.keys(OPEN_WORK))('while %s of its time is open', async (name) => {
    const of = await world();
    await of.call(0, of.first, 1, 'a', 1);
    await of.foldAll();
    await OPEN_WORK[name]?.(of, Bun.randomUUIDv7('hex', of.now));
    await passMonth(of);
    for (const table of ['usage_line', 'call_record'] as const) {
      expect(await closeMonth(of.sql, table, DAYS)).toBeUndefined();
    }
    for (const table of ['task', 'message_batch', 'kept_answer']) {
      await of.sql`delete from ${of.sql(table)}`;
    }
    expect(await closeMonth(of.sql, 'usage_line', DAYS)).toMatchObject({ rows: 1 });
  });

  test('while a reader reads it; other readers and writers do not wait for long', async () => {
    const of = await world();
    await of.call(0, of.first, 1, 'a', 1);
    await of.foldAll();
    await passMonth(of);
    const reader = await of.other_sql.reserve();
    await reader`begin`;
    await reader`select count(*) from usage_line`;
    const closing = closeMonth(of.sql, 'usage_line', DAYS);
    await Bun.sleep(700);
    await reader`commit`;
    reader.release();
    expect(await closing).toMatchObject({ rows: 1 });
  });
});
