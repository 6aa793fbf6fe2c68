/** Rows of lists that a test inserts itself, so that their times are known. */
import type { Sql } from '../../db/client.ts';

export interface Owner {
  organization_id: string;
  key_id: string;
}

/** A row to insert: its id, and its time in microseconds since the Unix epoch. */
export interface ListedRow {
  id: string;
  at_us: number;
}

const values = (rows: readonly ListedRow[]) => JSON.stringify(rows);
const AT = "timestamptz 'epoch' + at_us * interval '1 microsecond'";

/** Inserts tasks that have failed. */
export async function insertTasks(
  sql: Sql,
  { organization_id, key_id }: Owner,
  rows: readonly ListedRow[],
): Promise<void> {
  await sql`
    insert into task (id, organization_id, key_id, request_id, scene, model, status, error_code,
      hold_id, hold_nano_usd, submission_key, deadline_at, created_at, ended_at, webhook_url)
    select id, ${organization_id}, ${key_id}, gen_random_uuid(), 'image', 'midjourney', 'failed',
      'upstream_error', gen_random_uuid(), 0, gen_random_uuid(), now(), ${sql.unsafe(AT)}, now(),
      'https://example.com/hook'
    from json_to_recordset(${values(rows)}::text::json) as input(id text, at_us int8)`;
}

/** Inserts tasks with delivered webhooks. */
export async function insertDeliveries(
  sql: Sql,
  owner: Owner,
  rows: readonly ListedRow[],
): Promise<void> {
  await insertTasks(sql, owner, rows);
  await sql`
    insert into webhook_delivery (task_id, organization_id, url, status, attempts, created_at)
    select id, ${owner.organization_id}, 'https://example.com/hook', 'delivered', 1,
      ${sql.unsafe(AT)}
    from json_to_recordset(${values(rows)}::text::json) as input(id text, at_us int8)`;
}

/** Inserts running batches. */
export async function insertBatches(
  sql: Sql,
  { organization_id, key_id }: Owner,
  rows: readonly ListedRow[],
): Promise<void> {
  await sql`
    insert into message_batch (id, organization_id, key_id, status, headers, created_at, expires_at)
    select id, ${organization_id}, ${key_id}, 'in_progress', '{}', ${sql.unsafe(AT)}, now()
    from json_to_recordset(${values(rows)}::text::json) as input(id text, at_us int8)`;
}

/** Inserts changes of the circuits of a channel. */
export async function insertChanges(
  sql: Sql,
  channel_id: string,
  rows: readonly ListedRow[],
): Promise<void> {
  await sql`
    insert into channel_transition (id, channel_id, model, replica_id, from_state, to_state,
      is_from_peer, at)
    select id, ${channel_id}, 'gpt-4o', 'replica', 'healthy', 'open', false, ${sql.unsafe(AT)}
    from json_to_recordset(${values(rows)}::text::json) as input(id uuid, at_us int8)`;
}
