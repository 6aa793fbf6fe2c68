import type { Fragment, Sql } from 'postgres';

/** The kinds of objects that an organization can look for by an id. */
export type FoundKind =
  | 'task'
  | 'batch'
  | 'delivery'
  | 'key'
  | 'token'
  | 'person'
  | 'invitation'
  | 'view'
  | 'debug_window'
  | 'budget'
  | 'upstream_key'
  | 'alert'
  | 'alert_endpoint'
  | 'alert_delivery'
  | 'audit_line';

/** Who looks: an organization, and the person whose own views count; null for a token. */
export interface Finder {
  readonly organization_id: string;
  readonly person_id: string | null;
}

/** The tables of the kinds. Each condition has the organization, and can use an index. */
const ROWS: Record<FoundKind, (sql: Sql, finder: Finder, id: string) => Fragment> = {
  task: (sql, { organization_id: owner }, id) => sql`
    task where organization_id = ${owner} and id = ${id}`,
  batch: (sql, { organization_id: owner }, id) => sql`
    message_batch where organization_id = ${owner} and status <> 'received' and id = ${id}`,
  delivery: (sql, { organization_id: owner }, id) => sql`
    webhook_delivery where organization_id = ${owner} and task_id = ${id}`,
  key: (sql, { organization_id: owner }, id) => sql`
    api_key where organization_id = ${owner} and id = ${id}`,
  token: (sql, { organization_id: owner }, id) => sql`
    access_token where organization_id = ${owner} and id = ${id}`,
  person: (sql, { organization_id: owner }, id) => sql`
    membership where organization_id = ${owner} and person_id = ${id}`,
  invitation: (sql, { organization_id: owner }, id) => sql`
    one_time_link where organization_id = ${owner} and kind = 'invitation' and id = ${id}`,
  view: (sql, { organization_id: owner, person_id }, id) => sql`
    saved_view where organization_id = ${owner} and id = ${id}
      and (person_id is null or person_id = ${person_id})`,
  debug_window: (sql, { organization_id: owner }, id) => sql`
    debug_window where organization_id = ${owner} and id = ${id}`,
  budget: (sql, { organization_id: owner }, id) => sql`
    budget where organization_id = ${owner} and id = ${id}`,
  upstream_key: (sql, { organization_id: owner }, id) => sql`
    upstream_key where organization_id = ${owner} and id = ${id}`,
  alert: (sql, { organization_id: owner }, id) => sql`
    alert where owner_id = ${owner} and id = ${id}`,
  alert_endpoint: (sql, { organization_id: owner }, id) => sql`
    alert_endpoint where owner_id = ${owner} and deleted_at is null and id = ${id}`,
  alert_delivery: (sql, { organization_id: owner }, id) => sql`
    alert_delivery where owner_id = ${owner} and id = ${id}`,
  audit_line: (sql, { organization_id: owner }, id) => sql`
    audit_log where organization_id = ${owner} and seq = ${Number(id)}`,
};

/** True if an organization has an object of a kind with this id. */
export async function hasObject(
  sql: Sql,
  finder: Finder,
  kind: FoundKind,
  id: string,
): Promise<boolean> {
  const rows = await sql`select from ${ROWS[kind](sql, finder, id)} limit 1`;
  return rows.length > 0;
}

/**
 * Returns the id of the newest key or token of an organization that is shown with this prefix, e.g.
 * `sk-AbCdE…`; undefined if there is none. A deleted key comes after all others.
 */
export async function findByPrefix(
  sql: Sql,
  organization_id: string,
  kind: 'key' | 'token',
  prefix: string,
): Promise<string | undefined> {
  const [row] =
    kind === 'key'
      ? await sql<{ id: string }[]>`
          select id from api_key
          where organization_id = ${organization_id} and key_prefix = ${prefix}
          order by deleted_at is not null, created_at desc, id desc limit 1`
      : await sql<{ id: string }[]>`
          select id from access_token
          where organization_id = ${organization_id} and token_prefix = ${prefix}
          order by created_at desc, id desc limit 1`;
  return row?.id;
}
