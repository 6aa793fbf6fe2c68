import type { ErrorId } from '../../errors/registry.ts';
import { WeirError } from '../../errors/weir-error.ts';
import type { QuotaRefusal } from '../../machines/quota.ts';

/** Whose money is short: the key's cap or the organization's balance. */
export type LimitedBy = 'key' | 'organization';

/** Why a key is refused before any money is asked for; `bound` = whose money was last found gone. */
export function quotaError(reason: QuotaRefusal, bound: LimitedBy): WeirError {
  switch (reason) {
    case 'exhausted':
      return moneyGoneError(bound);
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

/** The money is spent: retrying does not help (spec: Errors, 402). */
export function moneyGoneError(bound: LimitedBy): WeirError {
  return bound === 'key'
    ? new WeirError('quota_exceeded', 'The usage limit of this API key is reached.', {
        hint: 'Raise limitAmount of the key, or use another key.',
      })
    : new WeirError('insufficient_balance', 'The account balance is too low for this request.', {
        hint: 'Add funds to the account.',
      });
}

/** The money is only held by calls in flight: says so and when to retry (design 4). */
export function moneyInFlightError(bound: LimitedBy): WeirError {
  const id: ErrorId = bound === 'key' ? 'quota_in_flight' : 'balance_in_flight';
  return new WeirError(
    id,
    'What is left is set aside for requests in flight; some of it may come back when they end.',
    { retry_after: 2, hint: 'Retry when other requests have finished.' },
  );
}

export function ledgerUnavailableError(): WeirError {
  return new WeirError('service_unavailable', 'The ledger cannot be reached.', { retry_after: 2 });
}
