import type { OrganizationStatus } from '../../../db/accounts/organizations.ts';
import { organizationStatusError } from '../../errors/organization-status.ts';
import type { ErrorId } from '../../errors/registry.ts';
import { WeirError } from '../../errors/weir-error.ts';
import { usd } from '../../json/usd.ts';
import type { QuotaRefusal } from '../../machines/quota.ts';
import type { LimitedBy, RefusingBudget, UnusableStatus } from './ledger-commands.ts';

/** Like `quotaError`. If the organization is not active, the error is that of its status. */
export function refusedError(
  reason: QuotaRefusal,
  status: OrganizationStatus,
  bound: LimitedBy,
  estimate: number,
): WeirError {
  return reason === 'suspended' && status !== 'active'
    ? organizationStatusError(status)
    : quotaError(reason, bound, estimate);
}

/**
 * Returns the error for a call that the quota machine refused for `reason`. If the reason is
 * `exhausted`, `bound` is the limit that was reached last, and `estimate` the upper bound of the
 * call's charge, nano-USD.
 */
function quotaError(reason: QuotaRefusal, bound: LimitedBy, estimate: number): WeirError {
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
 * Returns the error for a call if the key, a budget or the organization has too little money left for it. A
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
  if (bound !== 'key') return budgetSpentError(bound, amounts);
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

const SPANS = { day: 'today', week: 'this week', month: 'this month' } as const;

/** Returns the error for a call if the window of a budget has too little money left for it. */
function budgetSpentError(
  { period, key_id, tag, resets_in_ms }: RefusingBudget,
  amounts: { readonly balance_usd: number; readonly estimated_cost_usd: number },
): WeirError {
  const retry_after = Math.max(1, Math.ceil(resets_in_ms / 1_000));
  const span = SPANS[period];
  const ownerOfAll = key_id === null ? 'the organization' : 'this API key';
  const owner = tag ? `calls with the tag “${tag.name}: ${tag.value}”` : ownerOfAll;
  const message =
    amounts.balance_usd > 0
      ? `This request may cost more than what is left of the budget of ${owner} for ${span}.`
      : `The budget of ${owner} for ${span} is spent.`;
  const hint = `The next ${period} begins in ${retry_after} s. Wait, or raise the budget.`;
  return new WeirError('quota_exceeded', message, { hint, retry_after, ...amounts });
}

/**
 * Returns the error for a call if other calls in flight hold the money that it needs. The error
 * names a retry time.
 */
export function moneyInFlightError(bound: LimitedBy): WeirError {
  const id: ErrorId = bound === 'organization' ? 'balance_in_flight' : 'quota_in_flight';
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
