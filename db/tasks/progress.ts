import type { Sql, TransactionSql } from 'postgres';
import { addTaskOutcomes } from '../health/outcomes.ts';
import type { TaskStatus } from './rows.ts';

/**
 * Notes that a submission is about to be sent; false = one was begun before and nobody knows its
 * outcome, so nothing may be sent (P10). Committed before the upstream is called.
 */
export async function beginSubmission(sql: Sql, id: string, channel_id: string): Promise<boolean> {
  const rows = await sql`
    update task set channel_id = ${channel_id}, submitted_at = weir_now(), attempts = attempts + 1
    where id = ${id} and submitted_at is null and status in ('pending', 'processing') returning 1`;
  return rows.length === 1;
}

/** The submission was surely not accepted: another one may be sent. */
export async function clearSubmission(tx: TransactionSql, id: string): Promise<void> {
  await tx`update task set submitted_at = null where id = ${id}`;
}

/** The upstream took the job. Written at once: whoever runs the effect again finds it here. */
export async function storeJob(sql: Sql, id: string, job: object): Promise<void> {
  await sql`update task set job = ${JSON.stringify(job)}::text::jsonb where id = ${id}`;
}

/** What the upstream made, its bytes already in our storage. */
export async function storeProduced(sql: Sql, id: string, produced: object): Promise<void> {
  await sql`update task set produced = ${JSON.stringify(produced)}::text::jsonb where id = ${id}`;
}

/** What is in our storage; shown once the task is completed. */
export async function storeOutputs(
  tx: TransactionSql,
  id: string,
  outputs: readonly object[],
): Promise<void> {
  await tx`update task set outputs = ${JSON.stringify(outputs)}::text::jsonb where id = ${id}`;
}

/** Why it fails, in words for the client. */
export async function storeError(tx: TransactionSql, id: string, message: string): Promise<void> {
  await tx`update task set error_message = ${message} where id = ${id}`;
}

/** The public side of a task's machine as it is being committed. */
export interface TaskProjection {
  id: string;
  status: TaskStatus;
  error_code: string | null;
  /** Where no better words were noted. */
  error_message: string | null;
  billing_id: string | null;
}

/**
 * Moves the public status; of an ended task nothing changes any more (P11). What ends here counts for
 * its model's health, once.
 */
export async function projectTasks(
  tx: TransactionSql,
  rows: readonly TaskProjection[],
): Promise<void> {
  if (rows.length === 0) return;
  const moved = await tx<{ id: string; status: TaskStatus }[]>`
    update task set status = input.status, billing_id = input.billing_id,
      error_code = input.error_code,
      error_message = case when input.status = 'failed'
        then coalesce(task.error_message, input.error_message) end,
      ended_at = case when input.status in ('completed', 'failed') then weir_now() end,
      input = case when input.status in ('pending', 'processing') then task.input end
    from json_to_recordset(${JSON.stringify(rows)}::text::json) as input(
      id text, status text, error_code text, error_message text, billing_id uuid)
    where task.id = input.id and task.status in ('pending', 'processing')
    returning task.id, task.status`;
  const ended = moved.filter(({ status }) => status === 'completed' || status === 'failed');
  if (ended.length > 0) {
    await addTaskOutcomes(
      tx,
      ended.map(({ id }) => id),
    );
  }
}
