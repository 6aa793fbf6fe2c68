import type { Sql, TransactionSql } from 'postgres';
import { isRemoved, removeEntry } from './rules.ts';

/** What a key thinks of an entry. */
export interface CacheVote {
  readonly organization_id: string;
  /** The request whose answer the entry is, a UUID. */
  readonly entry_id: string;
  readonly key_id: string;
  readonly feedback_type: string;
  readonly description: string;
}

/** An entry is removed if one of so many keys that were served it says that it is bad. */
const KEYS_PER_BAD_VOTE = 3;

/**
 * Returns the entry that a client names, as the UUID of the request that made it; undefined if the
 * organization has no such call within `keep_ms`, the longest life of an entry. `request_id` is the
 * request that made the entry, or one that was answered from it.
 */
export async function findCacheEntry(
  sql: Sql | TransactionSql,
  organization_id: string,
  request_id: string,
  keep_ms: number,
): Promise<string | undefined> {
  const since = sql`weir_now() - ${keep_ms} * interval '1 ms'`;
  const entry_id = sql`'ce_' || replace(${request_id}::text, '-', '')`;
  const [row] = await sql<{ cache_entry_id: string | null }[]>`
    select detail->>'cache_entry_id' as cache_entry_id from usage_line
    where id = ${request_id} and organization_id = ${organization_id} and at > ${since}
    union all
    select detail->>'cache_entry_id' from call_record
    where id = ${request_id} and organization_id = ${organization_id} and at > ${since}
      and detail->>'cache_entry_id' is not null
    union all
    (select detail->>'cache_entry_id' from call_record
    where detail->>'cache_entry_id' = ${entry_id} and organization_id = ${organization_id}
      and at > ${since} limit 1)
    union all
    (select detail->>'cache_entry_id' from usage_line
    where detail->>'cache_entry_id' = ${entry_id} and organization_id = ${organization_id}
      and at > ${since} limit 1)
    limit 1`;
  if (!row) return undefined;
  return row.cache_entry_id?.replace(/^ce_(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-') ?? request_id;
}

/** Returns the keys that got the answer of an entry: of the request that made it, and of later ones. */
export async function findServedKeys(
  sql: Sql | TransactionSql,
  organization_id: string,
  entry_id: string,
): Promise<Set<string>> {
  const shown = sql`'ce_' || replace(${entry_id}::text, '-', '')`;
  const rows = await sql<{ key_id: string }[]>`
    select key_id from usage_line where id = ${entry_id} and organization_id = ${organization_id}
    union
    select key_id from call_record where detail->>'cache_entry_id' = ${shown}
      and organization_id = ${organization_id}
    union
    select key_id from usage_line where detail->>'cache_entry_id' = ${shown}
      and organization_id = ${organization_id}`;
  return new Set(rows.map(({ key_id }) => key_id));
}

/**
 * Stores a vote; a later vote of the same key takes its place. If a third of the keys that were served the
 * entry, and at least one, say that it is bad, removes it. The votes of other keys do not count. Returns true
 * if the entry is removed. The transaction must have called `lockRules`; the caller must announce a removal.
 */
export async function castVote(
  tx: TransactionSql,
  vote: CacheVote,
  keep_ms: number,
): Promise<boolean> {
  const { organization_id, entry_id, key_id, feedback_type, description } = vote;
  await tx`
    insert into cache_vote
      (organization_id, entry_id, key_id, feedback_type, description, at, keep_until)
    values (${organization_id}, ${entry_id}, ${key_id}, ${feedback_type}, ${description},
      weir_now(), weir_now() + ${keep_ms} * interval '1 ms')
    on conflict (organization_id, entry_id, key_id) do update set
      feedback_type = excluded.feedback_type, description = excluded.description,
      at = excluded.at, keep_until = excluded.keep_until`;
  const served = await findServedKeys(tx, organization_id, entry_id);
  const votes = await tx<{ key_id: string }[]>`
    select key_id from cache_vote
    where organization_id = ${organization_id} and entry_id = ${entry_id}
      and feedback_type <> 'good'`;
  const bad = votes.filter((each) => served.has(each.key_id)).length;
  if (bad === 0 || bad * KEYS_PER_BAD_VOTE < served.size) {
    // A vote never brings an entry back.
    return isRemoved(tx, organization_id, entry_id);
  }
  await removeEntry(tx, organization_id, entry_id, keep_ms);
  return true;
}
