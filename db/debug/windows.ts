import type { Sql, TransactionSql } from 'postgres';
import { type Actor, WEIR } from '../audit/entry.ts';
import { appendAudit } from '../audit/log.ts';
import {
  type Page,
  type PageRequest,
  pageBounds,
  pageOf,
  pageOrder,
  positionOf,
} from '../pages.ts';

/**
 * First part of the key of an advisory lock; the second part is the hash of the organization's id.
 */
const OPENING_LOCK = 7_302;
/** So many days after its copies were deleted, a window is deleted. Its events stay. */
const KEEP_WINDOWS_DAYS = 90;

/** A debug window to open. */
export interface NewDebugWindow {
  readonly id: string;
  readonly organization_id: string;
  /** null = all keys of the organization. */
  readonly key_id: string | null;
  readonly minutes: number;
  readonly keep_hours: number;
  readonly max_bytes: number;
  readonly max_body_bytes: number;
}

/** Who acts on a debug window, and the id of the event that puts the act on record. */
export interface DebugActor {
  readonly event_id: string;
  readonly actor: Actor;
}

/** A debug window, as its organization sees it. */
export interface DebugWindowRow extends Omit<NewDebugWindow, 'minutes' | 'organization_id'> {
  readonly status: 'open' | 'ended' | 'closed' | 'full';
  readonly stored_calls: number;
  readonly stored_bytes: number;
  readonly opened_at: Date;
  readonly closes_at: Date;
  readonly closed_at: Date | null;
  readonly keep_until: Date;
  /** The place in the list. */
  readonly at_us: number;
}

/** A window that takes copies now. */
export interface OpenWindow {
  readonly id: string;
  readonly organization_id: string;
  readonly key_id: string | null;
  readonly max_body_bytes: number;
  /** The time until the window ends by itself, ms. */
  readonly rest_ms: number;
}

const SORT = { at: 'opened_at', id: 'id' };

/**
 * Opens a window, and puts that on record. Returns why it cannot be opened: no such key, a window
 * with the same keys is open, or the windows of the organization would have more than
 * `max_organization_bytes` together.
 */
export async function openWindow(
  tx: TransactionSql,
  window: NewDebugWindow,
  { event_id, actor }: DebugActor,
  max_organization_bytes: number,
): Promise<'opened' | 'no_key' | 'is_open' | 'no_room'> {
  const { id, organization_id, key_id } = window;
  await tx`select pg_advisory_xact_lock(${OPENING_LOCK}, hashtext(${organization_id}))`;
  const [found] = await tx<{ has_key: boolean; is_open: boolean; bytes: number }[]>`
    select ${key_id}::text is null or exists (
        select from api_key where id = ${key_id} and organization_id = ${organization_id}) as has_key,
      coalesce(bool_or(is_open and key_id is not distinct from ${key_id}::text), false) as is_open,
      coalesce(sum(case when is_open then max_bytes else stored_bytes end), 0)::int8 as bytes
    from (
      select *, closed_at is null and closes_at > weir_now() as is_open from debug_window
      where organization_id = ${organization_id} and keep_until > weir_now()) as kept`;
  if (!found?.has_key) return 'no_key';
  if (found.is_open) return 'is_open';
  if (found.bytes + window.max_bytes > max_organization_bytes) return 'no_room';
  await tx`
    with opened as (
      insert into debug_window (id, organization_id, key_id, max_bytes, max_body_bytes, keep_hours,
        opened_at, closes_at, keep_until)
      select ${id}, ${organization_id}, ${key_id}, ${window.max_bytes}, ${window.max_body_bytes},
        ${window.keep_hours}, now, now + ${window.minutes} * interval '1 minute',
        now + ${window.minutes} * interval '1 minute' + ${window.keep_hours} * interval '1 hour'
      from weir_now() as now
    )
    insert into debug_event (id, organization_id, window_id, action, token_id)
    values (${event_id}, ${organization_id}, ${id}, 'opened', ${actor.credential_id})`;
  const { id: _, organization_id: __, ...after } = window;
  await appendAudit(tx, {
    ...{ organization_id, actor, action: 'debug_window.open', subject_id: id },
    ...{ before: null, after },
  });
  return 'opened';
}

/** Closes a window, and puts that on record. A window that is not open stays as it is. */
export async function closeWindow(
  sql: Sql,
  organization_id: string,
  id: string,
  { event_id, actor }: DebugActor,
): Promise<void> {
  await endWindow(sql, { organization_id, id, event_id, actor, action: 'closed' });
}

/** Closes a window because a call did not fit, and puts that on record. */
export async function closeFullWindow(
  sql: Sql,
  organization_id: string,
  id: string,
  event_id: string,
): Promise<void> {
  await endWindow(sql, { organization_id, id, event_id, actor: WEIR, action: 'filled' });
}

interface WindowEnd {
  readonly organization_id: string;
  readonly id: string;
  readonly event_id: string;
  readonly actor: Actor;
  readonly action: 'closed' | 'filled';
}

async function endWindow(sql: Sql, end: WindowEnd): Promise<void> {
  const { organization_id, id, event_id, actor, action } = end;
  await sql.begin(async (tx) => {
    const { count } = await tx`
    with ended as (
      update debug_window set closed_at = weir_now(), is_full = ${action === 'filled'},
        keep_until = weir_now() + keep_hours * interval '1 hour'
      where id = ${id} and organization_id = ${organization_id} and closed_at is null
        and closes_at > weir_now()
      returning id
    )
    insert into debug_event (id, organization_id, window_id, action, token_id)
    select ${event_id}, ${organization_id}, id, ${action}, ${actor.credential_id} from ended`;
    if (count === 0) return;
    await appendAudit(tx, {
      ...{ organization_id, actor, action: 'debug_window.close', subject_id: id },
      ...{ before: { status: 'open' }, after: { status: action === 'filled' ? 'full' : 'closed' } },
    });
  });
}

/** Returns a page of the windows of an organization, the newest first. */
export async function listWindows(
  sql: Sql,
  organization_id: string,
  page: PageRequest,
): Promise<Page<DebugWindowRow>> {
  const rows = await sql<DebugWindowRow[]>`
    select *, ${statusOf(sql)}, ${positionOf(sql, 'opened_at')} as at_us from debug_window
    where organization_id = ${organization_id} ${pageBounds(sql, page, SORT)}
    ${pageOrder(sql, page, SORT)}`;
  return pageOf(rows, page);
}

/** Returns a window of an organization; undefined if it has no such window. */
export async function findWindow(
  sql: Sql | TransactionSql,
  organization_id: string,
  id: string,
): Promise<DebugWindowRow | undefined> {
  const [row] = await sql<DebugWindowRow[]>`
    select *, ${statusOf(sql)}, ${positionOf(sql, 'opened_at')} as at_us from debug_window
    where organization_id = ${organization_id} and id = ${id}`;
  return row;
}

const statusOf = (sql: Sql | TransactionSql) => sql`
  case when is_full then 'full' when closed_at is not null then 'closed'
    when closes_at <= weir_now() then 'ended' else 'open' end as status`;

/** Returns the open windows of all organizations. */
export function readOpenWindows(sql: Sql): Promise<OpenWindow[]> {
  return sql<OpenWindow[]>`
    select id, organization_id, key_id, max_body_bytes,
      extract(epoch from closes_at - weir_now())::float8 * 1000 as rest_ms
    from debug_window where closed_at is null and closes_at > weir_now()`;
}

/** Deletes at most `limit` windows whose copies were deleted 90 days ago. */
export async function deleteOldWindows(sql: Sql, limit: number): Promise<void> {
  await sql`
    delete from debug_window where id in (
      select id from debug_window
      where keep_until < weir_now() - ${KEEP_WINDOWS_DAYS} * interval '1 day'
      order by keep_until limit ${limit})`;
}
