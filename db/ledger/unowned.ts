import type { Sql } from 'postgres';

/** Money that is set aside, and that nobody will ever charge or free. */
export interface UnownedMoney {
  what: string;
  /** Id of the grant or hold. */
  id: string;
  nano_usd: number;
}

/** An open grant of a replica; amounts in nano-USD. */
export interface OpenGrant {
  id: string;
  key_id: string;
  organization_id: string;
  granted_nano_usd: number;
  settled_nano_usd: number;
}

/**
 * Returns money without a living owner, at most 100 rows, from one database snapshot:
 *
 * - open grants of replicas whose lease ended more than a minute ago: nobody reaped them;
 * - holds whose actor has ended or never existed. A hold and its actor begin and end in the same
 *   transaction.
 */
export function findUnownedMoney(sql: Sql): Promise<UnownedMoney[]> {
  return sql<UnownedMoney[]>`
    select 'grant of a dead replica' as what, quota_grant.id::text,
      granted_nano_usd - settled_nano_usd as nano_usd
    from quota_grant join replica on replica.id = replica_id
    where quota_grant.status = 'open' and lease_until < weir_now() - interval '1 minute'
    union all
    select 'hold without an actor', hold.id::text, amount_nano_usd from hold
    where hold.status = 'held' and not exists (select 1 from actor
      where actor.kind in ('task', 'batch') and actor.id = hold.reference and live)
    limit 100`;
}

/** Returns the open grants of a replica. */
export function findOpenGrants(sql: Sql, replica_id: string): Promise<OpenGrant[]> {
  return sql<OpenGrant[]>`
    select id::text, key_id, organization_id, granted_nano_usd, settled_nano_usd
    from quota_grant where status = 'open' and replica_id = ${replica_id}`;
}
