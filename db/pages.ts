import type { Fragment, Sql, TransactionSql } from 'postgres';

/**
 * A place in a list that is sorted by time and id, the newest first. The time is in microseconds
 * since the Unix epoch, because PostgreSQL's timestamps have this precision.
 */
export interface ListPosition {
  readonly at_us: number;
  readonly id: string;
}

/** The rows of a list that a page may have. */
export interface PageRequest {
  readonly limit: number;
  /** The last row of the page before; undefined for the first page. */
  readonly after?: ListPosition | undefined;
  /** The earliest time, inclusive. */
  readonly since?: Date | undefined;
  /** The latest time, exclusive. */
  readonly before?: Date | undefined;
}

/** One page of rows, and whether rows follow. */
export interface Page<Row> {
  readonly rows: readonly Row[];
  readonly has_more: boolean;
}

/** The columns that sort a list. */
interface SortColumns {
  readonly at: string;
  readonly id: string;
}

/** The SQL expression of a row's `at_us`. */
export const positionOf = (sql: Sql | TransactionSql, at: string): Fragment =>
  sql`(extract(epoch from ${sql(at)}) * 1000000)::int8`;

/**
 * The SQL conditions of a page, each with `and` before it. A page begins after a row and not after a
 * number of rows. So a new row neither repeats nor hides a row of a later page, and an index finds
 * the first row of a far page at once.
 */
export function pageBounds(
  sql: Sql,
  { after, since, before }: PageRequest,
  { at, id }: SortColumns,
): Fragment {
  const afterRow = after
    ? sql`and (${sql(at)}, ${sql(id)}) <
        (timestamptz 'epoch' + ${after.at_us} * interval '1 microsecond', ${after.id})`
    : sql``;
  const sinceTime = since ? sql`and ${sql(at)} >= ${since}` : sql``;
  const beforeTime = before ? sql`and ${sql(at)} < ${before}` : sql``;
  return sql`${afterRow} ${sinceTime} ${beforeTime}`;
}

/** The SQL order of a page. It reads one row more than the page has (`pageOf`). */
export function pageOrder(sql: Sql, { limit }: PageRequest, { at, id }: SortColumns): Fragment {
  return sql`order by ${sql(at)} desc, ${sql(id)} desc limit ${limit + 1}`;
}

/** Returns the page of the rows that a query with `pageOrder` returned. */
export function pageOf<Row>(rows: readonly Row[], { limit }: PageRequest): Page<Row> {
  return { rows: rows.slice(0, limit), has_more: rows.length > limit };
}

/** The SQL condition that a column has a value, with `and` before it; nothing without a value. */
export function whereEqual(sql: Sql, column: string, value: string | undefined): Fragment {
  return value === undefined ? sql`` : sql`and ${sql(column)} = ${value}`;
}
