import type { Sql, TransactionSql } from 'postgres';
import { firstIdAt } from '../housekeeping.ts';

/** What the database answers if a row has an id of a removed month (PostgreSQL docs: Appendix A). */
const CHECK_VIOLATION = '23514';

/**
 * True if the database refused a row because rows of its month are removed. A row that was on its
 * way to the default partition while its month got a partition is refused too, without a constraint.
 */
export function isOfClosedMonth(error: unknown): boolean {
  if (typeof error !== 'object' || error === null || !('code' in error)) return false;
  const constraint = 'constraint_name' in error ? error.constraint_name : undefined;
  return (
    error.code === CHECK_VIOLATION && (constraint === undefined || constraint === 'month_is_closed')
  );
}

/** Returns the smallest id that a row may have; undefined if no rows are removed. */
export async function readLowestKept(
  sql: Sql | TransactionSql,
  table: 'usage_line' | 'call_record',
): Promise<string | undefined> {
  const [row] = await sql<{ closed_until: Date | null }[]>`
    select closed_until from usage_retention where table_name = ${table}`;
  return row?.closed_until ? firstIdAt(row.closed_until.getTime()) : undefined;
}
