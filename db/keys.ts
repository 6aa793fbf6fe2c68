import { eq, sql } from 'drizzle-orm';
import type { Orm } from './client.ts';
import { apiKey, organization } from './schema.ts';

/** PostgreSQL channel on which a changed key is announced; the payload is the key's id. */
export const KEY_CHANNEL = 'weir_key_changed';

/** More keys than this an organization does not have; the list is not paginated (spec). */
export const MAX_KEYS_PER_ORGANIZATION = 10_000;

/** Names this use of PostgreSQL's two-part advisory locks; the other part is an organization. */
const KEY_CREATION_LOCK = 7_301;

type KeyStatus = (typeof apiKey.status.enumValues)[number];

/** A key as authentication needs it. */
export interface KeyRecord {
  id: string;
  organization_id: string;
  status: KeyStatus;
  models: string[];
  expires_at: Date | null;
  requests_per_minute: number | null;
  role: string;
}

/** By the SHA-256 of the full key, hex. */
export async function findKeyByHash(orm: Orm, hash: string): Promise<KeyRecord | undefined> {
  const [row] = await selectKeys(orm).where(eq(apiKey.key_hash, hash)).limit(1);
  return row;
}

export async function findKeyById(orm: Orm, id: string): Promise<KeyRecord | undefined> {
  const [row] = await selectKeys(orm).where(eq(apiKey.id, id)).limit(1);
  return row;
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
      role: organization.role,
    })
    .from(apiKey)
    .innerJoin(organization, eq(organization.id, apiKey.organization_id))
    .$dynamic();
}

/** A key as the management interface shows it; amounts in nano-USD. */
export interface ManagedKey {
  id: string;
  name: string;
  key_prefix: string;
  status: KeyStatus;
  limit_nano_usd: number | null;
  used_nano_usd: number;
  models: string[];
  expires_at: Date | null;
  last_used_at: Date | null;
  created_at: Date;
}

/**
 * Charges of open grants that are not posted to the key yet count as used (P1). Written out,
 * because Drizzle leaves table names off where one table is selected from.
 */
const usedSoFar = sql<number>`(api_key.used_nano_usd + coalesce((
  select sum(settled_nano_usd - posted_nano_usd) from quota_grant
  where quota_grant.key_id = api_key.id and quota_grant.status = 'open'), 0))::int8`;

const lastUse = sql<Date | null>`(
  select max(usage_line.created_at) from usage_line where usage_line.key_id = api_key.id)`;

const managed = {
  id: apiKey.id,
  name: apiKey.name,
  key_prefix: apiKey.key_prefix,
  status: apiKey.status,
  limit_nano_usd: apiKey.limit_nano_usd,
  used_nano_usd: usedSoFar,
  models: apiKey.models,
  expires_at: apiKey.expires_at,
  last_used_at: lastUse,
  created_at: apiKey.created_at,
};

export function listKeys(orm: Orm, organization_id: string): Promise<ManagedKey[]> {
  return orm
    .select(managed)
    .from(apiKey)
    .where(eq(apiKey.organization_id, organization_id))
    .orderBy(apiKey.created_at, apiKey.id)
    .limit(MAX_KEYS_PER_ORGANIZATION);
}

/** A key of this organization; a stranger's is not found (P6). */
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

export interface NewKey {
  id: string;
  organization_id: string;
  name: string;
  key_hash: string;
  key_prefix: string;
  limit_nano_usd: number | null;
  models: string[];
  expires_at: Date | null;
}

/** False if the organization has as many keys as it may have. */
export async function insertKey(orm: Orm, key: NewKey): Promise<boolean> {
  return orm.transaction(async (tx) => {
    // One creation at a time, or many at once would all count the same. Not the organization's row:
    // money moves under that lock.
    await tx.execute(
      sql`select pg_advisory_xact_lock(${KEY_CREATION_LOCK}, hashtext(${key.organization_id}))`,
    );
    const owned = await tx.$count(apiKey, eq(apiKey.organization_id, key.organization_id));
    if (owned >= MAX_KEYS_PER_ORGANIZATION) return false;
    await tx.insert(apiKey).values({ ...key, ceiling_nano_usd: key.limit_nano_usd });
    return true;
  });
}

export interface KeyChanges {
  name?: string;
  status?: KeyStatus;
  limit_nano_usd?: number | null;
  models?: string[];
  expires_at?: Date | null;
}

/**
 * Changes a key of this organization and announces it to every replica with the commit. A limit
 * below what is out is kept as said; the enforced ceiling follows as money comes back (design 4).
 * Returns false if there is no such key, or if it is revoked and should not be: revoked is final.
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
  const stays =
    changes.status && changes.status !== 'revoked' ? sql`${apiKey.status} <> 'revoked'` : sql`true`;
  return orm.transaction(async (tx) => {
    const rows = await tx
      .update(apiKey)
      .set({ ...changes, ...ceiling })
      .where(
        sql`${apiKey.id} = ${id} and ${apiKey.organization_id} = ${organization_id} and ${stays}`,
      )
      .returning({ id: apiKey.id });
    if (rows.length === 0) return false;
    await tx.execute(sql`select pg_notify(${KEY_CHANNEL}, ${id})`);
    return true;
  });
}
