import { organizationStatusError } from '../../errors/organization-status.ts';
import type { ErrorId } from '../../errors/registry.ts';
import { WeirError } from '../../errors/weir-error.ts';
import { usd } from '../../json/usd.ts';
import type { QuotaRefusal } from '../../machines/quota.ts';
import type { UnusableStatus } from './ledger-commands.ts';

/** Which limit applies: the key's cap or the organization's balance. */
export type LimitedBy = 'key' | 'organization';

/**
 * Returns the error for a call that the quota machine refused for `reason`. If the reason is
 * `exhausted`, `bound` is the limit that was reached last, and `estimate` the upper bound of the
 * call's charge, nano-USD.
 */
export function quotaError(reason: QuotaRefusal, bound: LimitedBy, estimate: number): WeirError {
  return reason === 'exhausted' ? moneySpentError(bound, estimate, 0) : keyStatusError(reason);
}

/** Returns the error for a call with a key that may not make calls. */
export function keyStatusError(status: UnusableStatus): WeirError {
  switch (status) {
    case 'organization_suspended':
      return organizationStatusError('suspended');
    case 'organization_closed':
      return organizationStatusError('closed');
    case 'revoked':
      return new WeirError('expired_api_key', 'This API key has been revoked.');
    case 'expired':
      return new WeirError('expired_api_key', 'This API key has expired.');
    case 'inactive':
    case 'suspended':
      return new WeirError('access_denied', `This API key is ${status}.`, {
        hint: 'Set the status of the API key to active with the management API.',
      });
    default:
      return status satisfies never;
  }
}

/**
 * Returns the error for a call if the key or the organization has too little money left for it. A
 * retry does not help (spec: Errors, 402). `estimate` is the upper bound of the call's charge, and
 * `left` is what the call could spend, both nano-USD.
 */
export function moneySpentError(bound: LimitedBy, estimate: number, left: number): WeirError {
  const amounts = { balance_usd: usd(left), estimated_cost_usd: usd(estimate) };
  if (bound === 'organization') {
    return new WeirError(
      'insufficient_balance',
      'The account balance is too low for this request.',
      { hint: 'Add funds to the account.', ...amounts },
    );
  }
  if (left > 0) {
    return new WeirError(
      'quota_exceeded',
      'This request may cost more than what is left of the usage limit of this API key.',
      {
        hint: 'Request less output, raise limitAmount of the key, or use another key.',
        ...amounts,
      },
    );
  }
  return new WeirError('quota_exceeded', 'The usage limit of this API key is reached.', {
    hint: 'Raise limitAmount of the key, or use another key.',
    ...amounts,
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
