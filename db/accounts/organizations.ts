import type { Sql, TransactionSql } from '../client.ts';
import {
  type Page,
  type PageRequest,
  pageBounds,
  pageOf,
  pageOrder,
  positionOf,
  whereEqual,
} from '../pages.ts';
import type { organization } from '../schema.ts';

export type OrganizationStatus = (typeof organization.status.enumValues)[number];

/** What an operator chooses for an organization. */
export interface OrganizationTerms {
  readonly name: string;
  /** The rate-limit role. */
  readonly role: string;
  /** The most API keys; null = as many as an organization can have. */
  readonly max_keys: number | null;
  /** Requests per minute; null = as many as the role allows. */
  readonly requests_per_minute: number | null;
}

/** An organization as operators see it. Amounts are in nano-USD. */
export interface AccountRow extends OrganizationTerms {
  readonly id: string;
  readonly status: OrganizationStatus;
  readonly status_reason: string;
  readonly status_changed_at: Date | null;
  readonly deposited: number;
  readonly available: number;
  /** Money of grants and holds that is not charged. */
  readonly held: number;
  readonly used: number;
  /** The credit line, and the part of `deposited` that is credit. */
  readonly credit_limit: number;
  readonly credit: number;
  readonly created_at: Date;
  readonly at_us: number;
}

const SORT = { at: 'created_at', id: 'id' };

/** The rows of organizations. Charges of open grants count as used, even if they are posted later. */
const accounts = (sql: Sql | TransactionSql) => sql`
  select id, name, role, status, status_reason, status_changed_at, max_keys, requests_per_minute,
    deposited_nano_usd as deposited,
    balance_nano_usd + coalesce(unposted.uncharged, 0) as available,
    held_nano_usd - coalesce(unposted.nano_usd, 0) as held,
    settled_nano_usd + coalesce(unposted.nano_usd - unposted.uncharged, 0) as used,
    credit_limit_nano_usd as credit_limit, credit_nano_usd as credit, created_at,
    ${positionOf(sql, 'created_at')} as at_us
  from organization left join (
    select organization_id, sum(settled_nano_usd - posted_nano_usd)::int8 as nano_usd,
      sum(uncharged_nano_usd - uncharged_posted_nano_usd)::int8 as uncharged
    from quota_grant where status = 'open' group by organization_id
  ) as unposted on unposted.organization_id = organization.id`;

/** Which organizations a list has. A missing member means all. */
export interface AccountFilter {
  readonly status?: OrganizationStatus | undefined;
  readonly role?: string | undefined;
  /** A part of the name, in any case. */
  readonly name?: string | undefined;
}

/** Returns a page of all organizations, the newest first. */
export async function listAccounts(
  sql: Sql,
  { status, role, name }: AccountFilter,
  page: PageRequest,
): Promise<Page<AccountRow>> {
  const rows = await sql<AccountRow[]>`
    select * from (${accounts(sql)}) as account
    where true ${whereEqual(sql, 'status', status)} ${whereEqual(sql, 'role', role)}
      ${name === undefined ? sql`` : sql`and strpos(lower(name), lower(${name})) > 0`}
      ${pageBounds(sql, page, SORT)}
    ${pageOrder(sql, page, SORT)}`;
  return pageOf(rows, page);
}

/** Returns an organization; undefined if there is none with this id. */
export async function findAccount(
  sql: Sql | TransactionSql,
  id: string,
): Promise<AccountRow | undefined> {
  const [row] = await sql<AccountRow[]>`
    select * from (${accounts(sql)}) as account where id = ${id}`;
  return row;
}

/**
 * Like `findAccount`. Nobody else can move the organization's money or change it until the transaction
 * ends, except that its grants are charged. Ledger commands lock organizations first, too.
 */
export async function lockAccount(tx: TransactionSql, id: string): Promise<AccountRow | undefined> {
  await tx`select from organization where id = ${id} for no key update`;
  return findAccount(tx, id);
}

/** Inserts an organization and returns it. */
export async function insertAccount(
  tx: TransactionSql,
  id: string,
  terms: OrganizationTerms,
): Promise<AccountRow> {
  await tx`insert into organization ${tx({ id, ...terms })}`;
  return requireRow(await findAccount(tx, id));
}

/** Changes a locked organization and returns it. A member that is missing keeps its value. */
export async function updateAccount(
  tx: TransactionSql,
  id: string,
  changes: Partial<OrganizationTerms>,
): Promise<AccountRow> {
  await tx`update organization set ${tx(changes as never)} where id = ${id}`;
  return requireRow(await findAccount(tx, id));
}

/** Changes the status of a locked organization and returns the organization. */
export async function updateAccountStatus(
  tx: TransactionSql,
  id: string,
  { status, reason }: { status: OrganizationStatus; reason: string },
): Promise<AccountRow> {
  await tx`
    update organization
    set status = ${status}, status_reason = ${reason}, status_changed_at = weir_now()
    where id = ${id}`;
  return requireRow(await findAccount(tx, id));
}

/** Returns the status of an organization; undefined if there is none with this id. */
export async function findOrganizationStatus(
  sql: Sql,
  id: string,
): Promise<OrganizationStatus | undefined> {
  const [row] = await sql<{ status: OrganizationStatus }[]>`
    select status from organization where id = ${id}`;
  return row?.status;
}

function requireRow(row: AccountRow | undefined): AccountRow {
  if (!row) throw new Error('the organization vanished while it was locked');
  return row;
}
