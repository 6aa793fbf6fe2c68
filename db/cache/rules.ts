import type { Sql, TransactionSql } from 'postgres';

/**
 * The most removed entries of one organization that the replicas remember. With one more, all its entries
 * are purged: then no removed entry can come back, and none needs to be remembered.
 */
const MAX_REMOVALS = 10_000;
/** First part of the key of an advisory lock; the second part is the hash of the organization's id. */
const CACHE_LOCK = 7_303;

/** Which entries of an organization must not be sent again. */
export interface RulesRow {
  readonly organization_id: string;
  /** The purges of each model; '' = those of all models. */
  readonly generations: Readonly<Record<string, number>>;
  /** The requests whose answers were removed. */
  readonly removed: readonly string[];
}

/** Returns the rules of an organization, or of all organizations that have some if the id is null. */
export function readRules(sql: Sql, organization_id: string | null): Promise<RulesRow[]> {
  const one = organization_id === null ? sql`true` : sql`organization_id = ${organization_id}`;
  return sql<RulesRow[]>`
    select coalesce(purged.organization_id, removed.organization_id) as organization_id,
      coalesce(generations, '{}') as generations, coalesce(ids, '{}') as removed
    from (
      select organization_id, jsonb_object_agg(model_id, generation) as generations
      from cache_generation where ${one} group by organization_id
    ) as purged full join (
      select organization_id, array_agg(entry_id::text) as ids
      from cache_removal where ${one} and keep_until > weir_now() group by organization_id
    ) as removed using (organization_id)`;
}

/** Waits until no other transaction changes the rules of the organization. */
export async function lockRules(tx: TransactionSql, organization_id: string): Promise<void> {
  await tx`select pg_advisory_xact_lock(${CACHE_LOCK}, hashtext(${organization_id}))`;
}

/**
 * Makes all entries of an organization useless, or those of one model. The transaction must have called
 * `lockRules`. The caller must announce the change after the commit.
 */
export async function purgeEntries(
  tx: TransactionSql,
  organization_id: string,
  model_id: string | null,
): Promise<void> {
  await tx`
    insert into cache_generation as purged (organization_id, model_id, generation)
    values (${organization_id}, ${model_id ?? ''}, 1)
    on conflict (organization_id, model_id) do update set generation = purged.generation + 1`;
  // No entry of an earlier generation is found any more, so the removed ones need no rows.
  if (model_id === null)
    await tx`delete from cache_removal where organization_id = ${organization_id}`;
}

/**
 * Removes an entry for `keep_ms`, the longest life of an entry. The transaction must have called
 * `lockRules`. The caller must announce the change after the commit.
 */
export async function removeEntry(
  tx: TransactionSql,
  organization_id: string,
  entry_id: string,
  keep_ms: number,
): Promise<void> {
  const [row] = await tx<{ removals: number }[]>`
    select count(*)::int4 as removals from cache_removal
    where organization_id = ${organization_id} and keep_until > weir_now()`;
  if ((row?.removals ?? 0) >= MAX_REMOVALS) return purgeEntries(tx, organization_id, null);
  await tx`
    insert into cache_removal (organization_id, entry_id, keep_until)
    values (${organization_id}, ${entry_id}, weir_now() + ${keep_ms} * interval '1 ms')
    on conflict do nothing`;
}

/** True if an entry was removed. */
export async function isRemoved(
  tx: TransactionSql,
  organization_id: string,
  entry_id: string,
): Promise<boolean> {
  const { count } = await tx`
    select from cache_removal
    where organization_id = ${organization_id} and entry_id = ${entry_id}`;
  return count > 0;
}

/** Deletes at most `limit` votes and removals of entries that cannot be alive any more. */
export async function deleteOldRules(sql: Sql, limit: number): Promise<void> {
  await sql`
    delete from cache_vote where (organization_id, entry_id, key_id) in (
      select organization_id, entry_id, key_id from cache_vote
      where keep_until < weir_now() order by keep_until limit ${limit})`;
  await sql`
    delete from cache_removal where (organization_id, entry_id) in (
      select organization_id, entry_id from cache_removal
      where keep_until < weir_now() order by keep_until limit ${limit})`;
}
