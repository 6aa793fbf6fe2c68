import { and, eq, inArray, sql } from 'drizzle-orm';
import type { Orm } from './client.ts';
import { apiKey, organization } from './schema.ts';

/**
 * The most keys of one organization. The list of keys has no pages, so it must be limited (spec).
 */
export const MAX_KEYS_PER_ORGANIZATION = 10_000;

/**
 * First part of the key of an advisory lock; the second part is the hash of the organization's id.
 */
const KEY_CREATION_LOCK = 7_301;

type ImageResponseFormat = 'url' | 'b64_json';
type KeyStatus = (typeof apiKey.status.enumValues)[number];

/** The columns of a key that authentication needs. */
export interface KeyRecord {
  id: string;
  organization_id: string;
  status: KeyStatus;
  models: string[];
  expires_at: Date | null;
  requests_per_minute: number | null;
  /** The time for a whole call if the client sets none, ms; null = no limit. */
  timeout_ms: number | null;
  /** `response_format` of image calls that send none; null = `url`. */
  image_response_format: ImageResponseFormat | null;
  role: string;
}

/** Finds a key by the SHA-256 of the full key, as hex. */
export async function findKeyByHash(orm: Orm, hash: string): Promise<KeyRecord | undefined> {
  const [row] = await selectKeys(orm).where(eq(apiKey.key_hash, hash)).limit(1);
  return row;
}

/** Finds a key of any organization by its id. */
export async function findKeyById(orm: Orm, id: string): Promise<KeyRecord | undefined> {
  const [row] = await selectKeys(orm).where(eq(apiKey.id, id)).limit(1);
  return row;
}

/** The most ids in one query. */
const MAX_IDS_OF_READ = 10_000;

/**
 * Returns the keys in `ids` whose grants must shrink: keys that are not active, and keys whose
 * limit is below their used and held money.
 */
export async function findRestrictedKeys(
  orm: Orm,
  ids: readonly string[],
): Promise<{ id: string; status: KeyStatus }[]> {
  const found: { id: string; status: KeyStatus }[] = [];
  for (let start = 0; start < ids.length; start += MAX_IDS_OF_READ) {
    const rows = await orm
      .select({ id: apiKey.id, status: apiKey.status })
      .from(apiKey)
      .where(
        and(
          inArray(apiKey.id, ids.slice(start, start + MAX_IDS_OF_READ)),
          sql`(${apiKey.status} <> 'active' or ${apiKey.ceiling_nano_usd} > ${apiKey.limit_nano_usd})`,
        ),
      );
    found.push(...rows);
  }
  return found;
}

function selectKeys(orm: Orm) {
  return orm
    .select({
      id: apiKey.id,
      organization_id: apiKey.organization_id,
      status: apiKey.status,
      models: apiKey.models,
      expires_at: apiKey.expires_at,
      requests_per_minute: apiKey.requests_per_minute,
      timeout_ms: apiKey.timeout_ms,
      image_response_format: apiKey.image_response_format,
      role: organization.role,
    })
    .from(apiKey)
    .innerJoin(organization, eq(organization.id, apiKey.organization_id))
    .$dynamic();
}

/** A key as the management API shows it. Amounts are in nano-USD. */
export interface ManagedKey {
  id: string;
  name: string;
  key_prefix: string;
  status: KeyStatus;
  limit_nano_usd: number | null;
  used_nano_usd: number;
  models: string[];
  /** The time for a whole call if the client sets none, ms; null = no limit. */
  timeout_ms: number | null;
  image_response_format: ImageResponseFormat | null;
  expires_at: Date | null;
  last_used_at: Date | null;
  created_at: Date;
}

/**
 * The nano-USD that a key has used. The sum includes charges of open grants that are not posted yet
 * (P1). This is written as SQL, because Drizzle omits table names in a query of one table.
 */
const usedSoFar = sql<number>`(api_key.used_nano_usd + coalesce((
  select sum(settled_nano_usd - posted_nano_usd) from quota_grant
  where quota_grant.key_id = api_key.id and quota_grant.status = 'open'), 0))::int8`;

/** The time of the key's last usage line, also if that is removed; null if it has none. */
const lastUse = sql<Date | null>`greatest(
  (select max(usage_line.at) from usage_line where usage_line.key_id = api_key.id),
  (select max(closed_charge.last_at) from closed_charge where closed_charge.key_id = api_key.id))`;

const managed = {
  id: apiKey.id,
  name: apiKey.name,
  key_prefix: apiKey.key_prefix,
  status: apiKey.status,
  limit_nano_usd: apiKey.limit_nano_usd,
  used_nano_usd: usedSoFar,
  models: apiKey.models,
  timeout_ms: apiKey.timeout_ms,
  image_response_format: apiKey.image_response_format,
  expires_at: apiKey.expires_at,
  last_used_at: lastUse,
  created_at: apiKey.created_at,
};

/** Returns the keys of an organization, the oldest first. */
export function listKeys(orm: Orm, organization_id: string): Promise<ManagedKey[]> {
  return orm
    .select(managed)
    .from(apiKey)
    .where(eq(apiKey.organization_id, organization_id))
    .orderBy(apiKey.created_at, apiKey.id)
    .limit(MAX_KEYS_PER_ORGANIZATION);
}

/** Finds a key by its id. A key of another organization is not found (P6). */
export async function findManagedKey(
  orm: Orm,
  organization_id: string,
  id: string,
): Promise<ManagedKey | undefined> {
  const [row] = await orm
    .select(managed)
    .from(apiKey)
    .where(sql`${apiKey.id} = ${id} and ${apiKey.organization_id} = ${organization_id}`);
  return row;
}

/** A new key. Amounts are in nano-USD. */
export interface NewKey {
  id: string;
  organization_id: string;
  name: string;
  key_hash: string;
  key_prefix: string;
  limit_nano_usd: number | null;
  models: string[];
  /** The time for a whole call if the client sets none, ms; null or missing = no limit. */
  timeout_ms?: number | null;
  image_response_format?: ImageResponseFormat | null;
  expires_at: Date | null;
}

/**
 * Inserts a key. Returns false if the organization already has `MAX_KEYS_PER_ORGANIZATION` keys.
 */
export async function insertKey(orm: Orm, key: NewKey): Promise<boolean> {
  return orm.transaction(async (tx) => {
    // Without a lock, concurrent creations would all read the same count. The organization's row is
    // not locked, because ledger commands would have to wait for that lock.
    await tx.execute(
      sql`select pg_advisory_xact_lock(${KEY_CREATION_LOCK}, hashtext(${key.organization_id}))`,
    );
    const owned = await tx.$count(apiKey, eq(apiKey.organization_id, key.organization_id));
    if (owned >= MAX_KEYS_PER_ORGANIZATION) return false;
    await tx.insert(apiKey).values({ ...key, ceiling_nano_usd: key.limit_nano_usd });
    return true;
  });
}

/** The columns to change. A column whose member is missing keeps its value. */
export interface KeyChanges {
  name?: string;
  status?: KeyStatus;
  limit_nano_usd?: number | null;
  models?: string[];
  timeout_ms?: number | null;
  image_response_format?: ImageResponseFormat | null;
  expires_at?: Date | null;
}

/**
 * Changes a key of this organization. The caller must then notify all replicas. If the new limit is
 * below the used and held money, the ceiling is first the used and held money. Each return of held
 * money lowers the ceiling, until it equals the limit. Returns false if there is no such key, or if
 * a revoked key would become usable again.
 */
export async function updateKey(
  orm: Orm,
  organization_id: string,
  id: string,
  changes: KeyChanges,
): Promise<boolean> {
  const { limit_nano_usd: limit } = changes;
  const ceiling =
    limit === undefined
      ? {}
      : {
          ceiling_nano_usd:
            limit === null
              ? null
              : sql`greatest(${limit}::int8, ${apiKey.used_nano_usd} + ${apiKey.held_nano_usd})`,
        };
  const mayChange =
    changes.status && changes.status !== 'revoked' ? sql`${apiKey.status} <> 'revoked'` : sql`true`;
  const rows = await orm
    .update(apiKey)
    .set({ ...changes, ...ceiling })
    .where(
      sql`${apiKey.id} = ${id} and ${apiKey.organization_id} = ${organization_id} and ${mayChange}`,
    )
    .returning({ id: apiKey.id });
  return rows.length > 0;
}
