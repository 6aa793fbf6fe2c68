import type { Answer } from '../shared/answer.ts';
import type { Emission } from '../shared/event-stream.ts';
import type { Reply } from '../shared/protocol.ts';
import { lettersFrom } from '../shared/random.ts';
import type { ProducedText } from '../shared/text.ts';
import { tokensOf } from '../shared/tokens.ts';
import type { MessageRequest } from './parsed-request.ts';

/** Writes messages as the API does, as a body or as events (Anthropic docs: Messages, Streaming). */

export type MessageReply = Reply<MessageRequest>;

const SIGNATURE_LETTERS = 88;
const STOP_REASONS = {
  end: 'end_turn',
  length: 'max_tokens',
  stop_sequence: 'stop_sequence',
  tools: 'tool_use',
} as const;

/** The model itself calls each tool (Anthropic docs: Programmatic tool calling, `caller`). */
const CALLER = { type: 'direct' };

const PING = event('ping', { type: 'ping' });
const STOP = event('message_stop', { type: 'message_stop' });

/** The body of a whole answer. */
export function messageBody(reply: MessageReply): string {
  const answer = onlyAnswer(reply);
  return JSON.stringify({
    ...messageHead(reply),
    content: contentOf(answer, reply.parsed),
    ...ending(answer),
    diagnostics: null,
    ...(reply.usage && { usage: usage(reply, answer.tokens) }),
  });
}

/** The events of a streamed answer: its start, a ping, each block, and its end with the usage. */
export function* messageEvents(reply: MessageReply): Generator<Emission> {
  const answer = onlyAnswer(reply);
  const message = {
    ...messageHead(reply),
    content: [],
    stop_reason: null,
    stop_sequence: null,
    stop_details: null,
    container: null,
    diagnostics: null,
    ...(reply.usage && { usage: usage(reply, Math.min(1, answer.tokens)) }),
  };
  yield { text: event('message_start', { type: 'message_start', message }), tokens: 0 };
  let index = 0;
  for (const block of blocksOf(answer, reply.parsed)) {
    yield { text: startEvent(index, block.empty), tokens: block.head_tokens };
    if (index === 0) yield { text: PING, tokens: 0 };
    yield* deltaEvents(index, block, reply.chunk_tokens);
    const stop = { type: 'content_block_stop', index };
    yield { text: event('content_block_stop', stop), tokens: 0 };
    index += 1;
  }
  const { stop_reason, stop_sequence, stop_details, container } = ending(answer);
  const delta = { stop_reason, stop_sequence, stop_details, container };
  const totals = reply.usage && { usage: usageSoFar(reply, answer) };
  const last = { type: 'message_delta', delta, ...totals };
  yield { text: event('message_delta', last), tokens: 0 };
  yield { text: STOP, tokens: 0 };
}

/** A content block, from which the start event and the deltas are written. */
interface Block {
  empty: object;
  head_tokens: number;
  text: ProducedText;
  /** The type of the deltas, and the member of a delta that holds the text. */
  delta: [type: string, member: string];
  signature?: string;
}

function blocksOf(answer: Answer, parsed: MessageRequest): Block[] {
  const blocks: Block[] = [];
  if (answer.reasoning.tokens > 0) {
    blocks.push({
      empty: { type: 'thinking', thinking: '', signature: '' },
      head_tokens: parsed.thinking_omitted ? answer.reasoning.tokens : 0,
      text: parsed.thinking_omitted ? answer.reasoning.first(0) : answer.reasoning,
      delta: ['thinking_delta', 'thinking'],
      signature: signature(parsed),
    });
  }
  if (answer.text.tokens > 0) {
    const empty = { type: 'text', text: '', citations: null };
    blocks.push({ empty, head_tokens: 0, text: answer.text, delta: ['text_delta', 'text'] });
  }
  for (const call of answer.calls) {
    blocks.push({
      empty: {
        ...{ type: 'tool_use', id: toolUseId(call.id), caller: CALLER, name: call.name, input: {} },
      },
      head_tokens: tokensOf(call.name),
      text: call.arguments,
      delta: ['input_json_delta', 'partial_json'],
    });
  }
  return blocks;
}

function startEvent(index: number, content_block: object): string {
  return event('content_block_start', { type: 'content_block_start', index, content_block });
}

function* deltaEvents(index: number, block: Block, chunk_tokens: number): Generator<Emission> {
  const [type, member] = block.delta;
  const head = `event: content_block_delta\ndata: {"type":"content_block_delta","index":${index},"delta":{"type":`;
  // The API sends an empty fragment of a tool's input first.
  if (member === 'partial_json') yield { text: `${head}"${type}","${member}":""}}\n\n`, tokens: 0 };
  const { text } = block;
  for (let piece = 0; piece < text.pieces; piece += chunk_tokens) {
    let content = '';
    let tokens = 0;
    for (let at = piece; at < Math.min(text.pieces, piece + chunk_tokens); at += 1) {
      content += text.piece(at);
      tokens += text.tokensIn(at);
    }
    yield { text: `${head}"${type}","${member}":${JSON.stringify(content)}}}\n\n`, tokens };
  }
  if (block.signature === undefined) return;
  yield { text: `${head}"signature_delta","signature":"${block.signature}"}}\n\n`, tokens: 0 };
}

function contentOf(answer: Answer, parsed: MessageRequest): object[] {
  const content: object[] = [];
  if (answer.reasoning.tokens > 0) {
    const thinking = parsed.thinking_omitted ? '' : answer.reasoning.whole();
    content.push({ type: 'thinking', thinking, signature: signature(parsed) });
  }
  if (answer.text.tokens > 0) {
    content.push({ type: 'text', text: answer.text.whole(), citations: null });
  }
  for (const { id, name, arguments: given } of answer.calls) {
    const input = parseOrEmpty(given.whole());
    content.push({ type: 'tool_use', id: toolUseId(id), caller: CALLER, name, input });
  }
  return content;
}

/** Parses the input of a tool call. Returns `{}` if `max_tokens` cut the JSON in its middle. */
function parseOrEmpty(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return {};
  }
}

function messageHead({ request_id, parsed }: MessageReply): object {
  return {
    id: request_id.replace('req_', 'msg_'),
    type: 'message',
    role: 'assistant',
    model: parsed.model,
  };
}

function ending(answer: Answer) {
  return {
    stop_reason: STOP_REASONS[answer.finish],
    stop_sequence: answer.stop_sequence,
    stop_details: null,
    container: null,
  };
}

/**
 * Returns the usage of an answer. `input_tokens` includes neither tokens that were read from the
 * cache nor tokens that were written to it (Anthropic docs: Prompt caching).
 */
function usage({ usage: used, answers }: MessageReply, output_tokens: number): object {
  if (used === undefined) return {};
  const { prompt_tokens, cached_tokens, cache_write_tokens, cache_write_1h_tokens } = used;
  return {
    input_tokens: prompt_tokens - cached_tokens - cache_write_tokens,
    cache_creation_input_tokens: cache_write_tokens,
    cache_read_input_tokens: cached_tokens,
    cache_creation: {
      ephemeral_5m_input_tokens: cache_write_tokens - cache_write_1h_tokens,
      ephemeral_1h_input_tokens: cache_write_1h_tokens,
    },
    output_tokens,
    output_tokens_details: output_tokens > 1 ? thinkingDetails(answers) : null,
    server_tool_use: null,
    inference_geo: null,
    service_tier: 'standard',
    speed: null,
  };
}

/** The usage in `message_delta`: the output tokens so far, and again the input tokens. */
function usageSoFar({ usage: used, answers }: MessageReply, { tokens }: Answer): object {
  if (used === undefined) return {};
  const { prompt_tokens, cached_tokens, cache_write_tokens } = used;
  return {
    input_tokens: prompt_tokens - cached_tokens - cache_write_tokens,
    cache_creation_input_tokens: cache_write_tokens,
    cache_read_input_tokens: cached_tokens,
    output_tokens: tokens,
    output_tokens_details: thinkingDetails(answers),
    server_tool_use: null,
  };
}

function thinkingDetails([answer]: Answer[]): object | null {
  const thinking_tokens = answer?.reasoning.tokens ?? 0;
  return thinking_tokens > 0 ? { thinking_tokens } : null;
}

function onlyAnswer({ answers }: MessageReply): Answer {
  return answers[0] as Answer;
}

function toolUseId(id: string): string {
  return `toolu_${id}`;
}

function signature({ seed }: MessageRequest): string {
  return `${lettersFrom(seed, SIGNATURE_LETTERS)}==`;
}

/** One SSE event. */
export function event(name: string, data: object): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}
