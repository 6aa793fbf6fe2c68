import { type Protocol, ProviderError } from '../shared/protocol.ts';
import { event, messageBody, messageEvents } from './answer.ts';
import { authenticationError, errorBody, errorFor, invalid } from './errors.ts';
import { type MessageRequest, readMessage } from './parsed-request.ts';

const VERSIONS = ['2023-01-01', '2023-06-01', '2026-10-21'];
const BEARER = /^Bearer +(.+)$/i;

/** Anthropic's messages (Anthropic docs: API reference, Messages). */
export const anthropicMessages: Protocol<MessageRequest> = {
  name: 'anthropic',
  context_tokens: 200_000,
  max_body_bytes: 32 * 1024 * 1024,
  keyIn(headers) {
    const bearer = BEARER.exec(headers.get('authorization') ?? '')?.[1];
    const key = headers.get('x-api-key') || (bearer ?? '');
    if (key === '') throw authenticationError('x-api-key header is required');
    return key;
  },
  checkHeaders(headers) {
    const version = headers.get('anthropic-version');
    if (version === null) throw invalid('anthropic-version: header is required');
    if (VERSIONS.includes(version)) return;
    throw invalid(`anthropic-version: "${version}" is not a valid version`);
  },
  read: readMessage,
  body: messageBody,
  events: messageEvents,
  headers: anthropicHeaders,
  errorBody,
  errorEvent: (error, request_id) => event('error', JSON.parse(errorBody(error, request_id))),
  wrongKey: () => authenticationError('invalid x-api-key'),
  badJson: () => invalid('The request body is not valid JSON'),
  bodyTooLarge: () => new ProviderError(413, 'request_too_large', errorFor(413, {}).message),
  tooLong: ({ prompt_tokens }, context_tokens) =>
    invalid(`prompt is too long: ${prompt_tokens} tokens > ${context_tokens} maximum`),
  errorFor,
};

/** The headers of every response of the API. A gateway must hide all of them. */
export function anthropicHeaders(request_id: string): Record<string, string> {
  return {
    'request-id': request_id,
    'anthropic-organization-id': '00000000-0000-4000-8000-000000000513',
    'anthropic-ratelimit-requests-limit': '4000',
    'anthropic-ratelimit-requests-remaining': '3999',
    'anthropic-ratelimit-requests-reset': '2026-01-01T00:00:00Z',
  };
}
