import type { Tags } from './budgets/tags.ts';
import type { Sql, TransactionSql } from './client.ts';
import type { apiKey } from './schema.ts';

/**
 * The most keys of one organization. The list of keys has no pages, so it must be limited (spec).
 * Deleted keys do not count.
 */
export const MAX_KEYS_PER_ORGANIZATION = 10_000;

/** The most keys of one organization with the deleted ones, so that it cannot fill the database. */
export const MAX_KEYS_EVER = 100_000;

/**
 * First part of the key of an advisory lock; the second part is the hash of the organization's id.
 */
const KEY_CREATION_LOCK = 7_301;

/** The name of the index that keeps `external_id` unique in an organization. */
export const EXTERNAL_ID_INDEX = 'api_key_by_external_id';

type KeyStatus = (typeof apiKey.status.enumValues)[number];

/** What an organization chooses for a key. Amounts are in nano-USD. */
interface KeySettings {
  readonly name: string;
  readonly limit_nano_usd: number | null;
  /** What the limit counts of a call on an own key: the charge, or the list price. */
  readonly cap_counts: 'charged' | 'list';
  readonly models: readonly string[];
  readonly tags: readonly string[];
  /** Tags of each call with the key, which its client cannot change. */
  readonly call_tags: Tags;
  readonly external_id: string | null;
  /** The key's own limit; the limit of the role applies too. null = only the limit of the role. */
  readonly requests_per_minute: number | null;
  readonly limits: (typeof apiKey.$inferSelect)['limits'];
  /** The time for a whole call if the client sets none, ms; null = no limit. */
  readonly timeout_ms: number | null;
  readonly image_response_format: 'url' | 'b64_json' | null;
  readonly expires_at: Date | null;
}

/** A key as the management API shows it. Amounts are in nano-USD. */
export interface ManagedKey extends KeySettings {
  readonly id: string;
  readonly key_prefix: string;
  readonly status: KeyStatus;
  readonly used_nano_usd: number;
  /** What running calls and tasks may still charge. */
  readonly held_nano_usd: number;
  readonly last_used_at: Date | null;
  readonly created_at: Date;
  /** When the secret before the last rotation ends or ended; null if the key was never rotated. */
  readonly previous_until: Date | null;
  /** Set if the key was deleted. */
  readonly deleted_at: Date | null;
}

/** What open grants of a key have charged, but not posted, nano-USD. */
const unposted = (sql: Sql | TransactionSql) => sql`coalesce((
    select sum(settled_nano_usd - posted_nano_usd) from quota_grant
    where quota_grant.key_id = api_key.id and quota_grant.status = 'open'), 0)`;

/**
 * The columns of `ManagedKey`. The used money includes charges of open grants that are not posted yet
 * (P1), and the held money does not. The last use is the time of the last usage line, also if that is removed.
 */
const columns = (sql: Sql | TransactionSql) => sql`
  id, name, key_prefix, status, limit_nano_usd, cap_counts, models, tags, call_tags, external_id,
  requests_per_minute, limits, timeout_ms, image_response_format, expires_at, created_at, previous_until, deleted_at,
  (used_nano_usd + ${unposted(sql)})::int8 as used_nano_usd,
  (held_nano_usd - ${unposted(sql)})::int8 as held_nano_usd,
  greatest(
    (select max(usage_line.at) from usage_line where usage_line.key_id = api_key.id),
    (select max(closed_charge.last_at) from closed_charge where closed_charge.key_id = api_key.id)
  ) as last_used_at`;

/** The keys that a list has. A missing member means all. */
export interface KeyFilter {
  readonly status?: KeyStatus | undefined;
  readonly external_id?: string | undefined;
  readonly tag?: string | undefined;
}

/** Returns the keys of an organization that are not deleted, the oldest first. */
export function listKeys(
  sql: Sql,
  organization_id: string,
  { status, external_id, tag }: KeyFilter,
): Promise<ManagedKey[]> {
  return sql<ManagedKey[]>`
    select ${columns(sql)} from api_key
    where organization_id = ${organization_id} and deleted_at is null
      ${status === undefined ? sql`` : sql`and status = ${status}`}
      ${external_id === undefined ? sql`` : sql`and external_id = ${external_id}`}
      ${tag === undefined ? sql`` : sql`and ${tag} = any(tags)`}
    order by created_at, id limit ${MAX_KEYS_PER_ORGANIZATION}`;
}

/**
 * Finds a key of an organization by its id, also a deleted one. A key of another organization is not
 * found (P6).
 */
export async function findManagedKey(
  sql: Sql | TransactionSql,
  organization_id: string,
  id: string,
): Promise<ManagedKey | undefined> {
  const [row] = await sql<ManagedKey[]>`
    select ${columns(sql)} from api_key where id = ${id} and organization_id = ${organization_id}`;
  return row;
}

/** Like `findManagedKey`. Nobody else can change the key until the transaction ends. */
export async function lockManagedKey(
  tx: TransactionSql,
  organization_id: string,
  id: string,
): Promise<ManagedKey | undefined> {
  const [row] = await tx<ManagedKey[]>`
    select ${columns(tx)} from api_key
    where id = ${id} and organization_id = ${organization_id} for update of api_key`;
  return row;
}

/** A new key, with the hash of its secret. */
export interface NewKey extends KeySettings {
  readonly id: string;
  readonly organization_id: string;
  readonly key_hash: string;
  readonly key_prefix: string;
}

/**
 * Inserts a key and returns it. If the organization already has as many keys as it may have, or
 * `MAX_KEYS_EVER` with the deleted ones, returns the most keys that it may have. Fails with a unique
 * violation of `EXTERNAL_ID_INDEX` if another
 * key of the organization has the external id.
 */
export async function insertKey(tx: TransactionSql, key: NewKey): Promise<ManagedKey | number> {
  // Without a lock, concurrent creations would all read the same count. The organization's row is
  // not locked, because ledger commands would have to wait for that lock.
  await tx`select pg_advisory_xact_lock(${KEY_CREATION_LOCK}, hashtext(${key.organization_id}))`;
  const [owned] = await tx<{ listed: number; ever: number; max_keys: number }[]>`
    select count(api_key.id) filter (where deleted_at is null) as listed,
      count(api_key.id) as ever,
      least(organization.max_keys, ${MAX_KEYS_PER_ORGANIZATION}::int4) as max_keys
    from organization left join api_key on api_key.organization_id = organization.id
    where organization.id = ${key.organization_id} group by organization.id`;
  if (!owned) throw new Error(`there is no organization ${key.organization_id}`);
  if (owned.listed >= owned.max_keys || owned.ever >= MAX_KEYS_EVER) return owned.max_keys;
  const columns = {
    ...key,
    ceiling_nano_usd: key.limit_nano_usd,
    limits: tx.json(key.limits as never),
    call_tags: tx.json(key.call_tags),
  };
  await tx`insert into api_key ${tx(columns as never)}`;
  const inserted = await findManagedKey(tx, key.organization_id, key.id);
  if (!inserted) throw new Error('the database returned no row');
  return inserted;
}

/** The columns to change. A column whose member is missing keeps its value. */
export type KeyChanges = Partial<KeySettings & Pick<ManagedKey, 'status'>>;

/**
 * Changes a key that the transaction has locked. After the commit, the caller must notify all replicas.
 * If the new limit is below the used and held money, the ceiling is first the used and held money. Each
 * return of held money lowers the ceiling, until it equals the limit. Fails like `insertKey`.
 */
export async function updateKey(
  tx: TransactionSql,
  organization_id: string,
  id: string,
  changes: KeyChanges,
): Promise<void> {
  const { limit_nano_usd: limit, limits, call_tags } = changes;
  const columns = {
    ...changes,
    ...(limits && { limits: tx.json(limits as never) }),
    ...(call_tags && { call_tags: tx.json(call_tags) }),
  };
  const ceiling =
    limit === undefined
      ? tx``
      : tx`, ceiling_nano_usd = case when ${limit}::int8 is not null
          then greatest(${limit}::int8, used_nano_usd + held_nano_usd) end`;
  await tx`
    update api_key set ${tx(columns as never)} ${ceiling}
    where id = ${id} and organization_id = ${organization_id}`;
}

/**
 * Deletes a key that the transaction has locked: it is revoked, and in no list any more. What it spent
 * stays on record. After the commit, the caller must notify all replicas.
 */
export async function deleteKey(
  tx: TransactionSql,
  organization_id: string,
  id: string,
): Promise<void> {
  await tx`
    update api_key set status = 'revoked', deleted_at = weir_now()
    where id = ${id} and organization_id = ${organization_id} and deleted_at is null`;
}

/** The secret that replaces the one of a key. */
export interface NewSecret {
  readonly key_hash: string;
  readonly key_prefix: string;
  /** How long the replaced secret stays valid, seconds. */
  readonly grace_s: number;
}

/**
 * Replaces the secret of a key that the transaction has locked. If an earlier secret was still valid, it
 * ends. After the commit, the caller must notify all replicas.
 */
export async function replaceKeySecret(
  tx: TransactionSql,
  organization_id: string,
  id: string,
  { key_hash, key_prefix, grace_s }: NewSecret,
): Promise<void> {
  await tx`
    update api_key set previous_key_hash = key_hash, key_hash = ${key_hash},
      key_prefix = ${key_prefix}, previous_until = weir_now() + ${grace_s} * interval '1 second'
    where id = ${id} and organization_id = ${organization_id}`;
}
