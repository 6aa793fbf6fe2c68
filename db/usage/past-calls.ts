import type { Sql } from 'postgres';
import { type CallRow, callColumns } from './calls.ts';

/** A call that ran at an instant of the past. */
export interface PastCallRow extends CallRow {
  readonly organization_id: string;
}

/** The calls that ran at an instant. */
export interface PastCalls {
  /** The oldest first. */
  readonly calls: readonly PastCallRow[];
  /** How many ran, also those that are not listed. */
  readonly total: number;
}

/** A call that began longer before the instant is left out: an index has the times at which calls began. */
const LONGEST_PAST_CALL_MS = 3_600_000;

/**
 * Returns the calls that ran at an instant, as their records say: those whose money was reserved and that
 * had not ended.
 * `organization_id` null: of all organizations. A call that runs now has no record yet.
 */
export async function listPastCalls(
  sql: Sql,
  organization_id: string | null,
  at: Date,
  limit: number,
): Promise<PastCalls> {
  const { charged, free } = callColumns(sql);
  // The date of a call is when its money was reserved. Other times count from its arrival.
  const ran = (table: 'usage_line' | 'call_record') => sql`
    ${sql(table)}.organization_id = organization.id and ${sql(table)}.at <= ${at}
    and ${sql(table)}.at > ${at}::timestamptz - ${LONGEST_PAST_CALL_MS} * interval '1 ms'
    and ${sql(table)}.at + (ended_ms - coalesce(reserved_us, 0) / 1000) * interval '1 ms' >= ${at}`;
  const rows = await sql<(PastCallRow & { total: number })[]>`
    select call.*, organization.id as organization_id, count(*) over ()::int4 as total
    from organization cross join lateral (
      select ${charged} from usage_line where ${ran('usage_line')}
      union all
      select ${free} from call_record where ${ran('call_record')}
    ) as call
    where ${organization_id === null ? sql`true` : sql`organization.id = ${organization_id}`}
    order by call.at, call.sort_id limit ${limit}`;
  return { calls: rows, total: rows[0]?.total ?? 0 };
}
