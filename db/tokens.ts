/** Management tokens, each of an organization, and operator tokens, of the installation. */
import type { Sql, TransactionSql } from './client.ts';
import { type Page, type PageRequest, pageBounds, pageOf, pageOrder, positionOf } from './pages.ts';

/** The most valid tokens of one organization, and of the installation. */
export const MAX_VALID_TOKENS = 1_000;
/** The most tokens with those that have ended, so that nobody can fill the database. */
export const MAX_TOKENS_EVER = 100_000;

/**
 * First part of the key of an advisory lock; the second part is the hash of the organization's id.
 */
const TOKEN_LOCK = 7_303;

/** The organization whose management tokens are meant; null = the operator tokens. */
type Owner = string | null;

type TokenStatus = 'active' | 'expired' | 'revoked';

/** What the owner of a token chooses. */
interface TokenSettings {
  readonly name: string;
  readonly scopes: readonly string[];
  readonly expires_at: Date | null;
}

/** A token as its owner sees it. */
export interface TokenRow extends TokenSettings {
  readonly id: string;
  readonly token_prefix: string;
  readonly status: TokenStatus;
  /** The id of the token or of the person that created it; null for the first run and for operators. */
  readonly created_by: string | null;
  /** The token that this one replaced. */
  readonly replaces: string | null;
  readonly created_at: Date;
  readonly last_used_at: Date | null;
  /** When the token was revoked, or will be. */
  readonly revoked_at: Date | null;
  /** The place in the list. */
  readonly at_us: number;
}

const SORT = { at: 'created_at', id: 'id' };

const statusOf = (sql: Sql | TransactionSql) => sql`
  case when revoked_at <= weir_now() then 'revoked'
    when expires_at <= weir_now() then 'expired' else 'active' end`;

const columns = (sql: Sql | TransactionSql) => sql`
  id, name, scopes, token_prefix, created_by, replaces, created_at, expires_at, last_used_at,
  revoked_at, ${statusOf(sql)} as status, ${positionOf(sql, 'created_at')} as at_us`;

/** The condition that a token is of this owner. Each query of this file has it (P6). */
const isOf = (sql: Sql | TransactionSql, owner: Owner) =>
  owner === null
    ? sql`(kind = 'operator' and organization_id is null)`
    : sql`(kind = 'management' and organization_id = ${owner})`;

/** Returns a page of the tokens of an owner, the newest first. Without a status, all. */
export async function listTokens(
  sql: Sql,
  owner: Owner,
  status: TokenStatus | undefined,
  page: PageRequest,
): Promise<Page<TokenRow>> {
  const rows = await sql<TokenRow[]>`
    select ${columns(sql)} from access_token
    where ${isOf(sql, owner)}
      ${status === undefined ? sql`` : sql`and ${statusOf(sql)} = ${status}`}
      ${pageBounds(sql, page, SORT)}
    ${pageOrder(sql, page, SORT)}`;
  return pageOf(rows, page);
}

/** Returns a token of an owner; undefined if the owner has no such token. */
export async function findToken(
  sql: Sql | TransactionSql,
  owner: Owner,
  id: string,
): Promise<TokenRow | undefined> {
  const [row] = await sql<TokenRow[]>`
    select ${columns(sql)} from access_token where id = ${id} and ${isOf(sql, owner)}`;
  return row;
}

/** Makes other transactions that change tokens of this owner wait until this one has ended. */
export async function lockTokens(tx: TransactionSql, owner: Owner): Promise<void> {
  await tx`select pg_advisory_xact_lock(${TOKEN_LOCK}, hashtext(${owner ?? ''}))`;
}

/** True if an owner may have no more tokens. */
export async function hasManyTokens(tx: TransactionSql, owner: Owner): Promise<boolean> {
  const [row] = await tx<{ valid: number; ever: number }[]>`
    select count(*) filter (where ${statusOf(tx)} = 'active') as valid, count(*) as ever
    from access_token where ${isOf(tx, owner)}`;
  return !row || row.valid >= MAX_VALID_TOKENS || row.ever >= MAX_TOKENS_EVER;
}

/**
 * True if somebody can create operator tokens for ever: an operator token with the scope `admin` and
 * without an end, or a person.
 */
export async function hasLastingOperator(tx: TransactionSql): Promise<boolean> {
  const rows = await tx`
    select from access_token
    where ${isOf(tx, null)} and 'admin' = any(scopes) and revoked_at is null and expires_at is null
    union all select from operator_person limit 1`;
  return rows.length > 0;
}

/** A new token. */
export interface NewToken extends TokenSettings {
  readonly id: string;
  readonly token_hash: string;
  readonly token_prefix: string;
  /** null if an operator created it for an organization, which must not see which operator it was. */
  readonly created_by: string | null;
  readonly replaces: string | null;
}

/** Inserts a token and returns it. */
export async function insertToken(
  tx: TransactionSql,
  owner: Owner,
  token: NewToken,
): Promise<TokenRow> {
  const kind = owner === null ? 'operator' : 'management';
  await tx`insert into access_token ${tx({ ...token, kind, organization_id: owner } as never)}`;
  const row = await findToken(tx, owner, token.id);
  if (!row) throw new Error('the database returned no row');
  return row;
}

/** Changes a token and returns it as it is then. A member that is missing keeps its value. */
export async function updateToken(
  tx: TransactionSql,
  owner: Owner,
  id: string,
  changes: Partial<TokenSettings>,
): Promise<TokenRow> {
  await tx`update access_token set ${tx(changes as never)} where id = ${id} and ${isOf(tx, owner)}`;
  return requireRow(await findToken(tx, owner, id));
}

/** Ends a token after `grace_s` seconds, and returns it. An earlier end stays. */
export async function endToken(
  tx: TransactionSql,
  owner: Owner,
  id: string,
  grace_s: number,
): Promise<TokenRow> {
  await tx`
    update access_token
    set revoked_at = least(revoked_at, weir_now() + ${grace_s} * interval '1 second')
    where id = ${id} and ${isOf(tx, owner)}`;
  return requireRow(await findToken(tx, owner, id));
}

function requireRow(row: TokenRow | undefined): TokenRow {
  if (!row) throw new Error('the token vanished while it was locked');
  return row;
}

/** Stores when tokens were last used: `age_ms` ago. A later use stays. */
export async function storeTokenUses(
  sql: Sql,
  uses: readonly { readonly id: string; readonly age_ms: number }[],
): Promise<void> {
  await sql`
    update access_token set last_used_at =
      greatest(last_used_at, weir_now() - used.age_ms * interval '1 millisecond')
    from unnest(${uses.map(({ id }) => id)}::text[],
      ${uses.map(({ age_ms }) => Math.round(age_ms))}::int8[]) as used (id, age_ms)
    where access_token.id = used.id`;
}
