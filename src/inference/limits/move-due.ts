/** What a call is told of the soft limits that it exceeds. */
import type { ReachedLimit } from '../../../db/records/record.ts';
import type { Exceeded } from './limit.ts';

/**
 * Thrown where a call is admitted, if it must move to another model first. The call has taken nothing, and
 * nothing was sent.
 */
export class MoveDue extends Error {
  override readonly name = 'MoveDue';

  constructor(
    /** The id of the model that the owner of the limit named. */
    readonly to: string,
    readonly reached: readonly ReachedLimit[],
  ) {
    super(`the call moves to ${to}`);
  }
}

const LIMITS = {
  requests: 'requests_per_minute',
  tokens: 'tokens_per_minute',
  calls: 'concurrent_calls',
} as const;

/** Returns the facts about an exceeded limit of a key. */
export function reachedLimit({ take, wait_ms }: Exceeded): ReachedLimit {
  return {
    type: LIMITS[take.unit],
    ...(take.model === null ? {} : { model: take.model }),
    // A call that alone is above the limit never fits.
    ...(Number.isFinite(wait_ms) ? { frees_in_s: Math.max(1, Math.ceil(wait_ms / 1_000)) } : {}),
  };
}
