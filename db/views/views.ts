import type { Sql, TransactionSql } from 'postgres';

/** The most views of a person, and the most shared views of an organization. */
export const MAX_VIEWS = 200;
/**
 * First part of the key of an advisory lock; the second part is the hash of the organization's id.
 */
const VIEW_LOCK = 7_304;

/** Who asks: the views of this person, and the shared ones. A token has no person. */
export interface ViewReader {
  readonly organization_id: string;
  readonly person_id: string | null;
}

/** What somebody chooses for a view. */
interface ViewSettings {
  readonly name: string;
  readonly page: string;
  readonly query: string;
  /** Whose view it is; null = shared. */
  readonly person_id: string | null;
}

/** A saved view. */
export interface ViewRow extends ViewSettings {
  readonly id: string;
  readonly created_by: string;
  readonly created_at: Date;
  readonly updated_at: Date;
}

const columns = (sql: Sql | TransactionSql) =>
  sql`id, name, page, query, person_id, created_by, created_at, updated_at`;

/** The condition that a view may be seen by a reader. Each query of this file has it (P6). */
const isSeen = (sql: Sql | TransactionSql, { organization_id, person_id }: ViewReader) => sql`
  organization_id = ${organization_id} and (person_id is null or person_id = ${person_id})`;

/** Returns the views that a reader sees, by name. */
export function listViews(
  sql: Sql,
  reader: ViewReader,
  page: string | undefined,
): Promise<ViewRow[]> {
  return sql<ViewRow[]>`
    select ${columns(sql)} from saved_view
    where ${isSeen(sql, reader)} ${page === undefined ? sql`` : sql`and page = ${page}`}
    order by lower(name), created_at, id limit ${2 * MAX_VIEWS}`;
}

/** Finds a view that a reader sees; undefined if there is none. */
export async function findView(
  sql: Sql | TransactionSql,
  reader: ViewReader,
  id: string,
): Promise<ViewRow | undefined> {
  const [row] = await sql<ViewRow[]>`
    select ${columns(sql)} from saved_view where id = ${id} and ${isSeen(sql, reader)}`;
  return row;
}

/** Makes other transactions that change views of the organization wait until this one has ended. */
export async function lockViews(tx: TransactionSql, organization_id: string): Promise<void> {
  await tx`select pg_advisory_xact_lock(${VIEW_LOCK}, hashtext(${organization_id}))`;
}

/** True if a person, or the organization (null), may have no more views. */
export async function hasManyViews(
  tx: TransactionSql,
  { organization_id, person_id }: ViewReader,
): Promise<boolean> {
  const [row] = await tx<{ views: number }[]>`
    select count(*)::int4 as views from saved_view
    where organization_id = ${organization_id} and person_id is not distinct from ${person_id}`;
  return !row || row.views >= MAX_VIEWS;
}

/** Inserts a view and returns it. */
export async function insertView(
  tx: TransactionSql,
  view: ViewSettings & { readonly id: string; organization_id: string; created_by: string },
): Promise<ViewRow> {
  const [row] = await tx<ViewRow[]>`
    insert into saved_view ${tx({ ...view })} returning ${columns(tx)}`;
  if (!row) throw new Error('the database returned no row');
  return row;
}

/** Changes a view that a reader sees, and returns it. */
export async function updateView(
  tx: TransactionSql,
  reader: ViewReader,
  id: string,
  changes: Partial<ViewSettings>,
): Promise<ViewRow> {
  const [row] = await tx<ViewRow[]>`
    update saved_view set ${tx({ ...changes })}, updated_at = weir_now()
    where id = ${id} and ${isSeen(tx, reader)} returning ${columns(tx)}`;
  if (!row) throw new Error(`there is no view ${id}`);
  return row;
}

/** Deletes a view that a reader sees. */
export async function deleteView(
  tx: TransactionSql,
  reader: ViewReader,
  id: string,
): Promise<void> {
  await tx`delete from saved_view where id = ${id} and ${isSeen(tx, reader)}`;
}
