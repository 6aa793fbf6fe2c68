import type { Sql } from 'postgres';
import { type AsOf, isIn } from './as-of.ts';

/** The deposits of a month. Amounts are in nano-USD. */
export interface DepositRow {
  readonly id: string;
  readonly amount_nano_usd: number;
  readonly note: string;
  readonly created_at: Date;
}

/** The charges of one key in a month. */
export interface KeyChargeRow {
  readonly key_id: string;
  readonly name: string;
  readonly requests: number;
  readonly charged_nano_usd: number;
}

/** A calendar month in UTC: its first instant and the first instant after it. */
export interface Month {
  readonly from: Date;
  readonly until: Date;
}

/** Returns the deposits that an organization made in a month, the oldest first. */
export function listDeposits(
  sql: Sql,
  organization_id: string,
  { from, until }: Month,
): Promise<DepositRow[]> {
  return sql<DepositRow[]>`
    select id, amount_nano_usd, note, created_at from deposit
    where organization_id = ${organization_id} and created_at >= ${from} and created_at < ${until}
    order by created_at, id`;
}

/** Returns the charges of a month by key, the largest first. */
export function chargesByKey(
  sql: Sql,
  organization_id: string,
  { from, until }: Month,
  as_of: AsOf,
): Promise<KeyChargeRow[]> {
  return sql<KeyChargeRow[]>`
    select key_id, coalesce(max(api_key.name), '') as name, count(*) as requests,
      sum(charged_nano_usd)::int8 as charged_nano_usd
    from usage_line left join api_key on api_key.id = usage_line.key_id
    where usage_line.organization_id = ${organization_id} and at >= ${from} and at < ${until}
      and ${isIn(sql, as_of, 'usage_line')}
    group by key_id order by 4 desc, 1`;
}

/** Returns the money that tasks of a month hold now, nano-USD. A statement with such money may grow. */
export async function heldOfMonth(
  sql: Sql,
  organization_id: string,
  { from, until }: Month,
): Promise<number> {
  const [row] = await sql<{ held: number }[]>`
    select coalesce(sum(amount_nano_usd), 0)::int8 as held from hold
    where organization_id = ${organization_id} and status = 'held'
      and created_at >= ${from} and created_at < ${until}`;
  return row?.held ?? 0;
}
