import { type ChannelFailure, COOLDOWNS_MS } from '../../machines/channel.ts';
import { RetryableUpstreamError } from '../../upstreams/contract.ts';

/** How a permit ended. */
export type Outcome = 'succeeded' | 'abandoned' | RetryableUpstreamError;

/** True if the reason of a circuit is a class of failures that has a cooldown. */
export function isFailure(reason: string | null): reason is ChannelFailure {
  return reason !== null && Object.hasOwn(COOLDOWNS_MS, reason);
}

/** One client's request may be the reason of such a failure, so it proves nothing (P9, P19). */
export function isUnclear(outcome: Outcome): boolean {
  return outcome instanceof RetryableUpstreamError && outcome.failure === 'unclear';
}
