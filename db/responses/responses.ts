import type { Sql } from 'postgres';

/** A response of the Responses API that was stored for later requests. */
export interface StoredResponse {
  /** The answer as it was sent to the client. */
  readonly body: Record<string, unknown>;
  /** All input items of the model. */
  readonly input: unknown[];
}

/** Stores a response with any characters in it. If the id exists, the stored one is kept. */
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

/** Finds a response of an organization, but no other organization's response (P6). */
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

/** Deletes a response of an organization; true if there was one. */
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

/** Deletes responses older than `days`, at most `limit`; returns how many. */
export async function deleteOldResponses(sql: Sql, days: number, limit: number): Promise<number> {
  const { count } = await sql`
    delete from stored_response where id in (
      select id from stored_response where created_at < now() - make_interval(days => ${days})
      limit ${limit})`;
  return count;
}
