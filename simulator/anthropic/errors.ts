import type { Directives } from '../shared/directives.ts';
import { ProviderError } from '../shared/protocol.ts';

/** Errors with the messages of the Anthropic API (Anthropic docs: Errors). */

export function invalid(message: string): ProviderError {
  return new ProviderError(400, 'invalid_request_error', message);
}

export function authenticationError(message: string): ProviderError {
  return new ProviderError(401, 'authentication_error', message);
}

export function notFound(message: string): ProviderError {
  return new ProviderError(404, 'not_found_error', message);
}

const WORDS: Record<number, [type: string, message: string]> = {
  400: ['invalid_request_error', 'The request was refused.'],
  401: ['authentication_error', 'invalid x-api-key'],
  402: ['billing_error', 'Your credit balance is too low to access the Anthropic API.'],
  403: ['permission_error', 'Your API key does not have permission to use the resource.'],
  404: ['not_found_error', 'model: unknown'],
  413: ['request_too_large', 'Request exceeds the maximum size'],
  429: [
    'rate_limit_error',
    "This request would exceed your organization's rate limit of 50 requests per minute " +
      '(org: 00000000-0000-4000-8000-000000000513). For details, refer to: ' +
      'https://docs.claude.com/en/api/rate-limits.',
  ],
  500: ['api_error', 'Internal server error'],
  503: ['api_error', 'Service temporarily unavailable'],
  504: ['timeout_error', 'Request timed out'],
  529: ['overloaded_error', 'Overloaded'],
};

/** The error of a prepaid account without credit. Anthropic returns it as an invalid request. */
const NO_CREDIT = invalid(
  'Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to ' +
    'upgrade or purchase credits.',
);

/** The API's error for a status. */
export function errorFor(
  status: number,
  { quota, retry_after }: Pick<Directives, 'quota' | 'retry_after'>,
): ProviderError {
  if (quota === 1) return NO_CREDIT;
  const usual = status < 500 ? WORDS[400] : WORDS[500];
  const [type, message] = WORDS[status] ?? usual ?? ['api_error', ''];
  return new ProviderError(status, type, message, null, null, retry_after);
}

/** The envelope of every error. */
export function errorBody({ type, message }: ProviderError, request_id: string): string {
  return JSON.stringify({ type: 'error', error: { type, message }, request_id });
}
