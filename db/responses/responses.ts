import type { Sql } from 'postgres';

/** An answer of the Responses API that was stored for later requests. */
export interface StoredResponse {
  /** The answer as it was sent to the client. */
  readonly body: Record<string, unknown>;
  /** All input items that the model received. */
  readonly input: unknown[];
}

/**
 * Stores a response, which may contain any characters. If a response with this id is stored
 * already, it stays unchanged.
 */
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

/** Finds a response by its id. A response of another organization is not found (P6). */
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

/** Deletes a response of an organization. Returns true if the response existed. */
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

/**
 * True if a text contains a NUL character. PostgreSQL refuses such a text, and no id contains one.
 */
function hasNul(id: string): boolean {
  return id.includes('\u0000');
}

/**
 * Deletes at most `limit` responses that are older than `days`. Returns the number of deleted
 * responses.
 */
export async function deleteOldResponses(sql: Sql, days: number, limit: number): Promise<number> {
  const { count } = await sql`
    delete from stored_response where id in (
      select id from stored_response where created_at < now() - make_interval(days => ${days})
      limit ${limit})`;
  return count;
}
