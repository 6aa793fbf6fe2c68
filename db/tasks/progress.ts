import type { Sql, TransactionSql } from 'postgres';
import { addTaskOutcomes } from '../health/outcomes.ts';
import { beganAttempt, endedAttempt } from './attempts.ts';
import { insertTaskRecords, type TaskEnd } from './record.ts';
import type { TaskStatus } from './rows.ts';

/**
 * Records and commits a submission. The caller may send the submission only if this returns true
 * (P10). Returns false if the task has ended, if the organization requested to cancel it, or if an
 * earlier submission was not cleared: the upstream accepted it, or its outcome is unknown.
 */
export async function beginSubmission(sql: Sql, id: string, channel_id: string): Promise<boolean> {
  const rows = await sql`
    update task set channel_id = ${channel_id}, submitted_at = weir_now(), attempts = attempts + 1,
      record = ${beganAttempt(sql, channel_id)}
    where id = ${id} and submitted_at is null and cancel_requested_at is null
      and status in ('pending', 'processing') returning 1`;
  return rows.length === 1;
}

/**
 * Records that the organization requested to cancel its task. After this is committed, no submission
 * of the task begins (`beginSubmission`). A second request changes nothing.
 */
export async function recordCancelRequest(
  tx: TransactionSql,
  id: string,
  organization_id: string,
): Promise<void> {
  await tx`
    update task set cancel_requested_at = coalesce(cancel_requested_at, weir_now())
    where id = ${id} and organization_id = ${organization_id}
      and status in ('pending', 'processing')`;
}

/**
 * Records that the upstream did not accept the submission, so another submission may be sent.
 * `failure` is the class of the failure, and `fault` says whose it is.
 */
export async function clearSubmission(
  tx: TransactionSql,
  id: string,
  ended: { readonly failure: string; readonly fault: string },
): Promise<void> {
  await tx`
    update task set submitted_at = null,
      record = ${endedAttempt(tx, { failure: tx`${ended.failure}`, fault: tx`${ended.fault}` })}
    where id = ${id}`;
}

/**
 * Stores the job that the upstream created. Call this immediately after the submission, so that the
 * job is known if the effect runs again.
 */
export async function storeJob(sql: Sql, id: string, job: object): Promise<void> {
  await sql`update task set job = ${JSON.stringify(job)}::text::jsonb where id = ${id}`;
}

/** How long the upstream has said, at every poll, that it has no such job. */
export interface MissingJob {
  /** Polls in a row, this one included. */
  polls: number;
  /** Milliseconds since the first of these polls. */
  missing_ms: number;
}

/** Counts a poll at which the upstream said that it has no such job. Returns the whole count. */
export async function countMissingJob(sql: Sql, id: string): Promise<MissingJob> {
  const [row] = await sql<MissingJob[]>`
    update task set job = jsonb_set(job, '{missing}', jsonb_build_object(
      'polls', coalesce((job #>> '{missing,polls}')::int, 0) + 1,
      'since', coalesce((job #>> '{missing,since}')::timestamptz, weir_now())))
    where id = ${id} and job is not null
    returning (job #>> '{missing,polls}')::int as polls, (extract(epoch from
      weir_now() - (job #>> '{missing,since}')::timestamptz) * 1000)::int8 as missing_ms`;
  if (!row) throw new Error(`task ${id} has no job`);
  return row;
}

/**
 * Removes the count of polls at which the upstream did not know the task's job. Called when a poll
 * finds the job again.
 */
export async function endMissingJob(sql: Sql, id: string): Promise<void> {
  await sql`update task set job = job - 'missing' where id = ${id}`;
}

/**
 * Stores the upstream's result without the bytes of its files. The caller must have stored the
 * bytes in Weir's storage.
 */
export async function storeProduced(sql: Sql, id: string, produced: object): Promise<void> {
  await sql`
    update task set produced = ${JSON.stringify(produced)}::text::jsonb,
      record = ${endedAttempt(sql, { failure: sql`null`, fault: sql`null` })}
    where id = ${id}`;
}

/** Stores the names of the result files. A client sees the results once the task is completed. */
export async function storeOutputs(
  tx: TransactionSql,
  id: string,
  outputs: readonly object[],
): Promise<void> {
  await tx`update task set outputs = ${JSON.stringify(outputs)}::text::jsonb where id = ${id}`;
}

/** Stores the error message of the task, which the client sees. */
export async function storeError(tx: TransactionSql, id: string, message: string): Promise<void> {
  await tx`update task set error_message = ${message} where id = ${id}`;
}

/** The public columns of a task after a transition of its machine. */
export interface TaskProjection {
  id: string;
  status: TaskStatus;
  error_code: string | null;
  /** The message to write if `storeError` stored none. */
  error_message: string | null;
  billing_id: string | null;
  /** How the record of the call ends, if the task failed. */
  end: TaskEnd | null;
}

/**
 * Writes the public columns of tasks. An ended task never changes (P11). If a task ends here, its
 * outcome is counted for the ranking, and only once. A failed task gets the record of its call; a
 * completed task has a usage line.
 */
export async function projectTasks(
  tx: TransactionSql,
  rows: readonly TaskProjection[],
): Promise<void> {
  if (rows.length === 0) return;
  const moved = await tx<{ id: string; status: TaskStatus }[]>`
    update task set status = input.status, billing_id = input.billing_id,
      error_code = input.error_code,
      error_message = case when input.status <> 'failed' then null
        when input.error_code = 'request_cancelled' then input.error_message
        else coalesce(task.error_message, input.error_message) end,
      ended_at = case when input.status in ('completed', 'failed') then weir_now() end,
      input = case when input.status in ('pending', 'processing') then task.input end,
      record = case when input.status = 'failed' then ${endedAttempt(tx, {
        failure: tx`input.error_code`,
        fault: tx`input."end" ->> 'fault'`,
      })} else record end
    from json_to_recordset(${JSON.stringify(rows)}::text::json) as input(
      id text, status text, error_code text, error_message text, billing_id uuid, "end" json)
    where task.id = input.id and task.status in ('pending', 'processing')
    returning task.id, task.status`;
  const ended = moved.filter(({ status }) => status === 'completed' || status === 'failed');
  if (ended.length > 0) {
    await addTaskOutcomes(
      tx,
      ended.map(({ id }) => id),
    );
  }
  const failed = new Set(moved.flatMap(({ id, status }) => (status === 'failed' ? [id] : [])));
  await insertTaskRecords(
    tx,
    rows.flatMap(({ id, end }) => (end && failed.has(id) ? [{ id, ...end }] : [])),
  );
}
