import type { Fragment, Sql } from 'postgres';
import { type AsOf, isIn } from '../as-of.ts';
import { COUNTERS, TOOK_COLUMNS } from './counters.ts';
import { DIMENSIONS, type EntryTable, entriesOf, QUARTERS_A_DAY } from './entries.ts';

/** The state that the sums have. */
type Snapshot = Pick<AsOf, 'next_xid' | 'open_xids'>;

interface FoldRow {
  readonly next_xid: number;
  readonly open_xids: readonly number[];
  readonly is_ready: boolean;
  readonly table_name: EntryTable;
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
    // A lock would write to the disk, also if there is nothing to do.
    if (!seen || (seen.is_ready && !(await hasNew(tx, seen, await present(tx))))) return NOTHING;
    const [row] = await tx<FoldRow[]>`
      select ${STATE(tx)} from usage_fold for update skip locked`;
    if (!row) return NOTHING;
    return row.is_ready ? foldNew(tx, row) : foldOlder(tx, row, older_rows);
  }) as Promise<FoldResult>;
}

const STATE = (tx: Sql) => tx`next_xid, open_xids, is_ready, table_name`;

/**
 * The condition that a row is in a later state and not in an earlier one. Its first part lets the index
 * on `xid` skip old pages.
 */
function isNew(tx: Sql, last: Snapshot, next: Snapshot, table: EntryTable): Fragment {
  return tx`xid >= ${Math.min(last.next_xid, ...last.open_xids)}
    and (xid >= ${last.next_xid} or xid = any(${[...last.open_xids]}::int8[]))
    and ${isIn(tx, { ...next, at: new Date(0) }, table)}`;
}

/** True if rows are in a later state and not in an earlier one. */
async function hasNew(tx: Sql, last: Snapshot, next: Snapshot): Promise<boolean> {
  const found = await byTransaction(
    tx,
    () => tx`
      select 1 where exists (select from usage_line where ${isNew(tx, last, next, 'usage_line')})
        or exists (select from call_record where ${isNew(tx, last, next, 'call_record')})`,
  );
  return found.length > 0;
}

/**
 * Runs a query for new rows. Only the BRIN index finds them quickly, and the planner does not know how
 * few they are.
 */
async function byTransaction<Result>(tx: Sql, query: () => PromiseLike<Result>): Promise<Result> {
  await tx`select set_config(name, 'off', true) from unnest(${PLANS}::text[]) as name`;
  const result = await query();
  await tx`select set_config(name, 'on', true) from unnest(${PLANS}::text[]) as name`;
  return result;
}

const PLANS = ['enable_seqscan', 'enable_indexscan'];

/** Folds what is in the present snapshot and not in the last one. */
async function foldNew(tx: Sql, last: Snapshot): Promise<FoldResult> {
  const now = await present(tx);
  const next_xid = Math.min(now.next_xid, last.next_xid + MAX_TRANSACTIONS);
  const open_xids = now.open_xids.filter((xid) => xid < next_xid);
  const next: Snapshot = { next_xid, open_xids };
  const lines = entriesOf(tx, 'usage_line', isNew(tx, last, next, 'usage_line'));
  const records = entriesOf(tx, 'call_record', isNew(tx, last, next, 'call_record'));
  const entries = await byTransaction(tx, () =>
    groupEntries(tx, tx`${lines} union all ${records}`),
  );
  if (entries > 0) await addToSums(tx);
  await tx`update usage_fold set next_xid = ${next_xid}, open_xids = ${open_xids}::int8[]`;
  return { more: next_xid < now.next_xid, folded: entries > 0 };
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
  const follows = tx`
    (organization_id, at, id) > (select organization_id, at, row_id from usage_fold)
    and ${isIn(tx, { ...target, at: new Date(0) }, table)}`;
  // The date is text here, because a Date has no microseconds.
  const [last] = await tx<{ organization_id: string; at: string; id: string }[]>`
    select organization_id, at::text, id from ${tx(table)} where ${follows}
    order by 1, ${tx(table)}.at, 3 offset ${limit - 1} limit 1`;
  const until = last
    ? tx`and (organization_id, at, id) <=
        (${last.organization_id}, ${last.at}::text::timestamptz, ${last.id}::uuid)`
    : tx``;
  await groupEntries(tx, entriesOf(tx, table, tx`${follows} ${until}`));
  await addToSums(tx);
  if (last) {
    await tx`update usage_fold set organization_id = ${last.organization_id},
      at = ${last.at}::text::timestamptz, row_id = ${last.id}`;
  } else {
    await tx`update usage_fold set table_name = 'call_record', organization_id = '',
      at = '-infinity', row_id = '00000000-0000-0000-0000-000000000000',
      is_ready = ${table === 'call_record'}`;
  }
  return { more: true, folded: true };
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

const NAMES = `organization_id, scope, key_id, ${DIMENSIONS.join(', ')}`;
const SUMS = [
  ...COUNTERS.map((name) => `sum(${name})::int8 as ${name}`),
  ...TOOK_COLUMNS.map((name, at) => `sum(durations) filter (where took = ${at})::int8 as ${name}`),
].join(', ');
const ADDED = [...COUNTERS, ...TOOK_COLUMNS];
const RAW = `${COUNTERS.join(', ')}, took`;
const EMPTY = DIMENSIONS.map((name) => `''::text as ${name}`).join(', ');
const GROUPED = `organization_id, key_id, ${DIMENSIONS.join(', ')}, quarter, took, payer_id`;

/**
 * Sums entries of the same names, quarter, class and payer into a temporary table of the connection.
 * Most rows have much in common, so all sums after this read few rows. Returns the number of entries.
 */
async function groupEntries(tx: Sql, entries: Fragment): Promise<number> {
  const [found] = await tx<{ table: string | null }[]>`
    select to_regclass('pg_temp.usage_entry')::text as table`;
  const totals = tx.unsafe(COUNTERS.map((name) => `sum(${name})::int8 as ${name}`).join(', '));
  const grouped = tx`
    select ${tx.unsafe(GROUPED)}, ${totals} from (${entries}) as entry
    group by ${tx.unsafe(GROUPED)}`;
  if (!found?.table) {
    await tx`create temporary table usage_entry on commit delete rows as ${grouped} with no data`;
  }
  const { count } = await tx`insert into pg_temp.usage_entry ${grouped}`;
  return count;
}

/** The grouped entries once for each scope, so that one statement sums them. */
function scoped(tx: Sql, scopes: 'all' | 'without key'): Fragment {
  const named = tx.unsafe(`${DIMENSIONS.join(', ')}, quarter, ${RAW}`);
  const keys = tx`
    union all
    select organization_id, 'key', key_id, ${named} from pg_temp.usage_entry`;
  return tx`
    with scoped as (
      select organization_id, 'organization'::text as scope, ''::text as key_id, ${named}
      from pg_temp.usage_entry
      union all
      select organization_id, 'key_total', key_id, ${tx.unsafe(`${EMPTY}, quarter, ${RAW}`)}
      from pg_temp.usage_entry
      union all
      select organization_id, 'total', '', ${tx.unsafe(`${EMPTY}, quarter, ${RAW}`)}
      from pg_temp.usage_entry
      ${scopes === 'all' ? keys : tx``}
    )`;
}

/** Adds the grouped entries to all sums. */
async function addToSums(tx: Sql): Promise<void> {
  await tx`
    ${scoped(tx, 'all')}, named as (select distinct ${tx.unsafe(NAMES)} from scoped)
    insert into usage_series (${tx.unsafe(NAMES)})
    select * from named
    where not exists (select from usage_series as known
      where (${tx.unsafe(qualified('known'))}) = (${tx.unsafe(qualified('named'))}))
    on conflict do nothing`;
  await addTo(tx, scoped(tx, 'without key'), 'usage_quarter', 'quarter', 'quarter');
  const day = `floor(quarter / ${QUARTERS_A_DAY}.0)::int4`;
  await addTo(tx, scoped(tx, 'all'), 'usage_day', 'day', day);
  await tx`
    insert into usage_payer (id, charged_nano_usd)
    select payer_id, sum(charged_nano_usd)::int8 from pg_temp.usage_entry
    where payer_id is not null group by 1 having sum(charged_nano_usd) <> 0
    on conflict (id) do update
    set charged_nano_usd = usage_payer.charged_nano_usd + excluded.charged_nano_usd`;
}

async function addTo(
  tx: Sql,
  scoped_entries: Fragment,
  table: 'usage_quarter' | 'usage_day',
  column: 'quarter' | 'day',
  span: string,
): Promise<void> {
  const added = ADDED.map((name) =>
    name.startsWith('took_')
      ? `${name} = coalesce(${table}.${name} + excluded.${name}, ${table}.${name}, excluded.${name})`
      : `${name} = ${table}.${name} + excluded.${name}`,
  ).join(', ');
  await tx`
    ${scoped_entries}, summed as (
      select ${tx.unsafe(NAMES)}, ${tx.unsafe(span)} as span, ${tx.unsafe(SUMS)} from scoped
      group by ${tx.unsafe(NAMES)}, span
    )
    insert into ${tx(table)} (series_id, ${tx(column)}, ${tx.unsafe(ADDED.join(', '))})
    select usage_series.id, span, ${tx.unsafe(ADDED.map((name) => `summed.${name}`).join(', '))}
    from summed join usage_series
      on (${tx.unsafe(qualified('usage_series'))}) = (${tx.unsafe(qualified('summed'))})
    on conflict (series_id, ${tx(column)}) do update set ${tx.unsafe(added)}`;
}

function qualified(alias: string): string {
  return NAMES.split(', ')
    .map((name) => `${alias}.${name}`)
    .join(', ');
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
