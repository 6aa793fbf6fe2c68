import { isObject } from '../../json/object.ts';
import { openaiUsage } from '../../protocols/openai-usage.ts';
import type { TokenUsage } from '../../protocols/token-usage.ts';
import type { StreamEvent, UpstreamCall } from '../contract.ts';
import { RetryableUpstreamError } from '../contract.ts';
import { ChunkPublisher } from '../pass-through/publish.ts';
import type { MeteredStreamProtocol } from '../pass-through/request.ts';
import { withoutLineBreaks } from '../stream/events.ts';
import { parseObject } from '../transport/exchange.ts';
import { classifyInlineError } from '../transport/failures.ts';
import { producedBy } from './openai-answer.ts';

export const DONE = 'data: [DONE]\n\n';

/** Makes the chunks of one streamed chat completion public, and counts its usage (OpenAI docs: Streaming). */
export class ChatStream implements MeteredStreamProtocol {
  private readonly publisher: ChunkPublisher;
  private readonly wantsUsage: boolean;
  /** Number of choices that the client requested. Each choice ends with its own finish reason. */
  private readonly choices: number;
  private readonly finished = new Set<unknown>();
  private counted: TokenUsage | null = null;
  private created = 0;
  private done = false;

  constructor(private readonly call: UpstreamCall) {
    this.publisher = new ChunkPublisher(call);
    const { n, stream_options: options } = call.body;
    this.wantsUsage = isObject(options) && options['include_usage'] === true;
    this.choices = typeof n === 'number' ? n : 1;
  }

  usage(): TokenUsage | null {
    return this.counted;
  }

  inputUsage(): TokenUsage | null {
    return this.counted;
  }

  hasEnded(): boolean {
    return this.done;
  }

  take({ event, data }: { event?: string | undefined; data: string }): StreamEvent | undefined {
    if (data === '[DONE]') {
      this.done = true;
      return { text: DONE, produced: '', final: true, value: null };
    }
    const chunk = parseObject(data);
    if (chunk['error'] || event === 'error') throw classifyInlineError(this.call, data);
    const { created } = chunk;
    if (this.created === 0 && typeof created === 'number') this.created = created;
    const usage = openaiUsage(chunk['usage']);
    if (usage) this.counted = usage;
    const choices: unknown[] = Array.isArray(chunk['choices']) ? chunk['choices'] : [];
    if (usage && choices.length === 0 && !this.wantsUsage) return undefined;
    for (const choice of choices) {
      if (isObject(choice) && choice['finish_reason']) this.finished.add(choice['index'] ?? 0);
    }
    const text = this.publisher.publish(data, chunk, this.wantsUsage);
    return {
      text: `data: ${withoutLineBreaks(text)}\n\n`,
      produced: producedBy(choices, 'delta'),
      final: this.isFinished(),
      value: chunk,
    };
  }

  /**
   * Returns `[DONE]`, which some servers omit. Throws if a choice has no finish reason: then the
   * answer was cut off.
   */
  atEnd(): StreamEvent[] {
    if (!this.isFinished()) {
      throw new RetryableUpstreamError('malformed', 'the stream ended before its last event');
    }
    this.done = true;
    return [{ text: DONE, produced: '', final: true, value: null }];
  }

  cutShort(usage: TokenUsage): string {
    const open = Array.from({ length: this.choices }, (_, index) => index).filter(
      (index) => !this.finished.has(index),
    );
    const finish = this.chunk(open.map((index) => ({ index, delta: {}, finish_reason: 'length' })));
    return finish + (this.wantsUsage ? this.chunk([], usageChunk(usage)) : '') + DONE;
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

function usageChunk(usage: TokenUsage): object {
  const { input_tokens, cached_input_tokens, cache_write_tokens, output_tokens } = usage;
  const prompt_tokens = input_tokens + cached_input_tokens + cache_write_tokens;
  return {
    usage: {
      prompt_tokens,
      completion_tokens: output_tokens,
      total_tokens: prompt_tokens + output_tokens,
      prompt_tokens_details: { cached_tokens: cached_input_tokens },
    },
  };
}
