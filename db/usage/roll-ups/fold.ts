import type { Sql } from 'postgres';
import { type AsOf, isIn, isSameState } from '../as-of.ts';
import { addToSums, groupEntries } from './additions.ts';
import { catchUpCacheSums, hasCacheSums, noteCacheSums } from './cache-sums.ts';
import { type ChangedPartition, changedPartitions } from './changed.ts';
import { type EntryTable, entriesOf, isNew } from './entries.ts';
import { hasKeyModels, mayRebuild, noteKeyModels, rebuildKeyModels } from './key-models.ts';
import { byTransaction, withoutPlans } from './plans.ts';

/** The state that the sums have. */
type Snapshot = Pick<AsOf, 'next_xid' | 'open_xids'>;

interface FoldRow {
  readonly next_xid: number;
  readonly open_xids: readonly number[];
  readonly is_ready: boolean;
  readonly table_name: EntryTable;
  readonly has_key_models: boolean;
  readonly may_rebuild: boolean;
  readonly has_cache: boolean;
}

/** What one fold did. */
export interface FoldResult {
  /** True if more rows wait, so that the next fold should follow at once. */
  readonly more: boolean;
  /** True if there was something to fold. */
  readonly folded: boolean;
}

/** The most transactions of one fold. */
const MAX_TRANSACTIONS = 20_000;
/** The most older rows of one fold. */
const MAX_OLDER_ROWS = 50_000;
const NOTHING: FoldResult = { more: false, folded: false };

/**
 * Adds rows that have been committed since the last fold to the sums. Returns at once while another
 * replica folds. The sums and the snapshot that they have change in one transaction, so a row is
 * added once, whatever dies.
 */
export function fold(sql: Sql, older_rows = MAX_OLDER_ROWS): Promise<FoldResult> {
  return sql.begin(async (transaction) => {
    const tx = transaction as unknown as Sql;
    const [seen] = await tx<FoldRow[]>`select ${STATE(tx)} from usage_fold`;
    if (!seen) return NOTHING;
    const news = seen.is_ready ? await findNew(tx, seen) : undefined;
    // A lock would write to the disk, also if there is nothing to do.
    if (isRest(seen) && news?.changed.length === 0 && !news.more) return NOTHING;
    const [row] = await tx<FoldRow[]>`
      select ${STATE(tx)} from usage_fold for update skip locked`;
    if (!row) return NOTHING;
    if (!row.has_key_models && row.may_rebuild) await rebuildKeyModels(tx);
    const has_key_models = row.has_key_models || row.may_rebuild;
    if (row.is_ready && !row.has_cache) await catchUpCacheSums(tx, has_key_models);
    const state = { ...row, has_key_models };
    const isSame = news && row.is_ready && isSameState(row, seen);
    const result = await (row.is_ready
      ? foldNew(tx, state, isSame ? news : await findNew(tx, row))
      : foldOlder(tx, state, older_rows));
    if (has_key_models) await noteKeyModels(tx);
    return result;
  }) as Promise<FoldResult>;
}

/** True if there is nothing to do without new rows. */
const isRest = ({ is_ready, has_key_models, may_rebuild, has_cache }: FoldRow) =>
  is_ready && has_cache && (has_key_models || !may_rebuild);

const STATE = (tx: Sql) =>
  tx`next_xid, open_xids, is_ready, table_name, ${hasKeyModels(tx)} as has_key_models,
    ${mayRebuild(tx)} as may_rebuild, ${hasCacheSums(tx)} as has_cache`;

/** A later state, and the partitions that have its rows. */
interface News {
  readonly next: Snapshot;
  readonly changed: readonly ChangedPartition[];
  /** True if there are still later rows. */
  readonly more: boolean;
}

/** Finds rows that are in the present state and not in the last one. */
async function findNew(tx: Sql, last: Snapshot): Promise<News> {
  const now = await present(tx);
  const next_xid = Math.min(now.next_xid, last.next_xid + MAX_TRANSACTIONS);
  const next = { next_xid, open_xids: now.open_xids.filter((xid) => xid < next_xid) };
  const changed = await changedPartitions(tx, last, next);
  return { next, changed, more: next_xid < now.next_xid };
}

/** Folds what is in the present snapshot and not in the last one. */
async function foldNew(tx: Sql, last: FoldRow, { next, changed, more }: News): Promise<FoldResult> {
  if (changed.length > 0) {
    const rows = changed.map(({ table, name }) =>
      entriesOf(tx, table, isNew(tx, last, next, table), name),
    );
    const all = rows.reduce((before, part) => tx`${before} union all ${part}`);
    const entries = await byTransaction(tx, () => groupEntries(tx, all));
    await addToSums(tx, entries, last.has_key_models);
  }
  const { next_xid, open_xids } = next;
  await tx`
    update usage_fold set next_xid = ${next_xid}, open_xids = ${[...open_xids]}::int8[],
      cache_next_xid = ${next_xid}, cache_open_xids = ${[...open_xids]}::int8[]`;
  return { more, folded: changed.length > 0 };
}

/**
 * Folds rows that are older than the first fold: a bounded number, in the order of organizations and
 * dates, so that few sums change at a time. Such rows may all have one transaction number, that of
 * a migration.
 */
async function foldOlder(tx: Sql, row: FoldRow, limit: number): Promise<FoldResult> {
  let target: Snapshot = row;
  if (row.next_xid === 0) {
    target = await present(tx);
    await tx`update usage_fold set next_xid = ${target.next_xid},
      open_xids = ${[...target.open_xids]}::int8[]`;
  }
  const table = row.table_name;
  // The date is text here, because a Date has no microseconds. An index finds the rows after values,
  // but not those after the row of a subquery.
  const [done] = await tx<{ organization_id: string; at: string; row_id: string }[]>`
    select organization_id, at::text, row_id from usage_fold`;
  const follows = tx`
    (organization_id, at, id) > (${done?.organization_id ?? ''},
      ${done?.at ?? '-infinity'}::text::timestamptz, ${done?.row_id ?? ''}::uuid)
    and ${isIn(tx, { ...target, at: new Date(0) }, table)}`;
  // The planner takes the rows after a row for most of the table. Only a limit, which it must know, and an
  // order, which an index has, let it read no more than the part.
  const part = (from: number) =>
    tx.unsafe(`order by organization_id, at, id
    offset ${from} limit ${limit - from}`);
  const [last] = await inOrder(
    tx,
    () => tx<{ organization_id: string; at_text: string; id: string }[]>`
      select organization_id, at::text as at_text, id from ${tx(table)} where ${follows} ${part(limit - 1)}`,
  );
  const until = last
    ? tx`and (organization_id, at, id) <=
        (${last.organization_id}, ${last.at_text}::text::timestamptz, ${last.id}::uuid)`
    : tx``;
  const rows = entriesOf(tx, table, tx`${follows} ${until}`);
  const entries = await inOrder(tx, () => groupEntries(tx, tx`(${rows} ${part(0)})`));
  await addToSums(tx, entries, row.has_key_models);
  if (last) {
    await tx`update usage_fold set organization_id = ${last.organization_id},
      at = ${last.at_text}::text::timestamptz, row_id = ${last.id}`;
  } else {
    await tx`update usage_fold set table_name = 'call_record', organization_id = '',
      at = '-infinity', row_id = '00000000-0000-0000-0000-000000000000',
      is_ready = ${table === 'call_record'}`;
  }
  await noteCacheSums(tx);
  return { more: true, folded: true };
}

/** Runs a query that reads rows in the order of an index. All other plans read a whole table first. */
function inOrder<Result>(tx: Sql, query: () => PromiseLike<Result>): Promise<Result> {
  return withoutPlans(tx, ['enable_seqscan', 'enable_bitmapscan', 'enable_sort'], query);
}

/** Returns the present snapshot. All its rows are visible to later statements. */
async function present(tx: Sql): Promise<Snapshot> {
  const [row] = await tx<Snapshot[]>`
    select pg_snapshot_xmax(now.snapshot)::text::int8 as next_xid,
      array(select xid::text::int8 from pg_snapshot_xip(now.snapshot) as xid) as open_xids
    from (select pg_current_snapshot() as snapshot) as now`;
  if (!row) throw new Error('the database returned no snapshot');
  return { next_xid: row.next_xid, open_xids: row.open_xids.map(Number) };
}

/** Indexes that find the rows of new transactions. Each partition has a part of them. */
const BY_TRANSACTION = ['usage_by_transaction', 'call_record_by_transaction'];

/**
 * Adds new pages to the BRIN indexes that find new rows. Otherwise only VACUUM adds them, and until
 * then each fold and each query reads all rows of all pages that are newer.
 */
export async function summarizePages(sql: Sql): Promise<void> {
  for (const name of BY_TRANSACTION) {
    await sql`
      select brin_summarize_new_values(relid)
      from pg_partition_tree(${name}::text::regclass) where isleaf`;
  }
}
