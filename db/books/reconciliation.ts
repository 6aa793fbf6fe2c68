import type { Sql } from 'postgres';
import type { Actor } from '../audit/entry.ts';
import { appendAudit } from '../audit/log.ts';
import { firstIdAt } from '../housekeeping.ts';

/** What a provider billed or counted; null = its answer has no such number. */
export interface BilledCounts {
  readonly amount_nano_usd: number | null;
  readonly input_tokens: number | null;
  readonly output_tokens: number | null;
  readonly requests: number | null;
}

/** One row of a provider's bill. */
export interface BillRow extends BilledCounts {
  /** The day in UTC, `YYYY-MM-DD`. */
  readonly day: string;
  /** The provider's name of the model; '' = none. */
  readonly model: string;
}

/** A row of a bill with its origin. */
export interface StoredBillRow extends BillRow {
  readonly channel_id: string;
  readonly source: string;
  readonly imported_at: Date;
}

/** What Weir recorded for one day, channel and public model. Amounts are in nano-USD. */
export interface RecordedRow {
  readonly channel_id: string;
  readonly day: string;
  readonly model: string;
  readonly requests: number;
  readonly list_nano_usd: number;
  readonly charged_nano_usd: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  /** The sum of the prices that the provider told with its answers, and how many told one. */
  readonly paid_nano_usd: number;
  readonly paid_requests: number;
}

/** The days from `from` to `until`, exclusive, both at midnight UTC; of one channel, or of all. */
export interface ReconciledDays {
  readonly from: Date;
  readonly until: Date;
  readonly channel_id?: string | undefined;
}

/**
 * Replaces the rows that a source gave for these days. A repeated import changes nothing but
 * `imported_at`.
 */
export async function replaceBill(
  sql: Sql,
  channel_id: string,
  source: string,
  { days, rows }: { readonly days: readonly string[]; readonly rows: readonly BillRow[] },
  actor: Actor,
): Promise<void> {
  await sql.begin(async (tx) => {
    // Two imports of the same source wait for each other.
    await tx`select pg_advisory_xact_lock(hashtext(${`provider_bill ${channel_id} ${source}`}))`;
    await tx`
      delete from provider_bill
      where channel_id = ${channel_id} and source = ${source} and day = any(${[...days]}::text[]::date[])`;
    await tx`
      insert into provider_bill (channel_id, source, day, model, amount_nano_usd, input_tokens,
        output_tokens, requests, imported_at)
      select ${channel_id}, ${source}, day, model, amount_nano_usd, input_tokens, output_tokens,
        requests, weir_now()
      from json_to_recordset(${JSON.stringify(rows)}::text::json) as row(day date, model text,
        amount_nano_usd int8, input_tokens int8, output_tokens int8, requests int8)`;
    await appendAudit(tx, {
      ...{ organization_id: null, actor, action: 'provider_bill.import', subject_id: channel_id },
      ...{ before: null, after: { source, days, rows: rows.length } },
    });
  });
}

/** Reads the rows of bills. */
export function readBills(
  sql: Sql,
  { from, until, channel_id }: ReconciledDays,
): Promise<StoredBillRow[]> {
  return sql<StoredBillRow[]>`
    select channel_id, source, day::text, model, amount_nano_usd, input_tokens, output_tokens,
      requests, imported_at
    from provider_bill
    where day >= ${dayOf(from)}::text::date and day < ${dayOf(until)}::text::date
      ${channel_id === undefined ? sql`` : sql`and channel_id = ${channel_id}`}
    order by day, channel_id, source, model`;
}

const DAY_MS = 24 * 3_600_000;
/** The id of a line is made when the call arrives, or when its task ends: so much before or after its date. */
const MOST_BEFORE_MS = DAY_MS;
const MOST_AFTER_MS = 8 * DAY_MS;

/** The names of these sums. */
export const SUM_NAMES = [
  ...(['requests', 'list_nano_usd', 'charged_nano_usd', 'input_tokens'] as const),
  ...(['output_tokens', 'paid_nano_usd', 'paid_requests'] as const),
];

/** The sums of usage lines by day, channel and model, as an SQL query without its condition. */
export const CHANNEL_SUMS = `
  select (at at time zone 'UTC')::date::text as day, channel_id, model,
    count(*)::int8 as requests,
    sum(coalesce(list_nano_usd, charged_nano_usd + overrun_nano_usd))::int8 as list_nano_usd,
    sum(charged_nano_usd)::int8 as charged_nano_usd,
    sum(input_tokens::int8 + cached_input_tokens + cache_write_tokens)::int8 as input_tokens,
    sum(output_tokens)::int8 as output_tokens,
    coalesce(sum((detail ->> 'paid_nano_usd')::int8) filter (where detail ? 'paid_nano_usd'), 0)::int8
      as paid_nano_usd,
    (count(*) filter (where detail ? 'paid_nano_usd'))::int8 as paid_requests`;

/**
 * Sums the usage lines of some days, also those that retention removed. It reads all lines of these days,
 * by their ids: no index has their channels.
 */
export function sumByChannel(
  sql: Sql,
  { from, until, channel_id }: ReconciledDays,
): Promise<RecordedRow[]> {
  const isOfChannel = channel_id === undefined ? sql`` : sql`and channel_id = ${channel_id}`;
  return sql<RecordedRow[]>`
    select day, channel_id, model,
      ${sql.unsafe(SUM_NAMES.map((name) => `sum(${name})::int8 as ${name}`).join())}
    from (
      (${sql.unsafe(CHANNEL_SUMS)} from usage_line
        where id >= ${firstIdAt(from.getTime() - MOST_BEFORE_MS)}
          and id < ${firstIdAt(until.getTime() + MOST_AFTER_MS)}
          and at >= ${from} and at < ${until} ${isOfChannel}
        group by 1, 2, 3)
      union all
      select day::text, channel_id, model, ${sql.unsafe(SUM_NAMES.join())} from closed_channel
      where day >= ${dayOf(from)}::text::date and day < ${dayOf(until)}::text::date ${isOfChannel}
    ) as part group by 1, 2, 3 order by 1, 2, 3`;
}

const dayOf = (date: Date) => date.toISOString().slice(0, 10);
