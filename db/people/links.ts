import type { Sql, TransactionSql } from '../client.ts';
import {
  type Page,
  type PageRequest,
  pageBounds,
  pageOf,
  pageOrder,
  positionOf,
} from '../pages.ts';
import type { MemberRole } from './members.ts';

const SORT = { at: 'created_at', id: 'id' };

/** What became of a link. */
export const LINK_STATUSES = ['pending', 'used', 'revoked', 'expired'] as const;
export type LinkStatus = (typeof LINK_STATUSES)[number];

/** A link that works once. */
export interface LinkRow {
  readonly id: string;
  /** `operator` makes its user an operator, `password` sets a new password. */
  readonly kind: 'invitation' | 'operator' | 'password';
  readonly email: string | null;
  readonly is_mailed: boolean;
  readonly organization_id: string | null;
  readonly role: MemberRole | null;
  readonly person_id: string | null;
  readonly created_by: string | null;
  readonly created_at: Date;
  readonly expires_at: Date;
  readonly status: LinkStatus;
  readonly at_us: number;
}

/** A link to store. Only the hash of its secret is stored. */
export interface NewLink
  extends Pick<
    LinkRow,
    | ('id' | 'kind' | 'email' | 'is_mailed' | 'created_by')
    | ('organization_id' | 'role' | 'person_id')
  > {
  readonly secret_hash: string;
  readonly lasts_s: number;
}

const statusOf = (sql: Sql | TransactionSql) => sql`
  case when used_at is not null then 'used' when revoked_at is not null then 'revoked'
    when expires_at <= weir_now() then 'expired' else 'pending' end`;

const columns = (sql: Sql | TransactionSql) => sql`
  id, kind, email, is_mailed, organization_id, role, person_id, created_by, created_at, expires_at,
  ${statusOf(sql)} as status, ${positionOf(sql, SORT.at)} as at_us`;

/** Stores a link and returns it. */
export async function insertLink(tx: TransactionSql, link: NewLink): Promise<LinkRow> {
  const [row] = await tx<LinkRow[]>`
    insert into one_time_link (id, kind, secret_hash, email, is_mailed, organization_id, role,
      person_id, created_by, expires_at)
    values (${link.id}, ${link.kind}, ${link.secret_hash}, ${link.email}, ${link.is_mailed},
      ${link.organization_id}, ${link.role}, ${link.person_id}, ${link.created_by},
      weir_now() + ${link.lasts_s} * interval '1 second')
    returning ${columns(tx)}`;
  if (!row) throw new Error('the database returned no row');
  return row;
}

/** Returns the link with this secret, whatever became of it; undefined if there is none. */
export async function findLink(sql: Sql, secret_hash: string): Promise<LinkRow | undefined> {
  const [row] = await sql<LinkRow[]>`
    select ${columns(sql)} from one_time_link where secret_hash = ${secret_hash}`;
  return row;
}

/**
 * Uses a link up, and returns it. Returns undefined if it was used or revoked, or has expired. Of two
 * requests at once, only one gets the link.
 */
export async function useLink(tx: TransactionSql, id: string): Promise<LinkRow | undefined> {
  const [row] = await tx<LinkRow[]>`
    update one_time_link set used_at = weir_now()
    where id = ${id} and ${statusOf(tx)} = 'pending'
    returning ${columns(tx)}`;
  return row;
}

/** Which invitations are meant: those to an organization, or those of operators (null). */
type Inviter = string | null;

const isOf = (sql: Sql | TransactionSql, inviter: Inviter) =>
  inviter === null
    ? sql`kind = 'operator'`
    : sql`(kind = 'invitation' and organization_id = ${inviter})`;

/** Returns a page of invitations, the newest first. Without a status, all. */
export async function listInvitations(
  sql: Sql,
  inviter: Inviter,
  status: LinkStatus | undefined,
  page: PageRequest,
): Promise<Page<LinkRow>> {
  const rows = await sql<LinkRow[]>`
    select ${columns(sql)} from one_time_link
    where ${isOf(sql, inviter)}
      ${status === undefined ? sql`` : sql`and ${statusOf(sql)} = ${status}`}
      ${pageBounds(sql, page, SORT)}
    ${pageOrder(sql, page, SORT)}`;
  return pageOf(rows, page);
}

/** Returns the number of invitations that wait for an answer. */
export async function countPending(tx: TransactionSql, inviter: Inviter): Promise<number> {
  const [row] = await tx<{ links: number }[]>`
    select count(*) as links from one_time_link
    where ${isOf(tx, inviter)} and ${statusOf(tx)} = 'pending'`;
  return row?.links ?? 0;
}

/**
 * Revokes an invitation and returns it. An invitation that was used or has expired stays as it is.
 * Returns undefined if there is no such invitation.
 */
export async function revokeInvitation(
  tx: TransactionSql,
  inviter: Inviter,
  id: string,
): Promise<{ readonly before: LinkRow; readonly after: LinkRow } | undefined> {
  const [before] = await tx<LinkRow[]>`
    select ${columns(tx)} from one_time_link
    where id = ${id} and ${isOf(tx, inviter)} for update`;
  if (!before) return undefined;
  if (before.status !== 'pending') return { before, after: before };
  const [after] = await tx<LinkRow[]>`
    update one_time_link set revoked_at = weir_now() where id = ${id} returning ${columns(tx)}`;
  return { before, after: after ?? before };
}

/** Revokes the pending links of a kind that are for one address, or for none (null). */
export async function revokePending(
  tx: TransactionSql,
  kind: LinkRow['kind'],
  email: string | null,
): Promise<void> {
  await tx`
    update one_time_link set revoked_at = weir_now()
    where kind = ${kind} and email is not distinct from ${email} and ${statusOf(tx)} = 'pending'`;
}

/** Revokes the pending invitations of an organization that are for one address. */
export async function revokeInvitationsOf(
  tx: TransactionSql,
  organization_id: string,
  email: string,
): Promise<void> {
  await tx`
    update one_time_link set revoked_at = weir_now()
    where organization_id = ${organization_id} and email = ${email} and ${statusOf(tx)} = 'pending'`;
}

/** Returns the pending invitations for an address, and locks them. */
export function lockInvitationsFor(tx: TransactionSql, email: string): Promise<LinkRow[]> {
  return tx<LinkRow[]>`
    select ${columns(tx)} from one_time_link
    where email = ${email} and kind <> 'password' and ${statusOf(tx)} = 'pending'
    order by id for update`;
}

/** True if a pending invitation is for this address. */
export async function isInvited(sql: Sql, email: string): Promise<boolean> {
  const rows = await sql`
    select from one_time_link
    where email = ${email} and kind <> 'password' and ${statusOf(sql)} = 'pending' limit 1`;
  return rows.length > 0;
}
