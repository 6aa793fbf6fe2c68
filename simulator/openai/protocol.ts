import { type Protocol, ProviderError } from '../shared/protocol.ts';
import { chatBody, chatEvents } from './answer.ts';
import { contextTooLong, errorBody, errorFor, invalid, missingKey, wrongKey } from './errors.ts';
import { type ChatRequest, readChat } from './parsed-request.ts';

const BEARER = /^Bearer +(.+)$/i;

/** OpenAI's chat completions (OpenAI docs: API reference, Chat). */
export const openaiChat: Protocol<ChatRequest> = {
  name: 'openai',
  context_tokens: 128_000,
  max_body_bytes: 50_000_000,
  keyIn(headers) {
    const key = BEARER.exec(headers.get('authorization') ?? '')?.[1];
    if (key === undefined) throw missingKey();
    return key;
  },
  checkHeaders(headers) {
    const content_type = headers.get('content-type') ?? '';
    if (content_type.includes('json')) return;
    throw invalid(
      `Unsupported content type: '${content_type}'. This API method only accepts ` +
        "'application/json' requests, but you specified the header " +
        `'Content-Type: ${content_type}'. Please try again with a supported content type.`,
      null,
      'unsupported_content_type',
    );
  },
  read: (body, _headers, account) => readChat(body, account),
  body: chatBody,
  events: chatEvents,
  headers: openaiHeaders,
  errorBody: (error) => errorBody(error),
  errorEvent: (error) => `data: ${JSON.stringify(JSON.parse(errorBody(error)))}\n\n`,
  wrongKey,
  badJson: () =>
    invalid(
      'We could not parse the JSON body of your request. (HINT: This likely means you aren’t ' +
        'using your HTTP library correctly. The OpenAI API expects a JSON payload, but what was ' +
        'sent was not valid JSON.)',
      null,
      null,
    ),
  bodyTooLarge: () => new ProviderError(413, 'invalid_request_error', errorFor(413, {}).message),
  tooLong: (parsed, context_tokens) => contextTooLong(parsed.prompt_tokens, context_tokens),
  errorFor,
};

/** The headers of every response of the API. A gateway must hide all of them. */
export function openaiHeaders(request_id: string, elapsed_ms: number): Record<string, string> {
  return {
    'x-request-id': request_id,
    'openai-organization': 'sim-org',
    'openai-project': 'proj_sim',
    'openai-processing-ms': String(elapsed_ms),
    'openai-version': '2020-10-01',
    'x-ratelimit-limit-requests': '10000',
    'x-ratelimit-remaining-requests': '9999',
    'x-ratelimit-reset-requests': '6ms',
  };
}

/** The same protocol at Azure, with the key in the header `api-key` (Azure OpenAI docs: v1 API). */
export const azureChat: Protocol<ChatRequest> = {
  ...openaiChat,
  name: 'azure-openai',
  keyIn(headers) {
    const key = headers.get('api-key');
    if (!key) throw missingKey();
    return key;
  },
};
