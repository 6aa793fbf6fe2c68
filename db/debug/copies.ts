import type { Sql } from 'postgres';
import { appendAudit } from '../audit/log.ts';
import {
  type Page,
  type PageRequest,
  pageBounds,
  pageOf,
  pageOrder,
  positionOf,
} from '../pages.ts';
import type { DebugActor } from './windows.ts';

/** A body: its first bytes, encrypted, and the size of the whole. */
interface CopiedBody {
  readonly type: string | null;
  readonly sealed: Uint8Array;
  readonly bytes: number;
}

/** The request and the answer of one call. */
export interface DebugCopy {
  readonly organization_id: string;
  /** UUID of the request. */
  readonly request_id: string;
  readonly key_id: string;
  readonly path: string;
  readonly request: CopiedBody;
  readonly status: number;
  readonly answer: CopiedBody;
}

/** A stored copy. The bodies are encrypted. */
export interface DebugCopyRow {
  readonly window_id: string;
  readonly key_id: string;
  readonly path: string;
  readonly request_type: string | null;
  readonly request_body: Uint8Array;
  readonly request_bytes: number;
  readonly status: number;
  readonly answer_type: string | null;
  readonly answer_body: Uint8Array;
  readonly answer_bytes: number;
  readonly at: Date;
  readonly keep_until: Date;
}

/** What was done with a window or a copy. */
export interface DebugEventRow {
  readonly id: string;
  readonly window_id: string;
  readonly action: 'opened' | 'closed' | 'filled' | 'read';
  readonly token_id: string | null;
  readonly request_id: string | null;
  readonly at: Date;
  /** The place in the list. */
  readonly at_us: number;
}

/**
 * Stores a copy if its window is open and has room for it. Returns false otherwise. A closed window
 * gets no copy, even if the replica does not know yet that it was closed.
 */
export async function insertCopy(sql: Sql, window_id: string, copy: DebugCopy): Promise<boolean> {
  const { request, answer } = copy;
  const bytes = request.sealed.byteLength + answer.sealed.byteLength;
  const { count } = await sql`
    with room as (
      update debug_window set stored_calls = stored_calls + 1, stored_bytes = stored_bytes + ${bytes}
      where id = ${window_id} and closed_at is null and closes_at > weir_now()
        and stored_bytes + ${bytes} <= max_bytes
      returning id
    )
    insert into debug_copy (organization_id, request_id, window_id, key_id, path, request_type,
      request_body, request_bytes, status, answer_type, answer_body, answer_bytes)
    select ${copy.organization_id}, ${copy.request_id}, id, ${copy.key_id}, ${copy.path},
      ${request.type}, ${Buffer.from(request.sealed)}, ${request.bytes}, ${copy.status},
      ${answer.type}, ${Buffer.from(answer.sealed)}, ${answer.bytes}
    from room`;
  return count > 0;
}

/**
 * Returns the copy of a call of an organization, and puts the reading on record in the same
 * transaction. Returns undefined if nothing is stored.
 */
export async function readCopy(
  sql: Sql,
  organization_id: string,
  request_id: string,
  { event_id, actor }: DebugActor,
): Promise<DebugCopyRow | undefined> {
  return sql.begin(async (tx) => {
    const [row] = await tx<DebugCopyRow[]>`
    with found as (
      select copy.*, keep_until from debug_copy as copy
      join debug_window as parent on parent.id = copy.window_id
      where copy.organization_id = ${organization_id} and request_id = ${request_id}
        and keep_until > weir_now()
    ), noted as (
      insert into debug_event (id, organization_id, window_id, action, token_id, request_id)
      select ${event_id}, organization_id, window_id, 'read', ${actor.credential_id}, request_id from found
    )
    select * from found`;
    if (!row) return undefined;
    await appendAudit(tx, {
      ...{ organization_id, actor, action: 'debug_copy.read', subject_id: row.window_id },
      ...{ before: null, after: { request_id: `req_${request_id.replaceAll('-', '')}` } },
    });
    return row;
  });
}

/** Returns a page of the events of an organization, the newest first. */
export async function listDebugEvents(
  sql: Sql,
  organization_id: string,
  page: PageRequest,
): Promise<Page<DebugEventRow>> {
  const sort = { at: 'at', id: 'id' };
  const rows = await sql<DebugEventRow[]>`
    select *, ${positionOf(sql, 'at')} as at_us from debug_event
    where organization_id = ${organization_id} ${pageBounds(sql, page, sort)}
    ${pageOrder(sql, page, sort)}`;
  return pageOf(rows, page);
}

/** Deletes at most `limit` copies whose time is over. Returns the number of deleted copies. */
export async function deleteOldCopies(sql: Sql, limit: number): Promise<number> {
  const { count } = await sql`
    delete from debug_copy where ctid in (
      select copy.ctid from debug_window as ended
      join debug_copy as copy on copy.window_id = ended.id
      where ended.keep_until <= weir_now() limit ${limit})`;
  return count;
}
