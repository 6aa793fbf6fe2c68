/** Events for tests of the machines. Each type of event of a machine occurs. */
import type { BatchEvent } from '../../src/machines/batch.ts';
import type { ChannelEvent } from '../../src/machines/channel.ts';
import type { QuotaEvent } from '../../src/machines/quota.ts';
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

const now = 1_000;
/** Events of each type that the channel machine knows. */
export const CHANNEL_EVENTS: ChannelEvent[] = [
  { type: 'SUCCEEDED' },
  { type: 'FAILED', failure: 'server', now },
  { type: 'FAILED', failure: 'auth', now },
  { type: 'THROTTLED', until: 2 * now },
  { type: 'COOLED', now },
  { type: 'COOLED', now: 1_000_000 * now },
  ...[1, 2, 3].flatMap((probe): ChannelEvent[] => [
    { type: 'PROBED', probe, verdict: 'succeeded' },
    { type: 'PROBED', probe, verdict: 'failed', failure: 'timeout', now },
    { type: 'PROBED', probe, verdict: 'failed', failure: 'auth', now },
    { type: 'PROBED', probe, verdict: 'abandoned' },
  ]),
  { type: 'MENDED' },
  { type: 'DISABLED', reason: 'operator' },
  { type: 'ENABLED' },
];

/** Events of each type that the quota machine knows. */
export const QUOTA_EVENTS: QuotaEvent[] = [
  { type: 'RESERVE', amount: 10 },
  { type: 'EXTEND', amount: 10 },
  { type: 'CALLS', reserved: 0, settled: 5, in_flight: 0 },
  { type: 'UNBOOKED', amount: 5 },
  { type: 'REFILL' },
  { type: 'GRANTED', granted: 100, exact: false },
  { type: 'GRANTED', granted: 10, exact: true },
  { type: 'REFUSED', gone: false },
  { type: 'REFUSED', gone: true },
  { type: 'RECALLED' },
  { type: 'REPLACED' },
  { type: 'SHRINK', keep: 10 },
  { type: 'LIMIT_CHANGED' },
  ...(['active', 'inactive', 'suspended', 'revoked'] as const).map(
    (status): QuotaEvent => ({ type: 'STATUS_CHANGED', status }),
  ),
  { type: 'EXPIRED' },
];
