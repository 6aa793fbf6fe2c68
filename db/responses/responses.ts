import type { Sql } from 'postgres';

export interface StoredResponse {
  /** The answer as it was given. */
  readonly body: Record<string, unknown>;
  /** All items that the model was asked with. */
  readonly input: unknown[];
}

/** Keeps an answer, whatever characters are in it; of a repeated id the first one stays. */
export async function storeResponse(
  sql: Sql,
  id: string,
  organization_id: string,
  { body, input }: StoredResponse,
): Promise<void> {
  await sql`
    insert into stored_response (id, organization_id, body, input)
    values (${id}, ${organization_id}, ${JSON.stringify(body)}::text::json,
      ${JSON.stringify(input)}::text::json)
    on conflict (id) do nothing`;
}

/** Another organization's response is none (P6). */
export async function findResponse(
  sql: Sql,
  id: string,
  organization_id: string,
): Promise<StoredResponse | undefined> {
  if (hasNul(id)) return undefined;
  const [row] = await sql<StoredResponse[]>`
    select body, input from stored_response
    where id = ${id} and organization_id = ${organization_id}`;
  return row;
}

/** True if there was one. */
export async function deleteResponse(
  sql: Sql,
  id: string,
  organization_id: string,
): Promise<boolean> {
  if (hasNul(id)) return false;
  const { count } = await sql`
    delete from stored_response where id = ${id} and organization_id = ${organization_id}`;
  return count > 0;
}

/** PostgreSQL refuses a text with this character, and no id has one. */
function hasNul(id: string): boolean {
  return id.includes('\u0000');
}

/** Forgets what is older, at most so many at once; the number that went. */
export async function deleteOldResponses(sql: Sql, days: number, most: number): Promise<number> {
  const { count } = await sql`
    delete from stored_response where id in (
      select id from stored_response where created_at < now() - make_interval(days => ${days})
      limit ${most})`;
  return count;
}
