/** An upstream that repeats the words of a call. So each answer shows to which call it belongs. */
import { type Asked, streamed } from '../../upstreams/upstream.ts';

const PIECES = 4;

/** Returns the last user text of a call in OpenAI's or Anthropic's protocol. */
export function wordsOf({ text }: Asked): string {
  const { messages } = JSON.parse(text) as { messages: { content: unknown }[] };
  const content = messages.at(-1)?.content;
  if (typeof content === 'string') return content;
  return (content as { text: string }[]).map((part) => part.text).join('');
}

/** Returns the token counts that the upstream reports for a call. Calls differ in them. */
export function tokensOf(words: string): { input: number; output: number } {
  const n = Number(/\d+/.exec(words)?.[0]);
  return { input: 10 + (n % 97), output: 1 + (n % 89) };
}

/** Repeats the words of the call. If the call requests a stream, the words arrive in pieces. */
export function repeatWords(asked: Asked): Response {
  const { model, stream } = JSON.parse(asked.text) as { model: string; stream?: boolean };
  const words = wordsOf(asked);
  const isNative = asked.path.endsWith('/messages');
  if (stream) return streamed(isNative ? nativeEvents(model, words) : chunks(model, words));
  return Response.json(isNative ? message(model, words) : completion(model, words));
}

function pieces(words: string): string[] {
  const size = Math.ceil(words.length / PIECES);
  return Array.from({ length: PIECES }, (_, n) => words.slice(n * size, (n + 1) * size));
}

function usageOf(words: string) {
  const { input, output } = tokensOf(words);
  return { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
}

function completion(model: string, words: string) {
  const message = { role: 'assistant', content: words };
  return {
    ...{ id: 'chatcmpl-1', object: 'chat.completion', created: 1_800_000_000, model },
    choices: [{ index: 0, message, finish_reason: 'stop' }],
    usage: usageOf(words),
  };
}

function chunks(model: string, words: string): string[] {
  const chunk = (choices: object[], usage: object | null = null) => {
    const head = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1_800_000_000 };
    return `data: ${JSON.stringify({ ...head, model, choices, usage })}\n\n`;
  };
  const delta = (content: object, finish_reason: string | null = null) =>
    chunk([{ index: 0, delta: content, finish_reason }]);
  return [
    delta({ role: 'assistant', content: '' }),
    ...pieces(words).map((content) => delta({ content })),
    delta({}, 'stop'),
    chunk([], usageOf(words)),
    'data: [DONE]\n\n',
  ];
}

function message(model: string, words: string) {
  const { input, output } = tokensOf(words);
  return {
    ...{ id: 'msg_1', type: 'message', role: 'assistant', model },
    content: [{ type: 'text', text: words }],
    ...{ stop_reason: 'end_turn', stop_sequence: null },
    usage: { input_tokens: input, output_tokens: output },
  };
}

function nativeEvents(model: string, words: string): string[] {
  const event = (type: string, rest: object) =>
    `event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`;
  const start = { ...message(model, words), content: [], stop_reason: null };
  const { output } = tokensOf(words);
  return [
    event('message_start', { message: start }),
    event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
    ...pieces(words).map((text) =>
      event('content_block_delta', { index: 0, delta: { type: 'text_delta', text } }),
    ),
    event('content_block_stop', { index: 0 }),
    event('message_delta', {
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      usage: { output_tokens: output },
    }),
    event('message_stop', {}),
  ];
}
