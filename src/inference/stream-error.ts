import { WeirError } from '../errors/weir-error.ts';
import { RetryableUpstreamError } from '../upstreams/contract.ts';
import { publicError } from './routing/route.ts';

const HINT = 'Send the request again. The part that you received is charged.';

/**
 * Returns the error with which a started stream ends. If the upstream sent nothing in time, it is a
 * `timeout_error`. For every other failure of the upstream it is an `upstream_error`. For an error
 * of Weir itself, e.g. of its database, it is an `internal_error`.
 */
export function streamError(error: unknown): WeirError {
  const known = publicError(error);
  if (known instanceof WeirError) return known;
  if (!(known instanceof RetryableUpstreamError)) {
    const message = 'Something went wrong on our side before the answer was complete.';
    return new WeirError('internal_error', message, { hint: HINT }, error);
  }
  if (known.failure === 'timeout') {
    const message = 'The model stopped sending before the answer was complete.';
    return new WeirError('timeout_error', message, { hint: HINT }, error);
  }
  const message = 'The model provider ended the answer before it was complete.';
  return new WeirError('upstream_error', message, { hint: HINT }, error);
}
