import type { Sql } from 'postgres';
import type { AsOf } from './as-of.ts';
import { readSums } from './roll-ups/snapshot.ts';
import { readUsage } from './roll-ups/sums.ts';

/** A deposit of a month, or credit that was taken back. Amounts are in nano-USD. */
export interface DepositRow {
  readonly id: string;
  readonly kind: 'payment' | 'credit' | 'credit_return';
  readonly reference: string | null;
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
    select id, kind, amount_nano_usd, reference, note, created_at from deposit
    where organization_id = ${organization_id} and created_at >= ${from} and created_at < ${until}
    order by created_at, id`;
}

/** Returns the charges of a month by key, the largest first. */
export function chargesByKey(
  sql: Sql,
  organization_id: string,
  month: Month,
  as_of: AsOf,
): Promise<KeyChargeRow[]> {
  return readSums(sql, async (reader) => {
    const filters = { organization_id, ...month };
    const rows = await readUsage(reader, {
      ...{ filters, as_of, groups: ['key_id'] },
      counters: ['charges', 'charged_nano_usd'],
    });
    const charged = rows.filter(({ counts }) => counts.charges > 0);
    const ids = charged.map(({ key_id = '' }) => key_id);
    const keys = await reader.tx<{ id: string; name: string }[]>`
      select id, name from api_key
      where organization_id = ${organization_id} and id = any(${ids}::text[])`;
    const names = new Map(keys.map(({ id, name }) => [id, name]));
    const found = charged.map(({ key_id = '', counts }) => ({
      key_id,
      name: names.get(key_id) ?? '',
      requests: counts.charges,
      charged_nano_usd: counts.charged_nano_usd,
    }));
    return found.sort(
      (a, b) => b.charged_nano_usd - a.charged_nano_usd || (a.key_id < b.key_id ? -1 : 1),
    );
  });
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
