import { editMembers } from '../../json/members.ts';
import { isObject } from '../../json/object.ts';
import { chatFitness } from '../../protocols/fitness.ts';
import { openaiUsage, writeOpenaiUsage } from '../../protocols/openai-usage.ts';
import type { TokenUsage } from '../../protocols/token-usage.ts';
import type { StreamEvent, UpstreamCall } from '../contract.ts';
import { RetryableUpstreamError } from '../contract.ts';
import { ChunkPublisher } from '../pass-through/publish.ts';
import { checkedUsage } from '../pass-through/reported-usage.ts';
import type { MeteredStreamProtocol } from '../pass-through/request.ts';
import { chatErrorEvents } from '../stream/error-events.ts';
import { withoutLineBreaks } from '../stream/events.ts';
import { parseObject } from '../transport/exchange.ts';
import { classifyInlineError, reportsFailure } from '../transport/failures.ts';
import { producedText } from './openai-answer.ts';

const DONE = 'data: [DONE]\n\n';

/**
 * Replaces the upstream's ids and model names in the chunks of one streamed chat completion, and
 * reads its usage (OpenAI docs: Streaming).
 */
export class ChatStream implements MeteredStreamProtocol {
  private readonly publisher: ChunkPublisher;
  private readonly wantsUsage: boolean;
  /** Number of choices that the client requested. Each choice ends with its own finish reason. */
  private readonly choices: number;
  private readonly finished = new Set<unknown>();
  private counted: TokenUsage | null = null;
  private isImpossible = false;
  /** True if a chunk with usage was sent to the client. */
  private hasShownUsage = false;
  private created = 0;
  private done = false;

  constructor(private readonly call: UpstreamCall) {
    this.publisher = new ChunkPublisher(call);
    const { n, stream_options: options } = call.body;
    this.wantsUsage = isObject(options) && options['include_usage'] === true;
    this.choices = typeof n === 'number' ? n : 1;
  }

  usage(): TokenUsage | null {
    return this.isImpossible ? null : this.counted;
  }

  inputUsage(): TokenUsage | null {
    return this.counted;
  }

  hasImpossibleUsage(): boolean {
    return this.isImpossible;
  }

  hasEnded(): boolean {
    return this.done;
  }

  take({ event, data }: { event?: string | undefined; data: string }): StreamEvent | undefined {
    if (data === '[DONE]') {
      return this.lastEvent();
    }
    const chunk = parseObject(data);
    if (reportsFailure(chunk) || event === 'error') throw classifyInlineError(this.call, data);
    const { created } = chunk;
    if (this.created === 0 && typeof created === 'number') this.created = created;
    const choices: unknown[] = Array.isArray(chunk['choices']) ? chunk['choices'] : [];
    const report = checkedUsage(openaiUsage(usageIn(chunk, choices)), this.call);
    if (report === 'impossible') this.isImpossible = true;
    else this.counted = report ?? this.counted;
    if (report && choices.length === 0 && !this.wantsUsage) return undefined;
    for (const choice of choices) {
      if (isObject(choice) && choice['finish_reason']) this.finished.add(choice['index'] ?? 0);
    }
    // Impossible usage is removed. Only the last chunk gets Weir's own count instead, because
    // counting for each chunk would be slow.
    const isShown = this.wantsUsage && (report !== 'impossible' || this.isFinished());
    if (isShown && report && isObject(chunk['usage'])) this.hasShownUsage = true;
    const text = withoutLineBreaks(this.publisher.publish(data, chunk, isShown));
    const sent = {
      text: `data: ${text}\n\n`,
      produced: producedText(choices, 'delta'),
      final: this.isFinished(),
      value: chunk,
      is_fit: chatFitness.judge(chunk),
    };
    if (!isShown || report !== 'impossible') return sent;
    return { ...sent, withUsage: (usage) => withUsage(text, usage) };
  }

  /**
   * Returns `[DONE]`, which some servers omit. Throws if a choice has no finish reason: then the
   * answer was cut off.
   */
  atEnd(): StreamEvent[] {
    if (!this.isFinished()) {
      throw new RetryableUpstreamError('malformed', 'the stream ended before its last event');
    }
    return [this.lastEvent()];
  }

  cutShort(usage: TokenUsage): string {
    const open = Array.from({ length: this.choices }, (_, index) => index).filter(
      (index) => !this.finished.has(index),
    );
    const finish = this.chunk(open.map((index) => ({ index, delta: {}, finish_reason: 'length' })));
    return (
      finish + (this.wantsUsage ? this.chunk([], { usage: writeOpenaiUsage(usage) }) : '') + DONE
    );
  }

  readonly errorEvents = chatErrorEvents;

  /**
   * Returns `[DONE]`. If the client asked for usage and the upstream sent none where OpenAI sends it,
   * a chunk with usage comes first: the usage from another place, or Weir's own count.
   */
  private lastEvent(): StreamEvent {
    this.done = true;
    const event: StreamEvent = { text: DONE, produced: '', final: true, value: null };
    if (!this.wantsUsage || this.hasShownUsage) return event;
    const withUsage = (usage: TokenUsage) =>
      this.chunk([], { usage: writeOpenaiUsage(this.counted ?? usage) }) + DONE;
    return { ...event, withUsage };
  }

  private isFinished(): boolean {
    return this.finished.size >= this.choices;
  }

  private chunk(choices: object[], rest: object = {}): string {
    const { answer_id: id, public_model: model } = this.call;
    const { created } = this;
    const chunk = { id, object: 'chat.completion.chunk', created, model, choices, ...rest };
    return `data: ${JSON.stringify(chunk)}\n\n`;
  }
}

/**
 * Returns the reported usage of a chunk. Moonshot may send it in the last choice
 * (AstrBotDevs/AstrBot#6614), and Groq in `x_groq` (@ai-sdk/groq 4.0.84).
 */
function usageIn(chunk: Readonly<Record<string, unknown>>, choices: readonly unknown[]): unknown {
  const { usage, x_groq } = chunk;
  if (usage !== undefined && usage !== null) return usage;
  const [choice] = choices;
  if (isObject(choice) && isObject(choice['usage'])) return choice['usage'];
  return isObject(x_groq) ? x_groq['usage'] : undefined;
}

function withUsage(chunk: string, usage: TokenUsage): string {
  return `data: ${editMembers(chunk, { usage: JSON.stringify(writeOpenaiUsage(usage)) })}\n\n`;
}
