import type { Sql, TransactionSql } from 'postgres';
import type { JsonValue } from '../actors/store.ts';
import type { TaskFacts } from '../records/record.ts';
import { type CreateRequest, insertCreateRequest } from './requests.ts';

/** A new task. Amounts are in nano-USD. */
export interface NewTask {
  id: string;
  organization_id: string;
  key_id: string;
  request_id: string;
  /** Undefined if nobody records the create call. */
  record: TaskFacts | undefined;
  scene: string;
  model: string;
  input: object;
  hold_id: string;
  hold_nano_usd: number;
  /** True if the hold covers only the fee of an own key of the organization. */
  own_only: boolean;
  /** True if the key's cap counts the list price, also on an own key. */
  counts_list: boolean;
  submission_key: string;
  webhook_url: string | null;
  /** Milliseconds from now to the deadline. */
  deadline_ms: number;
}

export type TaskStatus = 'pending' | 'processing' | 'completed' | 'failed';

/** A task as clients see it. */
export interface TaskViewRow {
  id: string;
  scene: 'image' | 'video' | 'music' | '3d' | 'audio';
  status: TaskStatus;
  /** The time of creation in Unix seconds. */
  created: number;
  /** The seconds that passed since `created`. */
  age_s: number;
  model: string;
  /** The results; null until the task is completed. */
  outputs: JsonValue;
  /** The tokens that the upstream reported; null until the task is completed, or without a report. */
  tokens: JsonValue;
  error_code: string | null;
  error_message: string | null;
  billing_id: string | null;
}

/** A task as its effects need it. */
export interface TaskWorkRow {
  id: string;
  organization_id: string;
  key_id: string;
  request_id: string;
  /** Null in tasks of earlier versions. */
  record: TaskFacts | null;
  /** When the money was reserved, ms since the Unix epoch. */
  created_ms: number;
  /** Milliseconds since then. */
  age_ms: number;
  scene: 'image' | 'video' | 'music' | '3d' | 'audio';
  status: TaskStatus;
  model: string;
  input: JsonValue;
  hold_id: string;
  hold_nano_usd: number;
  /** True if the hold covers only the fee of an own key of the organization. */
  own_only: boolean;
  /** True if the key's cap counts the list price, also on an own key. */
  counts_list: boolean;
  submission_key: string;
  channel_id: string | null;
  /**
   * Milliseconds since the latest submission. Null = no submission was sent, or the upstream did
   * not accept the latest one.
   */
  submitted_ms_ago: number | null;
  /** True if the organization requested to cancel the task. */
  cancel_requested: boolean;
  job: JsonValue;
  produced: JsonValue;
  outputs: JsonValue;
  webhook_url: string | null;
  /** Milliseconds until the deadline; negative after the deadline. */
  ms_left: number;
}

/** Inserts a task. If the idempotency key exists, throws a unique violation and commits nothing. */
export async function insertTask(
  tx: TransactionSql,
  task: NewTask,
  request: CreateRequest | null,
): Promise<void> {
  await tx`
    insert into task (id, organization_id, key_id, request_id, record, scene, model, input, hold_id,
      hold_nano_usd, own_only, counts_list, submission_key, webhook_url, deadline_at, created_at)
    values (${task.id}, ${task.organization_id}, ${task.key_id}, ${task.request_id},
      ${task.record ? JSON.stringify(task.record) : null}::text::jsonb, ${task.scene}, ${task.model}, ${JSON.stringify(task.input)}::text::jsonb, ${task.hold_id},
      ${task.hold_nano_usd}, ${task.own_only}, ${task.counts_list}, ${task.submission_key}, ${task.webhook_url},
      weir_now() + ${task.deadline_ms} * interval '1 millisecond', weir_now())`;
  if (request) await insertCreateRequest(tx, request);
}

/**
 * Finds a task by its id. A task of another organization is not found (P6). Reads one row without a
 * lock (P11).
 */
export async function findTaskView(
  sql: Sql,
  id: string,
  organization_id: string,
): Promise<TaskViewRow | undefined> {
  const [row] = await sql<TaskViewRow[]>`
    select id, scene, status, extract(epoch from created_at)::int8 as created,
      extract(epoch from weir_now() - created_at)::int8 as age_s, model,
      case when status = 'completed' then outputs end as outputs,
      case when status = 'completed' then produced #> '{usage,tokens}' end as tokens,
      error_code, error_message, billing_id
    from task where id = ${id} and organization_id = ${organization_id}`;
  return row;
}

/**
 * Returns a task for its effects. Throws if the task does not exist, because every effect has a
 * task. `input` may have megabytes, so it is read only if `withInput` is true, and is null
 * otherwise.
 */
export async function getTaskWork(sql: Sql, id: string, withInput = false): Promise<TaskWorkRow> {
  const row = (await findTaskWorks(sql, [id], withInput)).get(id);
  if (!row) throw missingTaskError(id);
  return row;
}

/**
 * Finds tasks for their effects, by id. Reads all of them with one query. `input` is as in
 * `getTaskWork`.
 */
export async function findTaskWorks(
  sql: Sql,
  ids: readonly string[],
  withInput = false,
): Promise<Map<string, TaskWorkRow>> {
  const rows = await sql<TaskWorkRow[]>`
    select id, organization_id, key_id, request_id, record, scene, status, model,
      floor(extract(epoch from created_at) * 1000)::int8 as created_ms,
      (extract(epoch from weir_now() - created_at) * 1000)::int8 as age_ms,
      case when ${withInput} then input end as input, hold_id,
      hold_nano_usd, own_only, counts_list, submission_key, channel_id,
      (extract(epoch from weir_now() - submitted_at) * 1000)::int8 as submitted_ms_ago,
      cancel_requested_at is not null as cancel_requested, job, produced, outputs, webhook_url,
      (extract(epoch from deadline_at - weir_now()) * 1000)::int8 as ms_left
    from task where id = any(${ids}::text[])`;
  return new Map(rows.map((row) => [row.id, row]));
}

/** The error of an effect whose task does not exist. It is a defect of Weir. */
export const missingTaskError = (id: string) => new Error(`task ${id} does not exist`);

/** Finds the completed task that a later task of the same organization continues. */
export async function findContinuedTask(
  sql: Sql,
  id: string,
  organization_id: string,
): Promise<Pick<TaskWorkRow, 'channel_id' | 'job' | 'produced'> | undefined> {
  const [row] = await sql<Pick<TaskWorkRow, 'channel_id' | 'job' | 'produced'>[]>`
    select channel_id, job, produced from task
    where id = ${id} and organization_id = ${organization_id} and status = 'completed'`;
  return row;
}
