import type {
  StreamEvent,
  TokenUsage,
  UpstreamAnswer,
  UpstreamCall,
  UpstreamProtocol,
  UpstreamStream,
} from './contract.ts';
import { RetryableUpstreamError } from './contract.ts';
import { type Dialect, readEvents } from './events.ts';
import { failureInside, failureOf } from './failures.ts';
import { count, isObject, parseObject, post, readAll } from './http.ts';
import { editMembers, replaceStringMember } from './json-members.ts';

/** Understands the sampling parameters, which later versions refuse (contracts: Version header). */
const SAMPLING_VERSION = '2023-06-01';
const KNOWN_VERSIONS = [SAMPLING_VERSION, '2026-10-21'];

/** Anthropic messages (Anthropic docs: Messages; Streaming). */
export const anthropicProtocol: UpstreamProtocol = {
  name: 'anthropic',

  async complete(call) {
    const exchange = await post(call, '/v1/messages', headersOf(call), requestBody(call));
    const text = await readAll(exchange);
    if (!exchange.response.ok) {
      throw failureOf(call, exchange.response.status, exchange.response.headers, text);
    }
    const answer = parseObject(text);
    if (isObject(answer['error'])) throw failureInside(call, text);
    if (!Array.isArray(answer['content'])) {
      throw new RetryableUpstreamError('malformed', 'an answer without content');
    }
    const { content } = answer;
    return {
      body_text: publish(text, answer, call),
      usage: usageOf(answer['usage'], null),
      produced: () => content.map(producedByBlock).join(''),
    } satisfies UpstreamAnswer;
  },

  async stream(call) {
    const exchange = await post(call, '/v1/messages', headersOf(call), requestBody(call));
    if (!exchange.response.ok) {
      const text = await readAll(exchange);
      throw failureOf(call, exchange.response.status, exchange.response.headers, text);
    }
    const dialect = new MessageStream(call);
    return {
      events: readEvents(exchange, dialect),
      usage: () => dialect.usage,
      inputUsage: () => dialect.counted,
      cutShort: (usage) => dialect.cutShort(usage),
    } satisfies UpstreamStream;
  },

  errorEvent({ native_type, message }) {
    return event('error', { type: 'error', error: { type: native_type, message } });
  },
};

function event(name: string, data: object): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}

function headersOf(call: UpstreamCall): Record<string, string> {
  const { body, headers } = call;
  const asked = headers['anthropic-version'] ?? '';
  const samples = ['temperature', 'top_p', 'top_k'].some((key) => body[key] !== undefined);
  const version = samples || !KNOWN_VERSIONS.includes(asked) ? SAMPLING_VERSION : asked;
  const beta = headers['anthropic-beta'];
  return {
    'x-api-key': call.target.api_key,
    'anthropic-version': version,
    ...(beta ? { 'anthropic-beta': beta } : {}),
  };
}

function requestBody(call: UpstreamCall): string {
  const edits: Record<string, string | null> = { model: JSON.stringify(call.physical_model) };
  if (call.max_output_tokens !== undefined) edits['max_tokens'] = String(call.max_output_tokens);
  const cache = call.body['cache_control'];
  // Only the vendor's own form is the upstream's; the others are Weir's (spec: Cache controls).
  if (isObject(cache) && cache['type'] !== 'ephemeral') edits['cache_control'] = null;
  return editMembers(call.body_text, edits);
}

function publish(text: string, message: Record<string, unknown>, call: UpstreamCall): string {
  let result = text;
  const { id, model } = message;
  if (typeof id === 'string') result = replaceStringMember(result, 'id', id, call.answer_id);
  if (typeof model === 'string' && model !== call.public_model) {
    result = replaceStringMember(result, 'model', model, call.public_model);
  }
  return result;
}

/** `input_tokens` excludes both cache counts, as ours do. Counts of a stream are cumulative. */
function usageOf(usage: unknown, before: TokenUsage | null): TokenUsage | null {
  if (!isObject(usage)) return before;
  const read = (key: string, earlier: number | undefined) =>
    typeof usage[key] === 'number' ? count(usage[key]) : (earlier ?? 0);
  return {
    input_tokens: read('input_tokens', before?.input_tokens),
    cached_input_tokens: read('cache_read_input_tokens', before?.cached_input_tokens),
    cache_write_tokens: read('cache_creation_input_tokens', before?.cache_write_tokens),
    output_tokens: read('output_tokens', before?.output_tokens),
  };
}

function producedByBlock(block: unknown): string {
  if (!isObject(block)) return '';
  const input = block['input'] === undefined ? '' : JSON.stringify(block['input']);
  return `${block['text'] ?? ''}${block['thinking'] ?? ''}${block['name'] ?? ''}${input}`;
}

function producedByDelta(delta: unknown): string {
  if (!isObject(delta)) return '';
  return `${delta['text'] ?? ''}${delta['thinking'] ?? ''}${delta['partial_json'] ?? ''}`;
}

class MessageStream implements Dialect {
  /** Complete only with the last `message_delta`; before it, the input side is known. */
  counted: TokenUsage | null = null;
  private complete = false;
  private openBlock: unknown;
  private stopping = false;
  private done = false;

  constructor(private readonly call: UpstreamCall) {}

  get usage(): TokenUsage | null {
    return this.complete ? this.counted : null;
  }

  ended(): boolean {
    return this.done;
  }

  take({
    event: name,
    data,
  }: {
    event?: string | undefined;
    data: string;
  }): StreamEvent | undefined {
    const value = parseObject(data);
    const type = typeof value['type'] === 'string' ? value['type'] : (name ?? '');
    const { message, delta } = value;
    let text = data;
    switch (type) {
      case 'error':
        throw failureInside(this.call, data);
      case 'message_start':
        if (isObject(message)) {
          text = publish(data, message, this.call);
          this.counted = usageOf(message['usage'], this.counted);
        }
        break;
      case 'content_block_start':
        this.openBlock = value['index'];
        break;
      case 'content_block_stop':
        this.openBlock = undefined;
        break;
      case 'message_delta':
        this.counted = usageOf(value['usage'], this.counted);
        this.complete = isObject(value['usage']);
        this.stopping ||= isObject(delta) && Boolean(delta['stop_reason']);
        break;
      case 'message_stop':
        this.stopping = true;
        this.done = true;
        break;
      default:
        break;
    }
    const started = type === 'content_block_start' ? producedByBlock(value['content_block']) : '';
    return {
      text: `event: ${type}\ndata: ${text}\n\n`,
      produced:
        type === 'content_block_delta' ? producedByDelta(delta) : started.replace(/\{\}$/, ''),
      final: this.stopping,
    };
  }

  atEnd(): StreamEvent[] {
    if (!this.stopping) {
      throw new RetryableUpstreamError('malformed', 'the stream ended in the middle');
    }
    return [{ text: event('message_stop', { type: 'message_stop' }), produced: '', final: true }];
  }

  cutShort(usage: TokenUsage): string {
    const block = this.openBlock;
    const stop =
      block === undefined
        ? ''
        : event('content_block_stop', { type: 'content_block_stop', index: block });
    return (
      stop +
      event('message_delta', {
        type: 'message_delta',
        delta: { stop_reason: 'max_tokens', stop_sequence: null },
        usage: { output_tokens: usage.output_tokens },
      }) +
      event('message_stop', { type: 'message_stop' })
    );
  }
}
