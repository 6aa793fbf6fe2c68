import type { Fragment, Sql, TransactionSql } from 'postgres';

/**
 * A key or budget that has used this much and whose calls are refused counts as full: what is left pays for no call.
 * Percent.
 */
export const NEARLY_FULL_PERCENT = 95;
/** What is recent, for a forecast: the spend since the start of a day in UTC, so many days ago. */
export const RECENT_SPEND_DAYS = 7;

/** `use`: what is used; `spend`: also the recent spend of a day, which costs a read. */
export type Needs = 'use' | 'spend';

/**
 * A query for caps of some owners, one row for each:
 *
 * - `owner_id`, `subject_kind`, `subject_id`, `subject_name`: whose cap it is;
 * - `limit_nano_usd`, `used_nano_usd`;
 * - `span`: the name of the window in which the cap holds; '' = a cap for good;
 * - `until`: when the window ends; for a cap for good, when the month ends (UTC);
 * - `per_day_nano_usd`: the recent spend of a day; 0 if `needs` is `use`;
 * - `is_refused`: calls are refused, because the rest of the cap pays for none;
 * - `more`: further figures of the alert (jsonb).
 */
export type CapSource = (sql: Sql | TransactionSql, owners: Fragment, needs: Needs) => Fragment;

/** The number of today's day in UTC, from the Unix epoch. */
export const today = (sql: Sql | TransactionSql): Fragment =>
  sql`floor(extract(epoch from weir_now()) / 86400)::int4`;
/** The first day of the recent time, as `today`. */
export const firstDay = (sql: Sql | TransactionSql): Fragment =>
  sql`(${today(sql)} - ${RECENT_SPEND_DAYS})`;
/** How long the recent time is, in days with their fraction. */
export const recentDays = (sql: Sql | TransactionSql): Fragment =>
  sql`(extract(epoch from weir_now()) / 86400 - ${firstDay(sql)})`;
