import type { Sql, TransactionSql } from 'postgres';
import {
  type Page,
  type PageRequest,
  pageBounds,
  pageOf,
  pageOrder,
  positionOf,
} from '../pages.ts';
import type { AlertKind } from './kinds.ts';

/** The most endpoints of one owner. */
export const MAX_ENDPOINTS = 20;
/** First part of the key of an advisory lock; the second part is the hash of the owner's id. */
const ENDPOINT_LOCK = 7_305;

/** What an owner chooses for an endpoint. */
export interface EndpointSettings {
  readonly name: string;
  /** The URL of a webhook, or an e-mail address. */
  readonly target: string;
  readonly kinds: readonly AlertKind[];
  readonly enabled: boolean;
}

/** An endpoint of alerts; see the table `alert_endpoint`. */
export interface EndpointRow extends EndpointSettings {
  readonly id: string;
  readonly owner_id: string;
  readonly medium: 'webhook' | 'mail';
  readonly sealed_secret: string | null;
  readonly created_at: Date;
}

const SORT = { at: 'created_at', id: 'id' };
const columns = (sql: Sql | TransactionSql) =>
  sql`id, owner_id, name, medium, target, kinds, enabled, sealed_secret, created_at`;

/** Returns a page of the endpoints of an owner, the newest first. */
export async function listEndpoints(
  sql: Sql,
  owner_id: string,
  page: PageRequest,
): Promise<Page<EndpointRow & { readonly at_us: number }>> {
  const rows = await sql<(EndpointRow & { at_us: number })[]>`
    select ${columns(sql)}, ${positionOf(sql, 'created_at')} as at_us from alert_endpoint
    where owner_id = ${owner_id} and deleted_at is null ${pageBounds(sql, page, SORT)}
    ${pageOrder(sql, page, SORT)}`;
  return pageOf(rows, page);
}

/** Finds an endpoint of an owner; undefined for that of another one (P6). */
export async function findEndpoint(
  sql: Sql | TransactionSql,
  owner_id: string,
  id: string,
): Promise<EndpointRow | undefined> {
  const [row] = await sql<EndpointRow[]>`
    select ${columns(sql)} from alert_endpoint
    where id = ${id} and owner_id = ${owner_id} and deleted_at is null`;
  return row;
}

/** Makes other transactions that change endpoints of the owner wait until this one has ended. */
export async function lockEndpoints(tx: TransactionSql, owner_id: string): Promise<void> {
  await tx`select pg_advisory_xact_lock(${ENDPOINT_LOCK}, hashtext(${owner_id}))`;
}

/** True if an owner may have no more endpoints. */
export async function hasManyEndpoints(tx: TransactionSql, owner_id: string): Promise<boolean> {
  const [row] = await tx<{ endpoints: number }[]>`
    select count(*)::int4 as endpoints from alert_endpoint
    where owner_id = ${owner_id} and deleted_at is null`;
  return !row || row.endpoints >= MAX_ENDPOINTS;
}

/** Inserts an endpoint and returns it. */
export async function insertEndpoint(
  tx: TransactionSql,
  endpoint: Omit<EndpointRow, 'created_at'>,
): Promise<EndpointRow> {
  const { kinds, ...rest } = endpoint;
  const [row] = await tx<EndpointRow[]>`
    insert into alert_endpoint ${tx({ ...rest, kinds: [...kinds] })} returning ${columns(tx)}`;
  if (!row) throw new Error('the database returned no row');
  return row;
}

/** Changes an endpoint that the caller found and locked, and returns it. */
export async function updateEndpoint(
  tx: TransactionSql,
  { id }: EndpointRow,
  changes: Partial<EndpointSettings & Pick<EndpointRow, 'sealed_secret'>>,
): Promise<EndpointRow> {
  const { kinds, ...rest } = changes;
  const [row] = await tx<EndpointRow[]>`
    update alert_endpoint set ${tx({ ...rest, ...(kinds ? { kinds: [...kinds] } : {}) })}
    where id = ${id} returning ${columns(tx)}`;
  if (!row) throw new Error(`there is no endpoint ${id}`);
  return row;
}

/** Deletes an endpoint. Its deliveries that wait fail at their next attempt. */
export async function deleteEndpoint(tx: TransactionSql, { id }: EndpointRow): Promise<void> {
  await tx`
    update alert_endpoint set deleted_at = weir_now(), enabled = false where id = ${id}`;
}
