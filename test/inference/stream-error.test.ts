import { expect, test } from 'bun:test';
import { WeirError } from '../../src/errors/weir-error.ts';
import { streamError } from '../../src/inference/stream-error.ts';
import { RetryableUpstreamError, TerminalUpstreamError } from '../../src/upstreams/contract.ts';

const failed = (failure: RetryableUpstreamError['failure']) =>
  new RetryableUpstreamError(failure, 'secret words');
const refused = new TerminalUpstreamError('content_policy_violation', 'No.', 'messages', 400);
const late = new WeirError('timeout_error', 'Late.', { hint: 'Wait.' });

test.each([
  ['a stall', 'timeout_error', failed('timeout')],
  ['a cut', 'upstream_error', failed('connection')],
  ['an end without the last event', 'upstream_error', failed('malformed')],
  ['an error event', 'upstream_error', failed('server')],
  ['a rate limit', 'upstream_error', failed('throttle')],
  ['a wrong key', 'upstream_error', failed('auth')],
  ['a content filter', 'content_policy_violation', refused],
  ['the client’s deadline', 'timeout_error', late],
  ['a defect of Weir', 'internal_error', new TypeError('secret words')],
])('%s in the middle of a stream is %s', (_, id, error) => {
  const known = streamError(error);
  expect(known.id).toBe(id as typeof known.id);
  expect(known.message).not.toContain('secret');
});
