import type { Sql, TransactionSql } from 'postgres';
import type { KeyRefusal } from './schema.ts';

/** The most own keys of one organization that are not revoked. Each replica has them in memory. */
export const MAX_OWN_KEYS = 50;
/** The most own keys of one organization with the revoked ones, so that it cannot fill the database. */
export const MAX_OWN_KEYS_EVER = 1_000;

/** First part of the key of an advisory lock; the second part is the hash of the organization's id. */
const OWN_KEYS_LOCK = 7_302;

/** The account at a provider that an own key is for. */
interface OwnAccount {
  readonly protocol: string;
  readonly base_url: string;
  readonly dialect: string | null;
  readonly api_version: string | null;
}

/** What an organization can change of an own key. */
export interface OwnKeySettings {
  readonly name: string;
  /** Public model id → physical model id. */
  readonly models: Readonly<Record<string, string>>;
  /** Own keys with a lower number are tried first. */
  readonly priority: number;
}

/** An own key of an organization. */
export interface OwnKeyRow extends OwnAccount, OwnKeySettings {
  readonly id: string;
  readonly organization_id: string;
  /** The encrypted key; '' if it is revoked. */
  readonly sealed_key: string;
  readonly key_tested: boolean;
  readonly last_refusal: KeyRefusal | null;
  readonly created_at: Date;
  readonly rotated_at: Date;
  readonly revoked_at: Date | null;
}

/** A usable own key, with what its organization chose for all of them. */
export interface UsableOwnKey extends OwnKeyRow {
  readonly own_keys: 'only' | 'first';
}

/**
 * Returns the own keys that are not revoked, the oldest first: of one organization, or of all if
 * `organization_id` is undefined.
 */
export function readUsableKeys(sql: Sql, organization_id?: string): Promise<UsableOwnKey[]> {
  return sql<UsableOwnKey[]>`
    select upstream_key.*, organization.own_keys from upstream_key
    join organization on organization.id = organization_id
    where revoked_at is null
      ${organization_id === undefined ? sql`` : sql`and organization_id = ${organization_id}`}
    order by upstream_key.created_at, upstream_key.id`;
}

/** Returns all own keys of an organization, also the revoked ones, the oldest first. */
export function listOwnKeys(sql: Sql, organization_id: string): Promise<OwnKeyRow[]> {
  return sql<OwnKeyRow[]>`
    select * from upstream_key where organization_id = ${organization_id}
    order by created_at, id limit ${MAX_OWN_KEYS_EVER}`;
}

/** Finds an own key. A key of another organization is not found (P6). */
export async function findOwnKey(
  sql: Sql | TransactionSql,
  organization_id: string,
  id: string,
): Promise<OwnKeyRow | undefined> {
  const [row] = await sql<OwnKeyRow[]>`
    select * from upstream_key where id = ${id} and organization_id = ${organization_id}`;
  return row;
}

/** Like `findOwnKey`. Nobody else can change the key until the transaction ends. */
export async function lockOwnKey(
  tx: TransactionSql,
  organization_id: string,
  id: string,
): Promise<OwnKeyRow | undefined> {
  const [row] = await tx<OwnKeyRow[]>`
    select * from upstream_key where id = ${id} and organization_id = ${organization_id} for update`;
  return row;
}

/** A new own key. */
export type NewOwnKey = Omit<
  OwnKeyRow,
  'last_refusal' | 'created_at' | 'rotated_at' | 'revoked_at'
>;

/**
 * Adds an own key, and returns it. Returns undefined if the organization has as many as it may have.
 * A concurrent creation waits, so that both count the same rows.
 */
export async function insertOwnKey(
  tx: TransactionSql,
  { models, ...key }: NewOwnKey,
): Promise<OwnKeyRow | undefined> {
  await tx`select pg_advisory_xact_lock(${OWN_KEYS_LOCK}, hashtext(${key.organization_id}))`;
  const [owned] = await tx<{ usable: number; ever: number }[]>`
    select count(*) filter (where revoked_at is null)::int4 as usable, count(*)::int4 as ever
    from upstream_key where organization_id = ${key.organization_id}`;
  if (!owned || owned.usable >= MAX_OWN_KEYS || owned.ever >= MAX_OWN_KEYS_EVER) return undefined;
  const values = { ...key, models: tx.json(models) };
  const [row] = await tx<OwnKeyRow[]>`insert into upstream_key ${tx(values)} returning *`;
  return row;
}

/** Changes the settings of an own key that the transaction has locked. Returns the changed row. */
export async function updateOwnKey(
  tx: TransactionSql,
  id: string,
  { models, name, priority }: OwnKeySettings,
): Promise<OwnKeyRow> {
  return only(
    await tx<OwnKeyRow[]>`
      update upstream_key set ${tx({ models: tx.json(models), name, priority })}
      where id = ${id} returning *`,
  );
}

/** Replaces the key itself. An earlier refusal was of the old key, so it is forgotten. */
export async function rotateOwnKey(
  tx: TransactionSql,
  id: string,
  { sealed_key, key_tested }: Pick<OwnKeyRow, 'sealed_key' | 'key_tested'>,
): Promise<OwnKeyRow> {
  return only(
    await tx<OwnKeyRow[]>`
      update upstream_key set sealed_key = ${sealed_key}, key_tested = ${key_tested},
        rotated_at = weir_now(), last_refusal = null
      where id = ${id} returning *`,
  );
}

/** Revokes an own key: the key itself is deleted. */
export async function revokeOwnKey(tx: TransactionSql, id: string): Promise<OwnKeyRow> {
  return only(
    await tx<OwnKeyRow[]>`
      update upstream_key set sealed_key = '', revoked_at = weir_now()
      where id = ${id} returning *`,
  );
}

/** Stores why the provider refused a key; null after a test found that it is accepted. */
export async function storeRefusal(
  sql: Sql,
  id: string,
  refusal: Omit<KeyRefusal, 'at'> | null,
): Promise<void> {
  await sql`
    update upstream_key set last_refusal = case when ${refusal !== null} then
      jsonb_build_object('at', to_char(weir_now() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
        'model', ${refusal?.model ?? ''}::text, 'message', ${refusal?.message ?? ''}::text) end
    where id = ${id} and revoked_at is null`;
}

function only(rows: readonly OwnKeyRow[]): OwnKeyRow {
  const [row] = rows;
  if (!row) throw new Error('the database returned no row');
  return row;
}
