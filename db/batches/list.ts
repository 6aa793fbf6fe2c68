import type { Sql } from 'postgres';
import {
  type Page,
  type PageRequest,
  pageBounds,
  pageOf,
  pageOrder,
  positionOf,
  whereEqual,
} from '../pages.ts';
import type { BatchRow, BatchStatus } from './batches.ts';

/** A batch as the management routes show it. */
export interface BatchListRow extends BatchRow {
  readonly key_id: string;
  /** How many items have succeeded and failed so far. */
  readonly succeeded: number;
  readonly errored: number;
  /** The charges of the ended items so far, nano-USD; null = not recorded. */
  readonly charged_nano_usd: number | null;
  /** The place in the list. */
  readonly at_us: number;
}

/** The batches that a list has. A missing member means all. */
export interface BatchFilter {
  readonly status?: BatchStatus | undefined;
  readonly api_key_id?: string | undefined;
}

const SORT = { at: 'created_at', id: 'id' };

const columns = (sql: Sql) => sql`
  id, key_id, status, total, counts, succeeded, errored, charged_nano_usd, created_at, expires_at,
  cancel_initiated_at, ended_at, archived_at, ${positionOf(sql, 'created_at')} as at_us`;

/** Returns a page of the batches of an organization, the newest first. */
export async function listBatchPage(
  sql: Sql,
  organization_id: string,
  { status, api_key_id }: BatchFilter,
  page: PageRequest,
): Promise<Page<BatchListRow>> {
  const rows = await sql<BatchListRow[]>`
    select ${columns(sql)} from message_batch
    where organization_id = ${organization_id} and status <> 'received'
      ${whereEqual(sql, 'status', status)} ${whereEqual(sql, 'key_id', api_key_id)}
      ${pageBounds(sql, page, SORT)}
    ${pageOrder(sql, page, SORT)}`;
  return pageOf(rows, page);
}

/** Finds a batch of an organization; undefined for a batch of another one (P6). */
export async function findListedBatch(
  sql: Sql,
  organization_id: string,
  id: string,
): Promise<BatchListRow | undefined> {
  const [row] = await sql<BatchListRow[]>`
    select ${columns(sql)} from message_batch
    where id = ${id} and organization_id = ${organization_id} and status <> 'received'`;
  return row;
}
