/**
 * Compares the books with all usage lines, which are read a slice at a time. Each slice is a short statement,
 * so no snapshot of the database stays open while millions of lines are read. That would slow down all charges.
 *
 * The slices read the lines of one committed state (`AsOf`). A line never changes, so its slice can be read at
 * any time. The end adds the lines that came later, and compares all with the books, in one snapshot.
 *
 * Only sums are kept. Each charge counts as often as the weight of its key, organization, and grant or hold, a
 * number that each reading draws anew. So a wrong sum changes a total. Two wrong sums can hide each other
 * only if they have the same weight. If totals differ, the audit of `audit.ts` names the sums that are wrong.
 */
import type { Fragment, Sql } from 'postgres';
import {
  type Overrun,
  type OverrunSums,
  readLatestOverruns,
  withLatest,
} from '../books/overruns.ts';
import { type AsOf, isIn, readAsOf } from '../usage/as-of.ts';
import { byTransaction } from '../usage/roll-ups/plans.ts';
import { readSums } from '../usage/roll-ups/snapshot.ts';

/** Weighted sums of charges. Exact, because they exceed what a JS number holds exactly. */
interface Totals {
  readonly keys: bigint;
  readonly organizations: bigint;
  /** Of grants and holds. */
  readonly payers: bigint;
}

/** The lines that are read so far. */
export interface LinesReading {
  readonly state: AsOf;
  /** Chooses the weights. */
  readonly seed: number;
  /** Until when retention had removed lines; '' = it removed none. */
  readonly closed_until: string;
  /** The id of the last line that is read. */
  readonly last_id: string;
  readonly totals: Totals;
  readonly overruns: OverrunSums;
  readonly isDone: boolean;
}

/** What the end of a reading found. */
export interface LinesVerdict {
  /** `again`: retention removed lines meanwhile, so all lines must be read again. */
  readonly verdict: 'right' | 'wrong' | 'again';
  /** Of all lines, also of removed ones. */
  readonly overruns: OverrunSums;
}

const FIRST_ID = '00000000-0000-0000-0000-000000000000';
/** A weight is a number from 1 to this one. A larger one could make a sum of a line too large for an int8. */
const MAX_WEIGHT = 4_096;

/** Begins to read the lines of the present state. */
export async function beginReading(sql: Sql): Promise<LinesReading> {
  // This comes before the state. Otherwise lines could be removed between both without notice.
  const closed_until = await readClosed(sql);
  const [row] = await sql<{ seed: number }[]>`select floor(random() * 2147483647)::int4 as seed`;
  return {
    state: await readAsOf(sql),
    seed: row?.seed ?? 0,
    closed_until,
    last_id: FIRST_ID,
    totals: { keys: 0n, organizations: 0n, payers: 0n },
    overruns: { count: 0, amount: '0', latest: [] },
    isDone: false,
  };
}

async function readClosed(sql: Sql): Promise<string> {
  const [row] = await sql<{ until: string }[]>`
    select coalesce(closed_until::text, '') as until from usage_retention
    where table_name = 'usage_line'`;
  return row?.until ?? '';
}

interface SumsRow {
  readonly keys: string;
  readonly organizations: string;
  readonly payers: string;
  readonly overruns: number;
  readonly overrun: string;
}

/** Reads the next `limit` lines, in the order of ids. */
export async function readSlice(
  sql: Sql,
  reading: LinesReading,
  limit: number,
): Promise<LinesReading> {
  const { state, last_id, totals } = reading;
  const [row] = await sql<(SumsRow & { lines: number; last_id: string | null })[]>`
    select count(*)::int4 as lines, max(id::text collate "C") as last_id,
      ${weighted(sql, reading)}, ${overrunsOf(sql)}
    from (
      select * from usage_line where id > ${last_id} and ${isIn(sql, state, 'usage_line')}
      order by id limit ${limit}) as line`;
  if (!row?.last_id) return { ...reading, isDone: true };
  const range = sql`id > ${last_id} and id <= ${row.last_id} and ${isIn(sql, state, 'usage_line')}`;
  const latest = row.overruns > 0 ? await readLatestOverruns(sql, range) : [];
  return {
    ...reading,
    last_id: row.last_id,
    totals: plus(totals, row),
    overruns: withOverruns(reading.overruns, row, latest),
    isDone: row.lines < limit,
  };
}

/** Adds the lines that came after the state of the reading, and compares all with the books. */
export function endReading(sql: Sql, reading: LinesReading): Promise<LinesVerdict> {
  return readSums(sql, async ({ tx, fold }) => {
    if ((await readClosed(tx)) !== reading.closed_until) {
      return { verdict: 'again', overruns: reading.overruns };
    }
    const folded = fold ? { ...fold, at: new Date(0) } : reading.state;
    const later = await readLater(tx, reading, folded);
    const books = await readBooks(tx, reading);
    const lines = plus(reading.totals, later);
    // The sums of usage lack the lines that are not folded.
    const usage = BigInt(books.usage) + BigInt(later.not_folded);
    const isRight =
      BigInt(books.keys) === lines.keys &&
      BigInt(books.organizations) === lines.organizations &&
      BigInt(books.payers) === lines.payers &&
      (!fold || usage === lines.organizations);
    const ofLines = withOverruns(reading.overruns, later, later.latest);
    // The books have those of removed lines, whose single amounts nobody has any more.
    return { verdict: isRight ? 'right' : 'wrong', overruns: withOverruns(ofLines, books, []) };
  });
}

/** Sums the lines that are not in the state of the reading, and those that are not in `folded`. */
async function readLater(tx: Sql, { state, ...reading }: LinesReading, folded: AsOf) {
  const lowest = [state, folded].flatMap(({ next_xid, open_xids }) => [next_xid, ...open_xids]);
  const rows = tx`
    select *, ${isIn(tx, state, 'usage_line')} as is_read, ${isIn(tx, folded, 'usage_line')} as is_folded
    from usage_line where xid >= ${Math.min(...lowest)} offset 0`;
  return byTransaction(tx, async () => {
    const [row] = await tx<(SumsRow & { not_folded: string })[]>`
      select ${weighted(tx, reading, tx`not is_read`)}, ${overrunsOf(tx, tx`not is_read`)},
        coalesce(sum(charged_nano_usd * ${weight(tx, 'organization_id', reading)})
          filter (where not is_folded), 0)::text as not_folded
      from (${rows}) as line`;
    const none = { keys: '0', organizations: '0', payers: '0', overruns: 0, overrun: '0' };
    const found = row ?? { ...none, not_folded: '0' };
    const latest: Overrun[] =
      found.overruns > 0
        ? await readLatestOverruns(
            tx,
            tx`xid >= ${Math.min(...lowest)} and not (${isIn(tx, state, 'usage_line')})`,
          )
        : [];
    return { ...found, latest };
  });
}

interface BooksRow extends SumsRow {
  /** What the sums of usage say of organizations. */
  readonly usage: string;
}

/** Sums what the ledger says of the lines that are there. */
async function readBooks(tx: Sql, reading: Pick<LinesReading, 'seed'>): Promise<BooksRow> {
  const key = weight(tx, 'key_id', reading);
  const owner = weight(tx, 'organization_id', reading);
  const total = (amount: string, by: Fragment) =>
    tx`coalesce(sum((${tx.unsafe(amount)})::numeric * ${by}), 0)`;
  const unposted =
    'settled_nano_usd - posted_nano_usd - (uncharged_nano_usd - uncharged_posted_nano_usd)';
  const [row] = await tx<BooksRow[]>`
    select (key.used + open.by_key - closed.by_key)::text as keys,
      (owner.settled + open.by_owner - closed.by_owner)::text as organizations,
      (payer.charged + held.charged - closed_payers.charged)::text as payers,
      (summed.charged - closed.by_owner)::text as usage,
      closed.overruns::int4 as overruns, closed.overrun::text as overrun
    from
      (select ${total('used_nano_usd - uncharged_nano_usd', weight(tx, 'id', reading))} as used from api_key) as key,
      (select ${total('settled_nano_usd', weight(tx, 'id', reading))} as settled
        from organization) as owner,
      (select ${total(unposted, key)} as by_key, ${total(unposted, owner)} as by_owner
        from quota_grant where status = 'open') as open,
      (select ${total('charged_nano_usd', key)} as by_key, ${total('charged_nano_usd', owner)} as by_owner,
        coalesce(sum(overruns), 0) as overruns, coalesce(sum(overrun_nano_usd), 0) as overrun
        from closed_charge) as closed,
      (select ${total('settled_nano_usd - uncharged_nano_usd', payerWeight(tx, 'id', reading))} as charged
        from quota_grant) as payer,
      (select ${total('charged_nano_usd', payerWeight(tx, 'id', reading))} as charged from hold) as held,
      (select ${total('charged_nano_usd', payerWeight(tx, 'id', reading))} as charged
        from closed_payer) as closed_payers,
      (select ${total('charged_nano_usd', owner)} as charged from usage_day
        join usage_series on usage_series.id = series_id where scope = 'total') as summed`;
  if (!row) throw new Error('the database returned no sums');
  return row;
}

/** The weight of a text, from 1 on. */
function weight(sql: Sql, column: string, { seed }: Pick<LinesReading, 'seed'>): Fragment {
  return sql`(1 + (hashtextextended(${sql(column)}, ${seed}::int8) & ${MAX_WEIGHT - 1}::int8))`;
}

/** The weight of a grant or a hold. */
function payerWeight(sql: Sql, column: string, { seed }: Pick<LinesReading, 'seed'>): Fragment {
  const id = sql.unsafe(column) as unknown as Fragment;
  return sql`(1 + (uuid_hash_extended(${id}, ${seed}::int8) & ${MAX_WEIGHT - 1}::int8))`;
}

/** The weighted sums of lines that meet a condition. */
function weighted(
  sql: Sql,
  reading: Pick<LinesReading, 'seed'>,
  condition: Fragment = sql`true`,
): Fragment {
  const total = (by: Fragment, name: string) =>
    sql`coalesce(sum(charged_nano_usd * ${by}) filter (where ${condition}), 0)::text as ${sql(name)}`;
  return sql`${total(weight(sql, 'key_id', reading), 'keys')},
    ${total(weight(sql, 'organization_id', reading), 'organizations')},
    ${total(payerWeight(sql, 'coalesce(grant_id, hold_id)', reading), 'payers')}`;
}

function overrunsOf(sql: Sql, condition: Fragment = sql`true`): Fragment {
  return sql`count(*) filter (where ${condition} and overrun_nano_usd > 0)::int4 as overruns,
    coalesce(sum(overrun_nano_usd) filter (where ${condition}), 0)::text as overrun`;
}

function plus(totals: Totals, row: Pick<SumsRow, 'keys' | 'organizations' | 'payers'>): Totals {
  return {
    keys: totals.keys + BigInt(row.keys),
    organizations: totals.organizations + BigInt(row.organizations),
    payers: totals.payers + BigInt(row.payers),
  };
}

function withOverruns(
  { count, amount, latest }: OverrunSums,
  row: Pick<SumsRow, 'overruns' | 'overrun'>,
  more: readonly Overrun[],
): OverrunSums {
  return {
    count: count + row.overruns,
    amount: (BigInt(amount) + BigInt(row.overrun)).toString(),
    latest: withLatest(latest, more),
  };
}
