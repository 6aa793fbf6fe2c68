/**
 * The partitions of usage lines and of records of calls. Ids are UUIDs of version 7, so a range of
 * ids is a span of time.
 */
import type { Sql } from 'postgres';
import { firstIdAt } from '../housekeeping.ts';
import type { EntryTable } from '../usage/roll-ups/entries.ts';

const TABLES: readonly EntryTable[] = ['usage_line', 'call_record'];

/** How many months have a partition before they begin. */
const MONTHS_AHEAD = 2;
/**
 * How long a change of partitions waits for a lock. Other statements wait behind it, so it gives up
 * soon, and the next sweep tries again.
 */
const LOCK_WAIT_MS = 300;
/** The number of the advisory lock of `changePartitions`. Any constant works. */
export const RETENTION_LOCK = 0x57_65_69_73;

/** One partition with an upper bound. */
export interface Partition {
  readonly name: string;
  /** Its ids are below this one. */
  readonly until_id: string;
  /** The time of that id: the first instant of a month, UTC. */
  readonly until: Date;
}

/** Returns the partitions of a table, the earliest first, without the default one. */
export async function listPartitions(sql: Sql, table: EntryTable): Promise<Partition[]> {
  const rows = await sql<{ name: string; until_id: string }[]>`
    select name, until_id from (
      select relname as name,
        substring(pg_get_expr(relpartbound, pg_class.oid) from $$TO [(]'([0-9a-f-]{36})'[)]$$) as until_id
      from pg_inherits join pg_class on pg_class.oid = inhrelid
      where inhparent = ${table}::text::regclass) as partition
    where until_id is not null order by until_id`;
  return rows.map((row) => ({ ...row, until: timeIn(row.until_id) }));
}

/**
 * Makes the partitions of the present month and of the next ones. Returns the names of the new ones.
 * Replicas may call it at once, and often. No settlement waits for it.
 */
export async function addMonths(sql: Sql): Promise<string[]> {
  const [row] = await sql<{ now: Date }[]>`select weir_now() as now`;
  const end = monthAfter(row?.now ?? new Date(), MONTHS_AHEAD + 1);
  if ((await missingMonths(sql, end)).length === 0) return [];
  const added = await changePartitions(sql, async (tx) => {
    const missing = await missingMonths(tx, end);
    for (const month of missing) await addMonth(tx, month);
    return missing.map(nameOf);
  });
  return added ?? [];
}

interface Month {
  readonly table: EntryTable;
  readonly from: Date;
  readonly until: Date;
}

async function missingMonths(sql: Sql, end: Date): Promise<Month[]> {
  const months: Month[] = [];
  for (const table of TABLES) {
    let from = (await listPartitions(sql, table)).at(-1)?.until;
    while (from && from < end) {
      const until = monthAfter(from, 1);
      months.push({ table, from, until });
      from = until;
    }
  }
  return months;
}

const nameOf = ({ table, from }: Month) =>
  `${table}_${from.toISOString().slice(0, 7).replace('-', '_')}`;

/**
 * Rows of a month without a partition are in the default one, e.g. of a replica whose clock is
 * ahead. They move, because no other partition may take ids that the default one has.
 */
async function addMonth(tx: Sql, month: Month): Promise<void> {
  const { table, from, until } = month;
  const name = tx(nameOf(month));
  const others = tx(`${table}_default`);
  await tx`create table ${name} (like ${tx(table)} including defaults including constraints)`;
  await tx`lock table ${others} in access exclusive mode`;
  await tx`
    with moved as (
      delete from ${others} where id >= ${firstIdAt(from.getTime())}
        and id < ${firstIdAt(until.getTime())} returning *)
    insert into ${name} select * from moved`;
  // Attaching locks the table in a mode that lets settlements pass; `partition of` does not.
  await tx.unsafe(`
    alter table ${table} attach partition ${nameOf(month)}
    for values from ('${firstIdAt(from.getTime())}') to ('${firstIdAt(until.getTime())}')`);
}

/**
 * Runs a change of partitions in a transaction. Returns undefined if another replica changes them, or
 * if a lock was not free soon; then nothing has changed.
 */
export async function changePartitions<Result>(
  sql: Sql,
  change: (tx: Sql) => Promise<Result>,
): Promise<Result | undefined> {
  try {
    return (await sql.begin(async (transaction) => {
      const tx = transaction as unknown as Sql;
      await tx.unsafe(`set local lock_timeout = ${LOCK_WAIT_MS}; set local statement_timeout = 0`);
      const [lock] = await tx<{ is_mine: boolean }[]>`
        select pg_try_advisory_xact_lock(${RETENTION_LOCK}) as is_mine`;
      return lock?.is_mine ? await change(tx) : undefined;
    })) as Result | undefined;
  } catch (error) {
    if (isLockTimeout(error)) return undefined;
    throw error;
  }
}

/** True if a lock was not free in time (PostgreSQL docs: Appendix A, `lock_not_available`). */
export function isLockTimeout(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === '55P03';
}

/** Returns the first instant of the month in UTC that is some months after that of an instant. */
function monthAfter(instant: Date, months: number): Date {
  return new Date(Date.UTC(instant.getUTCFullYear(), instant.getUTCMonth() + months, 1));
}

/** Returns the time of a UUID of version 7 (RFC 9562, 5.7). */
function timeIn(id: string): Date {
  return new Date(Number.parseInt(id.replace('-', '').slice(0, 12), 16));
}
