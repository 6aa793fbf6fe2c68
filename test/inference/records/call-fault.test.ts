/** Whose fault an error is. */
import { describe, expect, test } from 'bun:test';
import { ERRORS, type ErrorId } from '../../../src/errors/registry.ts';
import { WeirError } from '../../../src/errors/weir-error.ts';
import { ClientDeadlineError } from '../../../src/inference/client-deadline.ts';
import { type CallFault, callFault } from '../../../src/inference/records/call-fault.ts';
import { RetryableUpstreamError } from '../../../src/upstreams/contract.ts';

const errorOf = (id: ErrorId, cause?: unknown) => new WeirError(id, 'No.', {}, cause);
const ofAccount = () => new RetryableUpstreamError('auth', 'no', { fault: 'account' });
const ofProvider = () => new RetryableUpstreamError('server', 'no');

/** All errors whose status does not say whose fault they are. */
const NOT_CALLER: Partial<Record<ErrorId, CallFault>> = {
  ...{ insufficient_balance: 'cap', quota_exceeded: 'cap', rate_limit_exceeded: 'cap' },
  ...{ quota_in_flight: 'cap', balance_in_flight: 'cap' },
  ...{ internal_error: 'weir', service_unavailable: 'weir' },
  ...{ upstream_error: 'provider', upstream_overloaded: 'provider' },
  ...{ all_channels_failed: 'provider', timeout_error: 'provider' },
};

test.each(Object.keys(ERRORS) as ErrorId[])('%s without a failed attempt', (id) => {
  expect(callFault(errorOf(id))).toBe(NOT_CALLER[id] ?? 'caller');
});

test('what is no WeirError is a defect of Weir', () => {
  for (const error of [new TypeError('x'), undefined, 'text', ofProvider()]) {
    expect(callFault(error)).toBe('weir');
  }
});

test("the client's own deadline is the caller's, and a timeout of the provider is not", () => {
  expect(callFault(new ClientDeadlineError('Too late.', 'Wait longer.'))).toBe('caller');
  expect(callFault(errorOf('timeout_error'))).toBe('provider');
});

describe('an error after failed attempts', () => {
  test.each<[string, unknown, CallFault]>([
    ['one of the account', ofAccount(), 'account'],
    ['one of the provider', ofProvider(), 'provider'],
    ['all of the account', new AggregateError([ofAccount(), ofAccount()]), 'account'],
    ['one of each', new AggregateError([ofAccount(), ofProvider()]), 'provider'],
    ['one, and another error', new AggregateError([new Error('x'), ofAccount()]), 'account'],
  ])('%s', (_, cause, fault) => {
    expect(callFault(errorOf('all_channels_failed', cause))).toBe(fault);
    // The attempts say more than the error that the client gets.
    expect(callFault(errorOf('rate_limit_exceeded', cause))).toBe(fault);
  });

  test('causes that are no attempts change nothing', () => {
    const causes = [new Error('x'), new AggregateError([]), new AggregateError([new Error('x')])];
    for (const cause of causes) {
      expect(callFault(errorOf('quota_exceeded', cause))).toBe('cap');
      expect(callFault(errorOf('invalid_request', cause))).toBe('caller');
    }
  });
});
