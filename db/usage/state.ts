import type { Sql } from 'postgres';

/** An organization's money, nano-USD. `deposited = available + held + used` always holds (P1). */
export interface BalanceState {
  readonly deposited: number;
  readonly available: number;
  readonly held: number;
  readonly used: number;
  /** The part of `deposited` that is credit. */
  readonly credit: number;
}

/** The money of a key, nano-USD. */
export interface KeyState {
  readonly key_id: string;
  readonly status: string;
  readonly limit_nano_usd: number | null;
  readonly used_nano_usd: number;
  readonly held_nano_usd: number;
}

/** What an organization has now. */
export interface MoneyState {
  readonly balance: BalanceState | undefined;
  readonly keys: readonly KeyState[];
}

/** The most keys whose state is read: the newest ones. */
const MAX_KEYS = 1_000;
/** So long a deleted key is in the state, so that every reader learns that it was revoked. */
const SHOW_DELETED_MINUTES = 60;

/**
 * Reads an organization's balance and the state of its keys, from one snapshot. Charges of open grants
 * count as used, even if they are posted later.
 */
export async function readMoneyState(sql: Sql, organization_id: string): Promise<MoneyState> {
  const [row] = await sql<{ balance: BalanceState; keys: KeyState[] }[]>`
    with unposted as (
      select key_id, sum(settled_nano_usd - posted_nano_usd)::int8 as nano_usd,
        sum(uncharged_nano_usd - uncharged_posted_nano_usd)::int8 as uncharged
      from quota_grant
      where status = 'open' and organization_id = ${organization_id} group by key_id
    ), key as (
      select api_key.id as key_id, status, limit_nano_usd,
        used_nano_usd + coalesce(unposted.nano_usd, 0) as used_nano_usd,
        held_nano_usd - coalesce(unposted.nano_usd, 0) as held_nano_usd
      from api_key left join unposted on unposted.key_id = api_key.id
      where organization_id = ${organization_id} and (deleted_at is null
        or deleted_at > weir_now() - ${SHOW_DELETED_MINUTES} * interval '1 minute')
      order by created_at desc, api_key.id desc limit ${MAX_KEYS}
    ), rest as (
      select coalesce(sum(nano_usd), 0)::int8 as nano_usd,
        coalesce(sum(uncharged), 0)::int8 as uncharged
      from unposted)
    select json_build_object('deposited', deposited_nano_usd, 'available',
        balance_nano_usd + rest.uncharged, 'held', held_nano_usd - rest.nano_usd,
        'used', settled_nano_usd + rest.nano_usd - rest.uncharged,
        'credit', credit_nano_usd) as balance,
      coalesce((select json_agg(key) from key), '[]') as keys
    from organization cross join rest where id = ${organization_id}`;
  return { balance: row?.balance, keys: row?.keys ?? [] };
}
