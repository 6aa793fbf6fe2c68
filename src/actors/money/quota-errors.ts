import type { ErrorId } from '../../errors/registry.ts';
import { WeirError } from '../../errors/weir-error.ts';
import type { QuotaRefusal } from '../../machines/quota.ts';

/** Which limit applies: the key's cap or the organization's balance. */
export type LimitedBy = 'key' | 'organization';

/**
 * Returns the error for a call that the quota machine refused for `reason`. `bound` is the limit
 * that was reached last. It counts only if the reason is `exhausted`.
 */
export function quotaError(reason: QuotaRefusal, bound: LimitedBy): WeirError {
  switch (reason) {
    case 'exhausted':
      return moneySpentError(bound);
    case 'revoked':
      return new WeirError('expired_api_key', 'This API key has been revoked.');
    case 'expired':
      return new WeirError('expired_api_key', 'This API key has expired.');
    case 'inactive':
    case 'suspended':
      return new WeirError('access_denied', `This API key is ${reason}.`, {
        hint: 'Set its status to active with the management API.',
      });
    default:
      return reason satisfies never;
  }
}

/**
 * Returns the error for a call if the key or the organization has spent its money. A retry does not
 * help (spec: Errors, 402).
 */
export function moneySpentError(bound: LimitedBy): WeirError {
  return bound === 'key'
    ? new WeirError('quota_exceeded', 'The usage limit of this API key is reached.', {
        hint: 'Raise limitAmount of the key, or use another key.',
      })
    : new WeirError('insufficient_balance', 'The account balance is too low for this request.', {
        hint: 'Add funds to the account.',
      });
}

/**
 * Returns the error for a call if other calls in flight hold the money that it needs. The error
 * names a retry time.
 */
export function moneyInFlightError(bound: LimitedBy): WeirError {
  const id: ErrorId = bound === 'key' ? 'quota_in_flight' : 'balance_in_flight';
  return new WeirError(
    id,
    'The remaining money is reserved for requests in flight; some of it may be free when they end.',
    { retry_after: 2, hint: 'Retry when other requests have finished.' },
  );
}

/**
 * Returns the error for the case that the ledger cannot be reached, or that this replica's lease
 * may have ended.
 */
export function ledgerUnavailableError(): WeirError {
  return new WeirError('service_unavailable', 'The ledger cannot be reached.', { retry_after: 2 });
}
