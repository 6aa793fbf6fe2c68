import type { StreamEvent, TokenUsage, UpstreamCall } from './contract.ts';
import { RetryableUpstreamError } from './contract.ts';
import { oneLine } from './events.ts';
import { failureInside } from './failures.ts';
import { count, isObject, parseObject } from './http.ts';
import { editMembers } from './json-members.ts';
import { hideModel, modelNames, publish } from './publish.ts';
import type { MeteredDialect } from './request.ts';

/** The events of one streamed message (Anthropic docs: Streaming). */
export class MessageStream implements MeteredDialect {
  private counted: TokenUsage | null = null;
  /** The last `message_delta` reported the output: before it only the input side is known. */
  private isCounted = false;
  private openBlock: unknown;
  private stopping = false;
  private done = false;
  private names: string[];

  constructor(private readonly call: UpstreamCall) {
    this.names = modelNames(undefined, call);
  }

  usage(): TokenUsage | null {
    return this.isCounted ? this.counted : null;
  }

  inputUsage(): TokenUsage | null {
    return this.counted;
  }

  ended(): boolean {
    return this.done;
  }

  take({ event: name, data }: { event?: string | undefined; data: string }): StreamEvent {
    const value = parseObject(data);
    const type = typeof value['type'] === 'string' ? value['type'] : (name ?? '');
    let text = data;
    let produced = '';
    switch (type) {
      case 'content_block_delta':
        produced = producedByDelta(value['delta']);
        break;
      case 'message_start':
        text = this.begin(data, value['message']);
        break;
      case 'content_block_start':
        this.openBlock = value['index'];
        produced = producedByStart(value['content_block']);
        break;
      case 'content_block_stop':
        this.openBlock = undefined;
        break;
      case 'message_delta':
        this.count(value);
        break;
      case 'message_stop':
        this.stopping = true;
        this.done = true;
        break;
      case 'error':
        throw failureInside(this.call, data);
      default:
        // `ping`, and what later versions bring.
        break;
    }
    const line = name ?? oneLine(type);
    const shown = oneLine(hideModel(text, this.names, this.call.public_model));
    return { text: `event: ${line}\ndata: ${shown}\n\n`, produced, final: this.stopping };
  }

  atEnd(): StreamEvent[] {
    if (!this.stopping) {
      throw new RetryableUpstreamError('malformed', 'the stream ended in the middle');
    }
    this.done = true;
    return [{ text: event({ type: 'message_stop' }), produced: '', final: true }];
  }

  cutShort(usage: TokenUsage): string {
    const index = this.openBlock;
    const stop = index === undefined ? '' : event({ type: 'content_block_stop', index });
    const last = {
      type: 'message_delta',
      delta: { stop_reason: 'max_tokens', stop_sequence: null },
      usage: { output_tokens: usage.output_tokens },
    };
    return stop + event(last) + event({ type: 'message_stop' });
  }

  private begin(data: string, message: unknown): string {
    if (!isObject(message)) return data;
    this.counted = usageOf(message['usage'], this.counted);
    this.names = modelNames(message['model'], this.call);
    return editMembers(data, { message: (text) => publish(text, message, this.call) });
  }

  private count({ delta, usage }: Readonly<Record<string, unknown>>): void {
    if (isObject(usage) && typeof usage['output_tokens'] === 'number') this.isCounted = true;
    this.counted = usageOf(usage, this.counted);
    this.stopping ||= isObject(delta) && Boolean(delta['stop_reason']);
  }
}

function event(data: { type: string; [member: string]: unknown }): string {
  return `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
}

/**
 * Reads `usage`; what it leaves out is as `before`, since the counts of a stream are cumulative. null
 * if nothing was ever reported. `input_tokens` excludes both cache counts, as ours do.
 */
export function usageOf(usage: unknown, before: TokenUsage | null): TokenUsage | null {
  if (!isObject(usage)) return before;
  const { input_tokens, output_tokens } = usage;
  if (typeof input_tokens !== 'number' && typeof output_tokens !== 'number') return before;
  const read = (key: string, earlier: number | undefined) =>
    typeof usage[key] === 'number' ? count(usage[key]) : (earlier ?? 0);
  const cache_write_tokens = read('cache_creation_input_tokens', before?.cache_write_tokens);
  const cache_write_1h_tokens = Math.min(
    cache_write_tokens,
    writtenForAnHour(usage['cache_creation']) ?? before?.cache_write_1h_tokens ?? 0,
  );
  return {
    input_tokens: read('input_tokens', before?.input_tokens),
    cached_input_tokens: read('cache_read_input_tokens', before?.cached_input_tokens),
    cache_write_tokens,
    ...(cache_write_1h_tokens > 0 ? { cache_write_1h_tokens } : {}),
    output_tokens: read('output_tokens', before?.output_tokens),
  };
}

function writtenForAnHour(creation: unknown): number | undefined {
  const tokens = isObject(creation) ? creation['ephemeral_1h_input_tokens'] : undefined;
  return typeof tokens === 'number' ? count(tokens) : undefined;
}

/** A block may begin with text, and a tool's name is part of what is paid for. */
function producedByStart(block: unknown): string {
  if (!isObject(block)) return '';
  return `${block['text'] ?? ''}${block['thinking'] ?? ''}${block['name'] ?? ''}`;
}

function producedByDelta(delta: unknown): string {
  if (!isObject(delta)) return '';
  return `${delta['text'] ?? ''}${delta['thinking'] ?? ''}${delta['partial_json'] ?? ''}`;
}
