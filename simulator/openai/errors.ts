import type { Directives } from '../shared/directives.ts';
import { ProviderError } from '../shared/protocol.ts';

/** Errors with the messages of the OpenAI API (OpenAI docs: Error codes). */

const INVALID_REQUEST = 'invalid_request_error';

export function invalid(message: string, param: string | null, code: string | null): ProviderError {
  return new ProviderError(400, INVALID_REQUEST, message, param, code);
}

export function missingKey(): ProviderError {
  return new ProviderError(
    401,
    INVALID_REQUEST,
    "You didn't provide an API key. You need to provide your API key in an Authorization header " +
      'using Bearer auth (i.e. Authorization: Bearer YOUR_KEY). You can obtain an API key from ' +
      'https://platform.openai.com/account/api-keys.',
  );
}

export function wrongKey(key: string): ProviderError {
  const shown = key.length > 8 ? `${key.slice(0, 4)}****${key.slice(-4)}` : '****';
  return new ProviderError(
    401,
    INVALID_REQUEST,
    `Incorrect API key provided: ${shown}. You can find your API key at ` +
      'https://platform.openai.com/account/api-keys.',
    null,
    'invalid_api_key',
  );
}

export function modelNotFound(model: string): ProviderError {
  return new ProviderError(
    404,
    INVALID_REQUEST,
    `The model \`${model}\` does not exist or you do not have access to it.`,
    null,
    'model_not_found',
  );
}

export function unknownUrl(method: string, path: string): ProviderError {
  return new ProviderError(404, INVALID_REQUEST, `Invalid URL (${method} ${path})`);
}

export function contextTooLong(tokens: number, context_tokens: number): ProviderError {
  return invalid(
    `This model's maximum context length is ${context_tokens} tokens. However, your messages ` +
      `resulted in ${tokens} tokens. Please reduce the length of the messages.`,
    'messages',
    'context_length_exceeded',
  );
}

/** The API's error for a status. */
export function errorFor(
  status: number,
  { quota, retry_after }: Pick<Directives, 'quota' | 'retry_after'>,
): ProviderError {
  const [type, message, code] = wordsFor(status, quota === 1);
  return new ProviderError(status, type, message, null, code, retry_after);
}

function wordsFor(status: number, quota: boolean): [string, string, string | null] {
  switch (status) {
    case 401:
      return [INVALID_REQUEST, wrongKey('').message, 'invalid_api_key'];
    case 403:
      return [
        INVALID_REQUEST,
        'Project `proj_sim` does not have access to this model.',
        'model_not_found',
      ];
    case 404:
      return [INVALID_REQUEST, modelNotFound('unknown').message, 'model_not_found'];
    case 413:
      return [INVALID_REQUEST, 'The request body is too large.', 'request_too_large'];
    case 429:
      return quota
        ? [
            'insufficient_quota',
            'You exceeded your current quota, please check your plan and billing details. For ' +
              'more information on this error, read the docs: ' +
              'https://platform.openai.com/docs/guides/error-codes/api-errors.',
            'insufficient_quota',
          ]
        : [
            'requests',
            'Rate limit reached for requests in organization sim-org on requests per min (RPM): ' +
              'Limit 500, Used 500, Requested 1. Please try again in 120ms. Visit ' +
              'https://platform.openai.com/account/rate-limits to learn more.',
            'rate_limit_exceeded',
          ];
    case 503:
      return [
        'server_error',
        'The engine is currently overloaded, please try again later',
        'engine_overloaded',
      ];
    default:
      return status < 500
        ? [INVALID_REQUEST, 'The request was refused.', null]
        : [
            'server_error',
            'The server had an error while processing your request. Sorry about that!',
            null,
          ];
  }
}

/** The envelope of every error, with the API's indentation. */
export function errorBody(error: ProviderError): string {
  const { message, type, param, code } = error;
  return JSON.stringify({ error: { message, type, param, code } }, null, 2);
}
