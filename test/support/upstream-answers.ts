/**
 * Answers of OpenAI's and Anthropic's APIs. Each place that names the upstream has a canary, which
 * is a text that no client must ever see.
 */
import { type Asked, streamed } from '../upstreams/upstream.ts';

/** The usage of each answer; all numbers and their sums are different. */
export const USAGE = { input: 1_013, cached: 107, output: 211 };
const SAID = 'A whole answer.';

const HEADERS = {
  server: 'canary-server',
  via: '1.1 canary-proxy',
  'x-request-id': 'canary-request',
  'request-id': 'canary-request',
  'openai-organization': 'canary-organization',
  'openai-project': 'canary-project',
  'openai-version': 'canary-version',
  'anthropic-organization-id': 'canary-organization',
  'x-ratelimit-remaining-requests': 'canary-remaining',
  'cf-ray': 'canary-ray',
  'set-cookie': 'canary=canary-cookie',
  'server-timing': 'canary;dur=1',
  'openai-processing-ms': '17',
};

/** Headers of the same name that Weir sends itself. Their values are its own. */
const OWN_HEADERS = /request-id$|^x-ratelimit-/;

/** Upstream headers that a client must never see. */
export const UPSTREAM_HEADERS = Object.keys(HEADERS).filter((name) => !OWN_HEADERS.test(name));

/** A valid answer to a request. */
export function answerOf({ path, text }: Asked): Response {
  const { model, stream } = JSON.parse(text) as { model: string; stream?: boolean };
  const isNative = path.endsWith('/messages');
  if (stream) return withCanaries(streamed(isNative ? nativeEvents(model) : chunks(model)));
  return withCanaries(Response.json(isNative ? message(model) : completion(model)));
}

/** Secrets of a channel: its physical model and its key. */
export interface Secrets {
  physical: string;
  secret: string;
}

/** A refusal whose message names everything about the upstream and its account. */
export function refusal(
  { physical, secret }: Secrets,
  status: number,
  error: object = {},
  headers: object = {},
): Response {
  const body = {
    error: {
      message:
        `${physical} at https://canary-host.internal:8443/v1 refused it ` +
        `(request id: req_canary0123456789) for org-canary0123456789 with ${secret}`,
      type: 'some_error',
      code: null,
      ...error,
    },
  };
  return withCanaries(Response.json(body, { status, headers: { ...headers } }));
}

function withCanaries(response: Response): Response {
  for (const [name, value] of Object.entries(HEADERS)) response.headers.set(name, value);
  return response;
}

const OPENAI_USAGE = {
  prompt_tokens: USAGE.input + USAGE.cached,
  completion_tokens: USAGE.output,
  total_tokens: USAGE.input + USAGE.cached + USAGE.output,
  prompt_tokens_details: { cached_tokens: USAGE.cached },
};
const RESELLERS = { provider: 'canary-provider', request_id: 'canary-request' };

function completion(model: string): object {
  return {
    id: 'chatcmpl-canary',
    object: 'chat.completion',
    created: 1_800_000_000,
    model,
    ...RESELLERS,
    choices: [{ index: 0, message: { role: 'assistant', content: SAID }, finish_reason: 'stop' }],
    usage: OPENAI_USAGE,
  };
}

/** The events of a streamed chat completion. */
export function chunks(model: string): string[] {
  const chunk = (choices: object[], usage: object | null) =>
    `data: ${JSON.stringify({
      id: 'chatcmpl-canary',
      object: 'chat.completion.chunk',
      created: 1_800_000_000,
      model,
      ...RESELLERS,
      choices,
      usage,
    })}\n\n`;
  const delta = (content: object, finish_reason: string | null = null) =>
    chunk([{ index: 0, delta: content, finish_reason }], null);
  return [
    ': canary-comment\n\n',
    delta({ role: 'assistant', content: '' }),
    delta({ content: 'A whole ' }),
    delta({ content: 'answer.' }),
    delta({}, 'stop'),
    chunk([], OPENAI_USAGE),
    'data: [DONE]\n\n',
  ];
}

function message(model: string): object {
  return {
    id: 'msg_canary',
    type: 'message',
    role: 'assistant',
    model,
    ...RESELLERS,
    content: [{ type: 'text', text: SAID }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: {
      input_tokens: USAGE.input,
      cache_read_input_tokens: USAGE.cached,
      cache_creation_input_tokens: 0,
      output_tokens: USAGE.output,
    },
  };
}

/** The events of a streamed message. */
export function nativeEvents(model: string): string[] {
  const event = (type: string, rest: object) =>
    `event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`;
  const delta = (text: string) =>
    event('content_block_delta', { index: 0, delta: { type: 'text_delta', text } });
  return [
    ': canary-comment\n\n',
    event('message_start', { message: { ...message(model), content: [], stop_reason: null } }),
    event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
    delta('A whole '),
    delta('answer.'),
    event('content_block_stop', { index: 0 }),
    event('message_delta', {
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      usage: { output_tokens: USAGE.output },
    }),
    event('message_stop', {}),
  ];
}
