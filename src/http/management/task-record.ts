import { type Static, type TSchema, Type } from '@sinclair/typebox';
import type { TaskListRow } from '../../../db/tasks/list.ts';
import { requestIdOf } from '../../errors/request-id.ts';
import type { StoredOutput } from '../../inference/tasks/port.ts';
import { billingTransactionId, errorOf } from '../../inference/tasks/view.ts';
import { usd } from '../../json/usd.ts';
import type { Link } from '../tasks/link.ts';

const Nullable = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);
const closed = { additionalProperties: false };
/** An RFC 3339 datetime in UTC. */
const Time = Type.String();

const OutputSchema = Type.Object(
  {
    type: Type.String(),
    /** A signed URL of the file; null for text. */
    url: Nullable(Type.String()),
    text: Nullable(Type.String()),
    title: Nullable(Type.String()),
    duration: Nullable(Type.Number()),
    width: Nullable(Type.Number()),
    height: Nullable(Type.Number()),
  },
  closed,
);

const WebhookSchema = Type.Object(
  {
    id: Type.String(),
    url: Type.String(),
    /** `waiting` until the task has ended. */
    status: Type.String(),
    attempts: Type.Integer(),
    last_status: Nullable(Type.Integer()),
    next_attempt_at: Nullable(Time),
  },
  closed,
);

const CancellationSchema = Type.Object(
  {
    requested_at: Time,
    state: Type.Union(
      ['requested', 'canceled', 'too_late', 'failed'].map((state) => Type.Literal(state)),
    ),
    message: Type.String(),
  },
  closed,
);

/** The members of a task in the management and operator routes. */
export const TASK_MEMBERS = {
  object: Type.Literal('task'),
  id: Type.String(),
  status: Type.Union(
    ['pending', 'processing', 'completed', 'failed'].map((status) => Type.Literal(status)),
  ),
  scene: Type.String(),
  model: Type.String(),
  api_key_id: Type.String(),
  request_id: Type.String(),
  /** Percent; null if the provider reports none. */
  progress: Nullable(Type.Integer()),
  created_at: Time,
  deadline_at: Time,
  ended_at: Nullable(Time),
  /** USD that the task holds now. */
  held_amount: Type.Number(),
  /** USD that the task cost; null until it has ended. */
  charged_amount: Nullable(Type.Number()),
  billing_transaction_id: Nullable(Type.String()),
  error: Nullable(Type.Object({ code: Type.String(), message: Type.String() }, closed)),
  outputs: Type.Array(OutputSchema),
  webhook: Nullable(WebhookSchema),
  cancellation: Nullable(CancellationSchema),
};

/** A task in the management routes. */
export const TaskRecordSchema = Type.Object(TASK_MEMBERS, closed);
export type TaskRecord = Static<typeof TaskRecordSchema>;

/** Returns a task as its organization sees it. It names no channel, provider or upstream model (P5). */
export function managedTaskRecord(row: TaskListRow, link: Link): TaskRecord {
  const outputs = (row.outputs ?? []) as unknown as StoredOutput[];
  return {
    object: 'task',
    id: row.id,
    status: row.status,
    scene: row.scene,
    model: row.model,
    api_key_id: row.key_id,
    request_id: requestIdOf(row.request_id),
    progress: row.status === 'completed' ? 100 : row.progress,
    created_at: row.created_at.toISOString(),
    deadline_at: row.deadline_at.toISOString(),
    ended_at: row.ended_at?.toISOString() ?? null,
    held_amount: usd(row.held_nano_usd),
    charged_amount: row.charged_nano_usd === null ? null : usd(row.charged_nano_usd),
    billing_transaction_id: row.billing_id === null ? null : billingTransactionId(row.billing_id),
    error: row.status === 'failed' ? errorOf(row) : null,
    outputs: outputs.map(({ kind, file, text, title, duration, width, height }) => ({
      type: kind,
      url: file === undefined ? null : link(file),
      text: text ?? null,
      title: title ?? null,
      duration: duration ?? null,
      width: width ?? null,
      height: height ?? null,
    })),
    webhook: webhookOf(row),
    cancellation: cancellationOf(row),
  };
}

function webhookOf(row: TaskListRow): TaskRecord['webhook'] {
  if (row.webhook_url === null) return null;
  return {
    id: `msg_${row.id}`,
    url: row.webhook_url,
    status: row.webhook_status ?? 'waiting',
    attempts: row.webhook_attempts ?? 0,
    last_status: row.webhook_last_status,
    next_attempt_at: row.webhook_next_attempt_at?.toISOString() ?? null,
  };
}

/** Says what became of the request to cancel the task, and what it means for the money (P10). */
function cancellationOf(row: TaskListRow): TaskRecord['cancellation'] {
  const { status, error_code, cancel_requested_at } = row;
  if (!cancel_requested_at) return null;
  const requested_at = cancel_requested_at.toISOString();
  if (status === 'completed') {
    const message = 'The result existed before the task could be canceled. It is charged.';
    return { requested_at, state: 'too_late', message };
  }
  if (status !== 'failed') {
    const message =
      'The provider may still deliver, so the money stays held until it reports the end: a result is charged, anything else is not.';
    return { requested_at, state: 'requested', message };
  }
  return error_code === 'request_cancelled'
    ? { requested_at, state: 'canceled', message: 'The task was canceled. Nothing is charged.' }
    : { requested_at, state: 'failed', message: 'The task failed. Nothing is charged.' };
}
