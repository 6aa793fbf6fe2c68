import type { Sql, TransactionSql } from 'postgres';

/**
 * A create request that can be repeated with its idempotency key (P7). It belongs to the API key
 * that sent it.
 */
export interface CreateRequest {
  readonly key_id: string;
  readonly organization_id: string;
  readonly route: string;
  readonly idempotency_key: string;
  /** SHA-256 of the body, hex. */
  readonly body_hash: string;
  /** The task or message batch that the request creates. */
  readonly task_id: string;
}

/**
 * Stores which task or message batch a create request creates. Must be called in the transaction
 * that creates it. If the API key has used the idempotency key on this route before, this function
 * throws a unique violation, so that the transaction commits nothing.
 */
export async function insertCreateRequest(
  tx: TransactionSql,
  request: CreateRequest,
): Promise<void> {
  await tx`
    insert into task_request (key_id, organization_id, route, idempotency_key, body_hash, task_id,
      created_at)
    values (${request.key_id}, ${request.organization_id}, ${request.route},
      ${request.idempotency_key}, ${request.body_hash}, ${request.task_id}, weir_now())`;
}

/**
 * Finds the create request that an API key sent before to this route with this idempotency key.
 * Returns the hash of its body and the id of the task or batch that it created; undefined if there
 * is no such request.
 */
export async function findCreateRequest(
  sql: Sql,
  { key_id, route, idempotency_key }: CreateRequest,
): Promise<Pick<CreateRequest, 'task_id' | 'body_hash'> | undefined> {
  const [row] = await sql<Pick<CreateRequest, 'task_id' | 'body_hash'>[]>`
    select task_id, body_hash from task_request
    where key_id = ${key_id} and route = ${route} and idempotency_key = ${idempotency_key}`;
  return row;
}
