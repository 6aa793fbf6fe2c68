/** Events for tests of the durable machines. Each type of event of a machine occurs. */
import type { BatchEvent } from '../../src/machines/batch.ts';
import type { TaskEvent } from '../../src/machines/task-events.ts';
import type { WebhookEvent } from '../../src/machines/webhook.ts';

/** The `random` of all events. */
export const random = 0.5;
export const ACCEPTED: Extract<TaskEvent, { type: 'ACCEPTED' }> = {
  type: 'ACCEPTED',
  deadline_ms: 60_000,
  patient: true,
  announce: true,
  pinned_channel: null,
};
export const rejected = (
  more: Partial<Extract<TaskEvent, { type: 'SUBMIT_REJECTED' }>> = {},
): TaskEvent => ({
  type: 'SUBMIT_REJECTED',
  channel_id: 'a',
  retryable: true,
  more: false,
  busy: false,
  error_code: 'upstream_error',
  retry_after_ms: 0,
  random,
  ...more,
});
/** Events of each type that the task machine knows. */
export const TASK_EVENTS: TaskEvent[] = [
  ACCEPTED,
  { ...ACCEPTED, patient: false, announce: false },
  { type: 'SUBMITTED', channel_id: 'a', random },
  rejected(),
  rejected({ more: true }),
  rejected({ busy: true, channel_id: null }),
  rejected({ retryable: false, error_code: 'invalid_request' }),
  { type: 'PROGRESSED', progress: null, retry_after_ms: 0, random },
  { type: 'PROGRESSED', progress: 40, retry_after_ms: 0, random },
  { type: 'PRODUCED', outputs: 1 },
  { type: 'COLLECTED', outputs: 1 },
  { type: 'COLLECT_FAILED', random },
  { type: 'SETTLED', billing_id: 'b' },
  { type: 'UPSTREAM_FAILED', error_code: 'content_policy_violation' },
  { type: 'LOST', random },
  { type: 'UNANSWERED', hopeless: false, random },
  { type: 'UNANSWERED', hopeless: true, random },
  { type: 'RELEASED' },
  { type: 'CANCELLED' },
  { type: 'ANNOUNCED' },
  { type: 'DEADLINE' },
  { type: 'CANCEL' },
  { type: 'CANCEL_REQUESTED' },
  { type: 'RETRY' },
  { type: 'POLL' },
  { type: 'ASK' },
  { ...ACCEPTED, pinned_channel: 'a' },
];

export const COUNTS = { succeeded: 1, errored: 2, canceled: 3, expired: 4 };
export const BATCH_EVENTS: BatchEvent[] = [
  { type: 'OPENED' },
  { type: 'CANCEL' },
  { type: 'WORKED' },
  { type: 'CLOSED', counts: COUNTS },
];

export const REFUSED: WebhookEvent = { type: 'REFUSED', status: 500, final: false };
export const WEBHOOK_EVENTS: WebhookEvent[] = [
  { type: 'ANNOUNCED' },
  { type: 'DELIVERED', status: 204 },
  REFUSED,
  { type: 'REFUSED', status: 410, final: true },
  { type: 'RETRY' },
];
