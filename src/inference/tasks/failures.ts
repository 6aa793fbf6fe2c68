import { ERRORS, type ErrorId } from '../../errors/registry.ts';
import { WeirError } from '../../errors/weir-error.ts';
import type { RetryableUpstreamError } from '../../upstreams/contract.ts';
import type { Failed } from '../../upstreams/generation/contract.ts';
import { UNAVAILABLE_HINT } from '../routing/route.ts';

/**
 * Why a task failed. It is an id of the error registry, or `request_cancelled` if the client left.
 */
export type TaskErrorCode = ErrorId | 'request_cancelled';

const MESSAGES: Partial<Record<TaskErrorCode, string>> = {
  timeout_error: 'The generation took too long.',
  request_cancelled: 'The client left before the generation ended.',
  content_policy_violation: 'The content was refused by the safety system.',
  invalid_request: 'The model cannot serve this request.',
  rate_limit_exceeded: 'The model is receiving more requests than it can serve.',
  all_channels_failed: 'No provider can serve this model right now.',
};

const CANCELED_MESSAGE = 'The task was canceled before it had a result.';

/**
 * Returns the message of a failed task whose upstream gave no public message. `cancel_requested` is
 * true if the organization requested to cancel the task.
 */
export function messageFor(code: string, cancel_requested = false): string {
  if (cancel_requested && code === 'request_cancelled') return CANCELED_MESSAGE;
  return MESSAGES[code as TaskErrorCode] ?? 'The model provider could not complete the generation.';
}

/**
 * Returns the error for a call whose task failed while the call waited. `retry_after` is the time
 * after which a retry may help, whole seconds. It is left out if no retry can help.
 */
export function taskError(code: string, message: string, retry_after: number): WeirError {
  const id = code in ERRORS ? (code as ErrorId) : 'upstream_error';
  if (id === 'all_channels_failed') {
    return new WeirError(id, message, { retry_after, hint: UNAVAILABLE_HINT });
  }
  return new WeirError(id, message, ERRORS[id].retryable ? { retry_after } : {});
}

/** Returns the error code of a job that the provider ended without a result. */
export function taskErrorCode(reason: Failed['reason']): TaskErrorCode {
  switch (reason) {
    case 'moderation':
      return 'content_policy_violation';
    case 'input':
      return 'invalid_request';
    case 'upstream':
      return 'upstream_error';
    default:
      return reason satisfies never;
  }
}

/**
 * Returns the error code of a submission that no channel accepted. `channels` is the number of
 * channels that serve the model.
 */
export function rejectionErrorCode(
  failure: RetryableUpstreamError['failure'],
  channels: number,
): TaskErrorCode {
  if (failure === 'throttle') return 'rate_limit_exceeded';
  if (failure === 'timeout') return 'timeout_error';
  return channels === 1 && failure !== 'auth' ? 'upstream_error' : 'all_channels_failed';
}
