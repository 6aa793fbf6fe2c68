import { isOwnChannel } from '../../config/own-key-rows.ts';
import { RetryableUpstreamError } from '../../upstreams/contract.ts';
import { LostSubmissionError } from '../../upstreams/generation/contract.ts';

const HIDDEN = 'an own key of the organization failed; only its organization sees why';

/**
 * Returns an error of an upstream as logs and operators may have it. What a provider says of an own key is
 * for its organization only, so of such an error only the class is left. Other errors are unchanged.
 */
export function withoutOwnWords<Failure>(
  error: Failure,
  channel_id: string | null,
): Failure | Error {
  if (!isOwnChannel(channel_id)) return error;
  if (error instanceof LostSubmissionError) return new Error(HIDDEN);
  if (!(error instanceof RetryableUpstreamError)) return error;
  return hiddenFailure(error);
}

/** Returns an error that quotes a provider, for logs. Of an own key it quotes nothing. */
export function saidBy(channel_id: string | null, message: string): Error {
  return new Error(isOwnChannel(channel_id) ? HIDDEN : message);
}

/** Like `withoutOwnWords`, for the failure of an attempt. */
export function attemptFailure(
  error: RetryableUpstreamError,
  channel_id: string,
): RetryableUpstreamError {
  return isOwnChannel(channel_id) ? hiddenFailure(error) : error;
}

function hiddenFailure(error: RetryableUpstreamError): RetryableUpstreamError {
  const { failure, retry_after_ms, status, fault, public_message, error_id } = error;
  const facts = { retry_after_ms, status, fault, public_message, error_id };
  return new RetryableUpstreamError(failure, HIDDEN, facts);
}
