import { and, eq, inArray, or, sql } from 'drizzle-orm';
import type { Tags } from './budgets/tags.ts';
import type { Orm, Sql } from './client.ts';
import { apiKey, organization } from './schema.ts';

type ImageResponseFormat = 'url' | 'b64_json';
type KeyStatus = (typeof apiKey.status.enumValues)[number];
type CapCounts = (typeof apiKey.cap_counts.enumValues)[number];
type CacheScope = (typeof organization.cache_scope.enumValues)[number];
type OrganizationStatus = (typeof organization.status.enumValues)[number];

/** The columns of a key that authentication needs. */
export interface KeyRecord {
  id: string;
  organization_id: string;
  status: KeyStatus;
  models: string[];
  expires_at: Date | null;
  requests_per_minute: number | null;
  limits: (typeof apiKey.$inferSelect)['limits'];
  /** The time for a whole call if the client sets none, ms; null = no limit. */
  timeout_ms: number | null;
  /** `response_format` of image calls that send none; null = `url`. */
  image_response_format: ImageResponseFormat | null;
  /** The rate-limit role of the organization. */
  role: string;
  organization_status: OrganizationStatus;
  /** The organization's own limit of requests per minute; null = that of its role. */
  organization_requests_per_minute: number | null;
  /** What the key's cap counts of a call on an own key. */
  cap_counts: CapCounts;
  /** Who shares answers of the cache: all keys of the organization, or each key alone. */
  cache_scope: CacheScope;
  /** Tags of each call with the key, which its client cannot change. */
  call_tags: Tags;
  /** True if the key was found by the secret before its rotation. Then `expires_at` is that secret's. */
  is_previous_secret: boolean;
}

/** Finds a key by the SHA-256 of the full key, as hex. The key before a rotation is found too. */
export async function findKeyByHash(orm: Orm, hash: string): Promise<KeyRecord | undefined> {
  const [row] = await selectKeys(orm)
    .where(or(eq(apiKey.key_hash, hash), eq(apiKey.previous_key_hash, hash)))
    .limit(1);
  if (!row) return undefined;
  const { key_hash, previous_until, ...record } = row;
  return key_hash === hash ? record : previousSecretOf(record, previous_until);
}

/** Returns a key as its previous secret finds it. */
function previousSecretOf(record: KeyRecord, until: Date | null): KeyRecord {
  const ends = [record.expires_at, until].filter((end) => end !== null).map(Number);
  return { ...record, is_previous_secret: true, expires_at: new Date(Math.min(...ends)) };
}

/** Finds a key of any organization by its id. */
export async function findKeyById(orm: Orm, id: string): Promise<KeyRecord | undefined> {
  const [row] = await selectKeys(orm).where(eq(apiKey.id, id)).limit(1);
  if (!row) return undefined;
  const { key_hash: _hash, previous_until: _until, ...record } = row;
  return record;
}

/** Returns the names of keys, and the starts of their secrets, by their ids. */
export async function readShownKeys(
  sql: Sql,
  ids: readonly string[],
): Promise<ReadonlyMap<string, { readonly name: string; readonly key_prefix: string }>> {
  const rows = await sql<{ id: string; name: string; key_prefix: string }[]>`
    select id, name, key_prefix from api_key where id = any(${ids as string[]})`;
  return new Map(rows.map((row) => [row.id, row]));
}

/** What a quota actor must know of a key whose grants must shrink. */
type RestrictedKey = Pick<KeyRecord, 'id' | 'status' | 'organization_status'>;

/** The most ids in one query. */
const MAX_IDS_OF_READ = 10_000;

/**
 * Returns the keys in `ids` whose grants must shrink: keys that are not active or whose organization is
 * not, and keys whose limit is below their used and held money.
 */
export async function findRestrictedKeys(
  orm: Orm,
  ids: readonly string[],
): Promise<RestrictedKey[]> {
  const found: RestrictedKey[] = [];
  for (let start = 0; start < ids.length; start += MAX_IDS_OF_READ) {
    const rows = await orm
      .select({
        id: apiKey.id,
        status: apiKey.status,
        organization_status: organization.status,
      })
      .from(apiKey)
      .innerJoin(organization, eq(organization.id, apiKey.organization_id))
      .where(
        and(
          inArray(apiKey.id, ids.slice(start, start + MAX_IDS_OF_READ)),
          sql`(${apiKey.status} <> 'active' or ${organization.status} <> 'active'
            or ${apiKey.ceiling_nano_usd} > ${apiKey.limit_nano_usd})`,
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
      limits: apiKey.limits,
      timeout_ms: apiKey.timeout_ms,
      image_response_format: apiKey.image_response_format,
      role: organization.role,
      organization_status: organization.status,
      organization_requests_per_minute: organization.requests_per_minute,
      cap_counts: apiKey.cap_counts,
      cache_scope: organization.cache_scope,
      call_tags: apiKey.call_tags,
      is_previous_secret: sql<boolean>`false`,
      key_hash: apiKey.key_hash,
      previous_until: apiKey.previous_until,
    })
    .from(apiKey)
    .innerJoin(organization, eq(organization.id, apiKey.organization_id))
    .$dynamic();
}
