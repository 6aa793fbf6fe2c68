import type { Sql } from 'postgres';
import { type AsOf, isIn } from './as-of.ts';
import type { CallCursor } from './calls.ts';
import { conditions, type UsageFilters } from './filters.ts';
import { chargeColumns, type UsageRow } from './lines.ts';

/** The charges that an export has. */
export interface ChargeFilters extends UsageFilters {
  readonly outcome?: string | undefined;
}

/** Rows of one query: enough that the database is asked rarely, few enough to keep memory small. */
const BATCH = 2_000;

/**
 * Yields all charges of one committed state in batches, the oldest first. No transaction stays open
 * between two batches, so a client that reads slowly holds no connection.
 */
export async function* exportCharges(
  sql: Sql,
  filters: ChargeFilters,
  as_of: AsOf,
): AsyncGenerator<readonly UsageRow[]> {
  const isOutcome =
    filters.outcome === undefined ? sql`` : sql`and usage_line.outcome = ${filters.outcome}`;
  let after: CallCursor | undefined;
  for (;;) {
    const place = after
      ? sql`and (usage_line.at, usage_line.id) > (${after.at}, ${after.id}::uuid)`
      : sql``;
    const rows = await sql<(UsageRow & { sort_id: string })[]>`
      select ${chargeColumns(sql)} from usage_line
      where ${conditions(sql, filters, 'usage_line')} and ${isIn(sql, as_of, 'usage_line')}
        ${isOutcome} ${place}
      order by usage_line.at, usage_line.id limit ${BATCH}`;
    if (rows.length > 0) yield rows;
    const last = rows.at(-1);
    if (!last || rows.length < BATCH) return;
    after = { at: last.at, id: last.sort_id };
  }
}
