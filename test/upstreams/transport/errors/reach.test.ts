/** A refusal that is about one model, or about one request, does not disable the whole account. */
import { expect, test } from 'bun:test';
import { TerminalUpstreamError } from '../../../../src/upstreams/contract.ts';
import { classifyFailure } from '../../../../src/upstreams/transport/failures.ts';
import { callOf } from '../../upstream.ts';
import { VENDOR_ERRORS } from './all.ts';

const known = new Map(
  VENDOR_ERRORS.flatMap(({ payloads }) => payloads).map(({ status, body }) => [
    JSON.stringify(body),
    status,
  ]),
);

/** What the failure with the words `said` does to the channel's health. */
function failureOf(said: string, body: Record<string, unknown> = {}): string {
  const [found, ...more] = [...known].filter(([text]) => text.includes(said));
  if (found === undefined || more.length > 0) throw new Error(`not one payload: ${said}`);
  const [text, status] = found;
  const call = callOf('https://api.upstream.example/v1', body);
  const error = classifyFailure(call, status, new Headers(), text);
  return error instanceof TerminalUpstreamError ? 'caller' : error.failure;
}

test.each([
  'The free tier of the model has been exhausted',
  'AccessDenied.Unpurchased","message":"Access to model denied',
  'Model.AccessDenied',
  'reached the set inference limit',
  'matching your data policy (',
  'guardrail restrictions and data policy',
])('P9: %s: other models of the account may work', (said) => {
  expect(failureOf(said)).toBe('server');
});

test.each([
  'This request requires more credits, or fewer max_tokens. You requested up to 65536',
  'Prompt tokens limit exceeded: 36163',
  'weight_exceeds_budget',
])('P9: %s: other requests may work', (said) => {
  expect(failureOf(said)).toBe('unclear');
});

test('P9: an account without balance is disabled', () => {
  expect(failureOf('insufficient balance (1008)","type":"insufficient_balance_error')).toBe('auth');
});

test('P9: a client that sends the words of a limit of tokens does not disable the account', () => {
  const content = 'See error-code#token-limit. You have been rate limited. 当前分组负载已饱和';
  const body = { messages: [{ role: 'user', content }] };
  expect(failureOf('model-studio/error-code#token-limit', body)).toBe('throttle');
  expect(failureOf('Your rate limit is 60 queries per minute', body)).toBe('throttle');
  expect(failureOf('当前分组负载已饱和', body)).toBe('server');
});
