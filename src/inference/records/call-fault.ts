import { WeirError } from '../../errors/weir-error.ts';
import { RetryableUpstreamError } from '../../upstreams/contract.ts';
import { ClientDeadlineError } from '../client-deadline.ts';

/**
 * Whose fault it is that a call has no complete answer:
 *
 * - `caller`: the request is wrong, the client left, or the client's own deadline passed.
 * - `cap`: a limit of the key or the organization, of money or of requests.
 * - `weir`: Weir itself, e.g. its database was away.
 * - `account`: the operator's key or account at the provider.
 * - `provider`: the provider failed, or has no capacity.
 */
export type CallFault = 'caller' | 'cap' | 'weir' | 'account' | 'provider';

const MONEY = ['quota_exceeded', 'insufficient_balance', 'quota_in_flight', 'balance_in_flight'];
const WEIR = ['internal_error', 'service_unavailable'];

/** Returns whose fault an error is. An error that is no WeirError is a defect of Weir. */
export function callFault(error: unknown): CallFault {
  if (!(error instanceof WeirError)) return 'weir';
  if (error instanceof ClientDeadlineError) return 'caller';
  const failures = failuresOf(error.cause);
  if (failures.length > 0) {
    return failures.every(({ fault }) => fault === 'account') ? 'account' : 'provider';
  }
  if (MONEY.includes(error.id) || error.id === 'rate_limit_exceeded') return 'cap';
  if (WEIR.includes(error.id)) return 'weir';
  return error.entry.status < 500 ? 'caller' : 'provider';
}

/** Returns the failed attempts that caused an error. */
function failuresOf(cause: unknown): RetryableUpstreamError[] {
  const causes = cause instanceof AggregateError ? cause.errors : [cause];
  return causes.filter((each) => each instanceof RetryableUpstreamError);
}
