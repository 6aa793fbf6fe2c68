import type { Sql, TransactionSql } from '../client.ts';
import {
  type Page,
  type PageRequest,
  pageBounds,
  pageOf,
  pageOrder,
  positionOf,
} from '../pages.ts';

/** The role of a person in an organization (src/access/actions.ts). */
export type MemberRole = 'owner' | 'admin' | 'member' | 'viewer';

const SORT = { at: 'membership.created_at', id: 'person_id' };
/** The number of the advisory locks of memberships. Any constant works. */
const MEMBER_LOCK = 0x6d_65_6d;

/** A person in an organization. */
export interface MemberRow {
  readonly person_id: string;
  readonly name: string;
  readonly email: string;
  readonly role: MemberRole;
  readonly created_at: Date;
  readonly at_us: number;
}

const columns = (sql: Sql | TransactionSql) => sql`
  person_id, person.name, person.email, role, membership.created_at,
  ${positionOf(sql, SORT.at)} as at_us`;

/** Returns a page of the people of an organization, the newest first. */
export async function listMembers(
  sql: Sql,
  organization_id: string,
  page: PageRequest,
): Promise<Page<MemberRow>> {
  const rows = await sql<MemberRow[]>`
    select ${columns(sql)} from membership join person on person.id = person_id
    where organization_id = ${organization_id} ${pageBounds(sql, page, SORT)}
    ${pageOrder(sql, page, SORT)}`;
  return pageOf(rows, page);
}

/** Returns a person of an organization; undefined if there is no such person in it. */
export async function findMember(
  sql: Sql | TransactionSql,
  organization_id: string,
  person_id: string,
): Promise<MemberRow | undefined> {
  const [row] = await sql<MemberRow[]>`
    select ${columns(sql)} from membership join person on person.id = person_id
    where organization_id = ${organization_id} and person_id = ${person_id}`;
  return row;
}

/**
 * Makes other transactions that change the people of an organization, or the operators (null), wait
 * until this one has ended. Otherwise two owners could remove each other.
 */
export async function lockMembers(
  tx: TransactionSql,
  organization_id: string | null,
): Promise<void> {
  await tx`select pg_advisory_xact_lock(${MEMBER_LOCK}, hashtext(${organization_id ?? ''}))`;
}

/** True if the organization has another owner than this person. */
export async function hasOtherOwner(
  tx: TransactionSql,
  organization_id: string,
  person_id: string,
): Promise<boolean> {
  const rows = await tx`
    select from membership
    where organization_id = ${organization_id} and role = 'owner' and person_id <> ${person_id}
    limit 1`;
  return rows.length > 0;
}

/** Adds a person to an organization. Returns false if the person is in it already. */
export async function addMember(
  tx: TransactionSql,
  organization_id: string,
  person_id: string,
  role: MemberRole,
): Promise<boolean> {
  const { count } = await tx`
    insert into membership (organization_id, person_id, role)
    values (${organization_id}, ${person_id}, ${role}) on conflict do nothing`;
  return count > 0;
}

/** Changes the role of a person in an organization. */
export async function setMemberRole(
  tx: TransactionSql,
  organization_id: string,
  person_id: string,
  role: MemberRole,
): Promise<void> {
  await tx`
    update membership set role = ${role}
    where organization_id = ${organization_id} and person_id = ${person_id}`;
}

/** Removes a person from an organization. */
export async function removeMember(
  tx: TransactionSql,
  organization_id: string,
  person_id: string,
): Promise<void> {
  await tx`
    delete from membership
    where organization_id = ${organization_id} and person_id = ${person_id}`;
}

/** An organization of a person, with the role there. */
export interface PersonOrganization {
  readonly id: string;
  readonly name: string;
  readonly role: MemberRole;
  /** The rate-limit role. */
  readonly limit_role: string;
  readonly status: 'active' | 'suspended' | 'closed';
}

/** Returns the organizations of a person, the oldest membership first. */
export function listOrganizationsOf(
  sql: Sql | TransactionSql,
  person_id: string,
): Promise<PersonOrganization[]> {
  return sql<PersonOrganization[]>`
    select organization.id, organization.name, membership.role, organization.role as limit_role,
      organization.status
    from membership join organization on organization.id = organization_id
    where person_id = ${person_id}
    order by membership.created_at, organization.id`;
}

/** Returns the name of an organization; undefined if there is none with this id. */
export async function findOrganizationName(
  sql: Sql | TransactionSql,
  id: string,
): Promise<string | undefined> {
  const [row] = await sql<{ name: string }[]>`select name from organization where id = ${id}`;
  return row?.name;
}

/**
 * Returns the id of the only organization if nobody is in it yet, as after the first start; undefined
 * otherwise.
 */
export async function findLonelyOrganization(tx: TransactionSql): Promise<string | undefined> {
  const rows = await tx<{ id: string; is_empty: boolean }[]>`
    select id, not exists (select from membership) as is_empty
    from organization where status = 'active' limit 2`;
  const [only] = rows;
  return rows.length === 1 && only?.is_empty ? only.id : undefined;
}
