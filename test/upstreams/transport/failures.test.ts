import { describe, expect, test } from 'bun:test';
import type {
  RetryableUpstreamError,
  TerminalUpstreamError,
} from '../../../src/upstreams/contract.ts';
import { readRetryAfterMs } from '../../../src/upstreams/transport/errors/wait.ts';
import { classifyFailure, classifyInlineError } from '../../../src/upstreams/transport/failures.ts';
import { callOf } from '../upstream.ts';

const BODY = { model: 'gpt-test', messages: [{ role: 'user', content: 'Hi' }] };
const call = callOf('https://api.upstream.example/v1', BODY);

function failure(status: number, error: unknown, body: Record<string, unknown> = BODY) {
  const text = typeof error === 'string' ? error : JSON.stringify({ error });
  const at = callOf('https://api.upstream.example/v1', body);
  return classifyFailure(at, status, new Headers(), text);
}

/** Returns the failure class. If the client caused the error, returns the id of the error. */
function verdict(...args: Parameters<typeof failure>): string {
  const error: RetryableUpstreamError | TerminalUpstreamError = failure(...args);
  return 'failure' in error ? error.failure : error.error_id;
}

describe('an error response of an upstream', () => {
  test.each([
    [401, { message: 'Incorrect API key provided', code: 'invalid_api_key' }, 'auth'],
    [402, { message: 'Pay', type: 'billing_error' }, 'auth'],
    [403, { message: 'Country', code: 'unsupported_country_region_territory' }, 'auth'],
    [404, { message: 'The model `physical-9` does not exist', code: 'model_not_found' }, 'server'],
    [404, { message: 'model: physical-9', type: 'not_found_error' }, 'server'],
    [404, { message: 'Invalid URL (POST /v1/x)' }, 'server'],
    [404, '<html>nothing here</html>', 'server'],
    [405, '', 'server'],
    [408, '', 'timeout'],
    [429, { message: 'Rate limit reached', code: 'rate_limit_exceeded' }, 'throttle'],
    [429, { message: 'Quota', type: 'insufficient_quota' }, 'auth'],
    [429, { message: 'Quota', code: 'insufficient_quota' }, 'auth'],
    [500, { message: 'Oops' }, 'server'],
    [502, '<html>bad gateway</html>', 'server'],
    [503, '', 'server'],
    [504, '', 'timeout'],
    [529, { type: 'overloaded_error', message: 'Overloaded' }, 'server'],
    [302, '', 'malformed'],
    // Nothing proves whose fault these are (P19).
    [400, '<html>', 'unclear'],
    [400, { message: 'No' }, 'unclear'],
    [403, { message: 'No' }, 'unclear'],
    [404, { message: 'No' }, 'unclear'],
    [409, { message: 'Conflict' }, 'unclear'],
    [413, '<html>too large</html>', 'unclear'],
    [422, { message: 'Unprocessable' }, 'unclear'],
    [429, { message: 'Request too large for physical-9' }, 'unclear'],
  ])('%i %j is retryable: %s', (status, error, expected) => {
    expect(verdict(status, error)).toBe(expected);
  });

  test.each([
    [400, { message: 'Bad value', param: 'temperature' }, 'invalid_request'],
    [400, { message: 'x', code: 'context_length_exceeded' }, 'context_length_exceeded'],
    [400, { message: 'prompt is too long: 9 tokens > 8 maximum' }, 'context_length_exceeded'],
    [400, { message: 'This model’s maximum context length is 8192' }, 'context_length_exceeded'],
    [400, { message: 'filtered', code: 'content_filter' }, 'content_policy_violation'],
    [413, { message: 'Too large', type: 'request_too_large' }, 'payload_too_large'],
  ])('P9: %i %j is the client’s error: %s', (status, error, expected) => {
    expect(verdict(status, error)).toBe(expected);
  });

  test('is retryable if the operator’s credit is exhausted, even with status 400', () => {
    const message =
      'Your credit balance is too low to access the API. Please go to Plans & Billing';
    expect(verdict(400, { type: 'invalid_request_error', message })).toBe('auth');
    expect(verdict(400, { message: 'x', code: 'billing_hard_limit_reached' })).toBe('auth');
  });

  test('P9: a client cannot disable a channel by sending an upstream’s error message in a request', () => {
    const field = 'Your credit balance is too low';
    const message = `${field}: Extra inputs are not permitted`;
    expect(verdict(400, { message }, { ...BODY, [field]: 1 })).toBe('unclear');
  });

  test('P9: a 404 about an object that the client named is the client’s error', () => {
    const error = { message: 'File not found: file_123' };
    const body = { ...BODY, messages: [{ role: 'user', content: [{ file_id: 'file_123' }] }] };
    expect(verdict(404, error, body)).toBe('invalid_request');
    expect(verdict(404, error)).toBe('unclear');
  });

  test('names the parameter from the error, or from the start of its message', () => {
    const errorOf = (error: object) => failure(400, { type: 'invalid_request_error', ...error });
    expect(errorOf({ message: 'x', param: 'messages[0].role' })).toMatchObject({
      param: 'messages[0].role',
    });
    expect(errorOf({ message: 'messages.0.role: Input should be user' })).toMatchObject({
      param: 'messages.0.role',
    });
    expect(errorOf({ message: 'Something is wrong' })).toMatchObject({ param: null });
  });

  test('inside a stream is classified by its type or its numeric code', () => {
    const inlineError = (error: unknown) => classifyInlineError(call, JSON.stringify({ error }));
    expect(inlineError({ message: 'x', code: 429 })).toMatchObject({ failure: 'throttle' });
    expect(inlineError({ message: 'x', code: 'rate_limit_exceeded' })).toMatchObject({
      failure: 'throttle',
    });
    expect(inlineError({ message: 'x', type: 'request_too_large' })).toMatchObject({
      error_id: 'payload_too_large',
    });
    expect(inlineError('all is lost')).toMatchObject({ failure: 'server' });
    expect(inlineError({ message: 'x', code: 200 })).toMatchObject({ failure: 'server' });
  });
});

describe('P5: the public message of an error', () => {
  const publicMessage = (message: string) => {
    const error = failure(400, { type: 'invalid_request_error', message });
    return 'public_message' in error ? error.public_message : '';
  };

  test.each([
    [
      'The model `physical-9` does not support images',
      'The model `gpt-test` does not support images',
    ],
    ['See https://platform.upstream.example/docs/x?y=1 for more.', 'See  for more.'],
    ['Host api.upstream.com:443 and 10.0.0.7:8080 failed', 'Host *** and *** failed'],
    ['Organization org-a1B2c3d4 and project proj_9xYz', 'Organization *** and project ***'],
    ['Key sk-proj-ab12**** is bad, sim-main too', 'Key *** is bad, *** too'],
    ['Bad (request id: req_011CSHoEeqs5C35K2UUqR7Fy)', 'Bad'],
    ['Bad. Request ID: 0193c5a4-9d1e-7c3e-8f6e-1b2c3d4e5f60', 'Bad.'],
    ['OpenAI and Anthropic', 'the provider and the provider'],
    ['Mistral AI, Groq and Runway', 'the provider, the provider and the provider'],
    ['Google refused it', 'the provider refused it'],
  ])('%s → %s', (from, to) => expect(publicMessage(from)).toBe(to));

  test.each([
    "Unknown parameter: 'request_timeout'.",
    'Unexpected value(s) `foo` for the `anthropic-beta` header',
    'unexpected `tool_use_id` found in `tool_result` blocks: toolu_01A09q90qw90lq917835lq9',
    "Invalid 'messages[1].content': expected a string, version 1.5 of 2.0",
    'key_phrases and sk-ip and user_name',
    'a plane on the runway, google_search, mistral-large and gemini-2.5-pro',
  ])('stays the same: %s', (message) => expect(publicMessage(message)).toBe(message));

  test('has at most 500 characters, and a default text if the upstream sent none', () => {
    expect(publicMessage('x'.repeat(5_000))).toHaveLength(500);
    expect(publicMessage('')).toBe('The request was refused.');
  });

  test('is correct for a channel without a key and for equal model names', () => {
    const target = { ...call.target, api_key: '' };
    const same = { ...call, target, physical_model: 'gpt-test' };
    const error = classifyFailure(
      same,
      400,
      new Headers(),
      '{"error":{"message":"gpt-test fails","type":"invalid_request_error"}}',
    );
    expect(error).toMatchObject({ public_message: 'gpt-test fails' });
  });
});

describe('the wait that an upstream requests', () => {
  const wait = (headers: Record<string, string>) => readRetryAfterMs(new Headers(headers));

  test('is read in milliseconds, in seconds or as a date', () => {
    expect(wait({ 'retry-after-ms': '250', 'retry-after': '9' })).toBe(250);
    expect(wait({ 'retry-after': '1.5' })).toBe(1_500);
    expect(wait({ 'retry-after': '0' })).toBe(0);
    expect(wait({ 'retry-after': 'Thu, 01 Jan 2015 00:00:00 GMT' })).toBe(0);
    expect(wait({ 'retry-after': 'Fri, 01 Jan 2100 00:00:00 GMT' })).toBeGreaterThan(1e9);
  });

  test('is undefined if it is missing or invalid', () => {
    for (const value of ['', 'soon', 'Infinity'])
      expect(wait({ 'retry-after': value })).toBeUndefined();
    expect(wait({})).toBeUndefined();
    expect(wait({ 'retry-after-ms': 'x' })).toBeUndefined();
  });
});
