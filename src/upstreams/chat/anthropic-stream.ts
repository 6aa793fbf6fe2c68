import { editMembers } from '../../json/members.ts';
import { isObject } from '../../json/object.ts';
import { anthropicUsage } from '../../protocols/anthropic-usage.ts';
import type { TokenUsage } from '../../protocols/token-usage.ts';
import type { StreamEvent, UpstreamCall } from '../contract.ts';
import { RetryableUpstreamError } from '../contract.ts';
import { hideModel, modelNames, publishAnswer } from '../pass-through/publish.ts';
import type { MeteredStreamProtocol } from '../pass-through/request.ts';
import { withoutLineBreaks } from '../stream/events.ts';
import { parseObject } from '../transport/exchange.ts';
import { classifyInlineError } from '../transport/failures.ts';

/**
 * Makes the upstream's events of one streamed message public, and counts its usage (Anthropic docs:
 * Streaming).
 */
export class MessageStream implements MeteredStreamProtocol {
  private counted: TokenUsage | null = null;
  /**
   * True once a `message_delta` reported the output tokens. Before that, only the usage of the
   * input is known.
   */
  private isCounted = false;
  /** Index of the content block that has started and not stopped; undefined between blocks. */
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

  hasEnded(): boolean {
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
        throw classifyInlineError(this.call, data);
      default:
        // `ping` and unknown event types are forwarded. They carry nothing to charge.
        break;
    }
    const line = name ?? withoutLineBreaks(type);
    const shown = withoutLineBreaks(hideModel(text, this.names, this.call.public_model));
    return { text: `event: ${line}\ndata: ${shown}\n\n`, produced, final: this.stopping, value };
  }

  atEnd(): StreamEvent[] {
    if (!this.stopping) {
      throw new RetryableUpstreamError('malformed', 'the stream ended before its last event');
    }
    this.done = true;
    const value = { type: 'message_stop' };
    return [{ text: event(value), produced: '', final: true, value }];
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
    this.counted = anthropicUsage(message['usage'], this.counted);
    this.names = modelNames(message['model'], this.call);
    return editMembers(data, { message: (text) => publishAnswer(text, message, this.call) });
  }

  private count({ delta, usage }: Readonly<Record<string, unknown>>): void {
    if (isObject(usage) && typeof usage['output_tokens'] === 'number') this.isCounted = true;
    this.counted = anthropicUsage(usage, this.counted);
    this.stopping ||= isObject(delta) && Boolean(delta['stop_reason']);
  }
}

function event(data: { type: string; [member: string]: unknown }): string {
  return `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
}

/**
 * Returns the charged text of the event that starts a block. A tool's name is output of the model,
 * so it is charged too.
 */
function producedByStart(block: unknown): string {
  if (!isObject(block)) return '';
  return `${block['text'] ?? ''}${block['thinking'] ?? ''}${block['name'] ?? ''}`;
}

function producedByDelta(delta: unknown): string {
  if (!isObject(delta)) return '';
  return `${delta['text'] ?? ''}${delta['thinking'] ?? ''}${delta['partial_json'] ?? ''}`;
}
