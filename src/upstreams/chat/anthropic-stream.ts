import { editMembers } from '../../json/members.ts';
import { isObject } from '../../json/object.ts';
import { anthropicUsage, writeAnthropicUsage } from '../../protocols/anthropic-usage.ts';
import { messagesFitness } from '../../protocols/fitness.ts';
import type { TokenUsage } from '../../protocols/token-usage.ts';
import type { StreamEvent, UpstreamCall } from '../contract.ts';
import { RetryableUpstreamError } from '../contract.ts';
import { hideModel, modelNames, publishAnswer } from '../pass-through/publish.ts';
import { checkedUsage } from '../pass-through/reported-usage.ts';
import type { MeteredStreamProtocol } from '../pass-through/request.ts';
import { messagesErrorEvent } from '../stream/error-events.ts';
import { withoutLineBreaks } from '../stream/events.ts';
import { parseObject } from '../transport/exchange.ts';
import { classifyInlineError } from '../transport/failures.ts';

/**
 * Replaces the upstream's ids and model names in the events of one streamed message, and reads its
 * usage (Anthropic docs: Streaming).
 */
export class MessageStream implements MeteredStreamProtocol {
  private counted: TokenUsage | null = null;
  /**
   * True once a `message_delta` reported the output tokens. Before that, only the usage of the
   * input is known.
   */
  private isCounted = false;
  private isImpossible = false;
  private searches = 0;
  /** Index of the content block that has started and not stopped; undefined between blocks. */
  private openBlock: unknown;
  private stopping = false;
  private done = false;
  private names: string[];

  constructor(private readonly call: UpstreamCall) {
    this.names = modelNames(undefined, call);
  }

  usage(): TokenUsage | null {
    return this.isCounted && !this.isImpossible ? this.counted : null;
  }

  inputUsage(): TokenUsage | null {
    return this.counted;
  }

  webSearches(): number {
    return this.searches;
  }

  hasImpossibleUsage(): boolean {
    return this.isImpossible;
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
        if (isWebSearchBlock(value['content_block'])) this.searches += 1;
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
    const write = (json: string) => `event: ${line}\ndata: ${json}\n\n`;
    const is_fit = messagesFitness.judge(value);
    const event = { text: write(shown), produced, final: this.stopping, value, is_fit };
    if (!this.isImpossible) return event;
    if (type === 'message_start') {
      const withUsage = (usage: TokenUsage) =>
        write(editMembers(shown, { message: (message) => withUsageIn(message, usage) }));
      return { ...event, withUsage };
    }
    if (type !== 'message_delta') return event;
    return { ...event, withUsage: (usage) => write(withUsageIn(shown, usage)) };
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

  readonly errorEvents = messagesErrorEvent;

  private begin(data: string, message: unknown): string {
    if (!isObject(message)) return data;
    this.read(message['usage']);
    this.names = modelNames(message['model'], this.call);
    return editMembers(data, { message: (text) => publishAnswer(text, message, this.call) });
  }

  private read(usage: unknown): void {
    const report = checkedUsage(anthropicUsage(usage, this.counted), this.call);
    if (report === 'impossible') this.isImpossible = true;
    else this.counted = report;
  }

  private count({ delta, usage }: Readonly<Record<string, unknown>>): void {
    if (isObject(usage) && typeof usage['output_tokens'] === 'number') this.isCounted = true;
    this.read(usage);
    this.stopping ||= isObject(delta) && Boolean(delta['stop_reason']);
  }
}

/** Returns the JSON of a message or of a `message_delta` event with this usage. */
function withUsageIn(json: string, usage: TokenUsage): string {
  return editMembers(json, { usage: JSON.stringify(writeAnthropicUsage(usage)) });
}

function event(data: { type: string; [member: string]: unknown }): string {
  return `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** True for a web search that the provider runs. */
export function isWebSearchBlock(block: unknown): boolean {
  return isObject(block) && block['type'] === 'server_tool_use' && block['name'] === 'web_search';
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
