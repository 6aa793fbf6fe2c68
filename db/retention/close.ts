/**
 * Removes the rows of whole months. What the ledger and the audit must know of them stays as totals
 * (docs/decisions/retention-by-months.md).
 */
import type { Sql, TransactionSql } from 'postgres';
import { CHANNEL_SUMS, SUM_NAMES } from '../books/reconciliation.ts';
import { isIn } from '../usage/as-of.ts';
import type { EntryTable } from '../usage/roll-ups/entries.ts';
import { changePartitions, isLockTimeout, listPartitions, type Partition } from './months.ts';

/** Rows that were removed. */
export interface ClosedMonth {
  readonly table: EntryTable;
  /** Rows with ids of an earlier time are removed now. */
  readonly until: Date;
  readonly rows: number;
}

/**
 * Removes the rows of the earliest partition that has rows, if the partition ended more than `days`
 * days ago, all its rows are in the sums, and no open work may need one of them. Returns undefined if
 * it removed nothing. The totals, the removal and the mark that refuses such ids change in one transaction.
 * Rows of other months can be written meanwhile.
 */
export async function closeMonth(
  sql: Sql,
  table: EntryTable,
  days: number,
): Promise<ClosedMonth | undefined> {
  if (!(await findPast(sql, table, days))) return undefined;
  return changePartitions(sql, async (tx) => {
    const past = await findPast(tx, table, days);
    if (!past) return undefined;
    // Writers of this month wait, and nobody writes it any more. Readers do not wait yet.
    await tx`lock table ${tx(past.name)} in share row exclusive mode`;
    if (await isNeeded(tx, past)) return undefined;
    if (table === 'usage_line') await addTotals(tx, past);
    const rows = await moveMark(tx, table, past);
    const name = tx(past.name);
    await lockAgainstReaders(tx, past.name);
    await tx`truncate ${name}`;
    await tx`alter table ${name} add constraint month_is_closed check (false)`;
    return { table, until: past.until, rows };
  });
}

async function findPast(sql: Sql, table: EntryTable, days: number): Promise<Partition | undefined> {
  const [row] = await sql<{ closed_until: Date | null; past: Date }[]>`
    select closed_until, weir_now() - ${days} * interval '1 day' as past
    from usage_retention where table_name = ${table}`;
  if (!row) return undefined;
  const partitions = await listPartitions(sql, table);
  const first = partitions.find(({ until }) => !row.closed_until || until > row.closed_until);
  return first && first.until <= row.past ? first : undefined;
}

const READER_LOCK_TRIES = 20;
const READER_LOCK_WAIT_MS = 100;
const READER_LOCK_PAUSE_S = 0.4;

/**
 * Locks a partition against readers. Readers that come later wait behind this lock, so each try waits
 * only a moment. Throws if readers hold it for a long time.
 */
async function lockAgainstReaders(tx: Sql, name: string): Promise<void> {
  await tx.unsafe(`set local lock_timeout = ${READER_LOCK_WAIT_MS}`);
  for (let tried = 1; ; tried += 1) {
    try {
      await (tx as unknown as TransactionSql).savepoint(
        (inner) => inner`lock table ${inner(name)} in access exclusive mode`,
      );
      return;
    } catch (error) {
      if (!isLockTimeout(error) || tried === READER_LOCK_TRIES) throw error;
      await tx`select pg_sleep(${READER_LOCK_PAUSE_S})`;
    }
  }
}

/** Replicas' clocks may differ from the database's by less than this. */
const CLOCK_MARGIN_DAYS = 1;

/**
 * True if a row of the partition is not in the sums, or if work is open that began before the end of
 * the partition: it may still write a row with such an id, or look for one.
 */
async function isNeeded(tx: Sql, { name, until, until_id }: Partition): Promise<boolean> {
  const [fold] = await tx<{ next_xid: number; open_xids: number[]; is_ready: boolean }[]>`
    select next_xid, open_xids, is_ready from usage_fold`;
  if (!fold?.is_ready) return true;
  const folded = { ...fold, open_xids: fold.open_xids.map(Number), at: new Date(0) };
  const began = tx`created_at < ${until}::timestamptz + ${CLOCK_MARGIN_DAYS} * interval '1 day'`;
  const [row] = await tx<{ is_needed: boolean }[]>`
    select exists (select from ${tx(name)} as entry where not (${isIn(tx, folded, 'entry')}))
      or exists (select from hold where status = 'held' and ${began})
      or exists (select from task where status in ('pending', 'processing') and ${began})
      or exists (select from message_batch where ended_at is null and ${began})
      or exists (select from kept_answer where state = 'running' and request_id < ${until_id})
      as is_needed`;
  return row?.is_needed ?? true;
}

/** Puts the totals of a partition's usage lines into the tables that the audit adds to the lines. */
async function addTotals(tx: Sql, { name, until }: Partition): Promise<void> {
  await tx`
    insert into closed_charge (closed_until, organization_id, key_id, lines, charged_nano_usd,
      uncharged_nano_usd, overruns, overrun_nano_usd, last_at)
    select ${until}::timestamptz, organization_id, key_id, count(*), sum(charged_nano_usd)::int8,
      coalesce(sum(counted_nano_usd - charged_nano_usd), 0)::int8, count(*) filter (where overrun_nano_usd > 0), sum(overrun_nano_usd)::int8, max(at)
    from ${tx(name)} group by 2, 3`;
  await tx`
    insert into closed_payer (id, charged_nano_usd)
    select coalesce(grant_id, hold_id), sum(charged_nano_usd)::int8 from ${tx(name)}
    group by 1 having sum(charged_nano_usd) <> 0
    on conflict (id) do update
    set charged_nano_usd = closed_payer.charged_nano_usd + excluded.charged_nano_usd`;
  const added = SUM_NAMES.map((name) => `${name} = closed_channel.${name} + excluded.${name}`);
  await tx`
    insert into closed_channel (day, channel_id, model, ${tx.unsafe(SUM_NAMES.join())})
    select day::date, channel_id, model, ${tx.unsafe(SUM_NAMES.join())}
    from (${tx.unsafe(CHANNEL_SUMS)} from ${tx(name)} group by 1, 2, 3) as sums
    on conflict (day, channel_id, model) do update set ${tx.unsafe(added.join())}`;
}

/** Returns the number of rows that the mark removes. */
async function moveMark(tx: Sql, table: EntryTable, { name, until }: Partition): Promise<number> {
  const [moved] = await tx<{ rows: number }[]>`
    with removed as (
      select count(*) as rows, max(xid) as last_xid,
        date_trunc('milliseconds', max(at)) + interval '1 millisecond' as after_last
      from ${tx(name)}
    )
    update usage_retention set closed_until = ${until},
      rows_since = greatest(rows_since, ${until}::timestamptz, removed.after_last),
      last_xid = greatest(usage_retention.last_xid, removed.last_xid)
    from removed where table_name = ${table}
    returning removed.rows`;
  return moved?.rows ?? 0;
}
