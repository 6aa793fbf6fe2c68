/** Which partitions have rows that one committed state has and another one lacks. */
import type { Sql } from 'postgres';
import type { AsOf } from '../as-of.ts';
import type { EntryTable } from './entries.ts';

type Snapshot = Pick<AsOf, 'next_xid' | 'open_xids'>;

/** A partition that has such rows. */
export interface ChangedPartition {
  readonly table: EntryTable;
  readonly name: string;
}

/**
 * Settings for the query below. It is planned once for each connection, so without knowledge of its values. Then
 * the planner expects many rows. But other processes would begin later than the few rows are read, and only the
 * BRIN index finds them quickly.
 */
const SETTINGS = {
  plan_cache_mode: 'force_generic_plan',
  max_parallel_workers_per_gather: '0',
  enable_seqscan: 'off',
  enable_indexscan: 'off',
};
const NAMES = Object.keys(SETTINGS);

/**
 * Returns the partitions that have rows of exactly one of two states. Few have, and a query of these partitions
 * is planned many times faster than one of all partitions. Runs in a transaction. Until its end, this query's locks
 * keep rows from being moved to other partitions or removed.
 */
export async function changedPartitions(
  tx: Sql,
  a: Snapshot,
  b: Snapshot,
): Promise<ChangedPartition[]> {
  const lowest = Math.min(a.next_xid, b.next_xid, ...a.open_xids, ...b.open_xids);
  // The first part lets the index on `xid` skip old pages.
  const isInOne = tx`xid >= ${lowest}
    and (xid < ${a.next_xid} and xid <> all(${[...a.open_xids]}::int8[]))
      <> (xid < ${b.next_xid} and xid <> all(${[...b.open_xids]}::int8[]))`;
  const set = (values: readonly string[]) => tx<{ before: string }[]>`
    select before, set_config(name, value, true) from (
      select name, value, current_setting(name) as before
      from unnest(${NAMES}::text[], ${[...values]}::text[]) as setting(name, value) offset 0) as setting`;
  // Both are sent at once.
  const [before, changed] = await Promise.all([
    set(Object.values(SETTINGS)),
    tx<ChangedPartition[]>`
      select 'usage_line' as table, relname as name
      from (select tableoid from usage_line where ${isInOne} group by 1) as changed
      join pg_class on pg_class.oid = changed.tableoid
      union all
      select 'call_record', relname
      from (select tableoid from call_record where ${isInOne} group by 1) as changed
      join pg_class on pg_class.oid = changed.tableoid`,
  ]);
  // If the connection is lost, later statements fail too.
  set(before.map((row) => row.before))
    .execute()
    .catch(() => undefined);
  return changed;
}
