import { editMembers } from '../../json/members.ts';
import { isObject } from '../../json/object.ts';
import { responsesUsage } from '../../protocols/responses-usage.ts';
import type { TokenUsage } from '../../protocols/token-usage.ts';
import type { StreamEvent, UpstreamCall } from '../contract.ts';
import { RetryableUpstreamError } from '../contract.ts';
import { hideModel, modelNames, publishAnswer } from '../pass-through/publish.ts';
import type { MeteredStreamProtocol } from '../pass-through/request.ts';
import { withoutLineBreaks } from '../stream/events.ts';
import { parseObject } from '../transport/exchange.ts';
import { classifyInlineError } from '../transport/failures.ts';
import { asEnvelope } from './openai-responses-answer.ts';

type Json = Readonly<Record<string, unknown>>;

/** Makes the upstream's events of one streamed response public, and counts its usage. */
export class ResponseStream implements MeteredStreamProtocol {
  private reported: TokenUsage | null = null;
  /** The response object of the newest event that had one, with public ids and model names. */
  private response: Json = {};
  private readonly output: unknown[] = [];
  private sequence = -1;
  private done = false;
  private names: string[];

  constructor(private readonly call: UpstreamCall) {
    this.names = modelNames(undefined, call);
  }

  usage(): TokenUsage | null {
    return this.reported;
  }

  inputUsage(): TokenUsage | null {
    return this.reported;
  }

  hasEnded(): boolean {
    return this.done;
  }

  answer(): object {
    return this.response;
  }

  take({ event: name, data }: { event?: string | undefined; data: string }): StreamEvent {
    const value = parseObject(data);
    const type = typeof value['type'] === 'string' ? value['type'] : (name ?? '');
    const { sequence_number: sequence, response } = value;
    if (typeof sequence === 'number') this.sequence = sequence;
    if (type === 'error') throw classifyInlineError(this.call, asEnvelope(value['error'] ?? value));
    if (type === 'response.failed') {
      const error = isObject(response) ? response['error'] : undefined;
      throw classifyInlineError(this.call, asEnvelope(error));
    }
    if (type === 'response.output_item.done') this.output.push(value['item']);
    const text = isObject(response) ? this.published(data, response) : data;
    this.done = type === 'response.completed' || type === 'response.incomplete';
    const shown = withoutLineBreaks(hideModel(text, this.names, this.call.public_model));
    const produced =
      type.endsWith('.delta') && typeof value['delta'] === 'string' ? value['delta'] : '';
    return {
      text: `event: ${withoutLineBreaks(type)}\ndata: ${shown}\n\n`,
      produced: type === 'response.output_item.added' ? nameIn(value['item']) : produced,
      final: this.done,
      value,
    };
  }

  atEnd(): StreamEvent[] {
    if (this.done) return [];
    throw new RetryableUpstreamError('malformed', 'the stream ended before its last event');
  }

  cutShort(usage: TokenUsage): string {
    const type = 'response.incomplete';
    this.response = {
      ...this.response,
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
      output: this.output,
      usage: usageOf(usage),
    };
    const event = { type, sequence_number: this.sequence + 1, response: this.response };
    return `event: ${type}\ndata: ${JSON.stringify(event)}\n\n`;
  }

  /**
   * Returns the event's JSON with public ids and model names. Remembers the public response, its
   * usage, and the model names that later events must hide.
   */
  private published(data: string, response: Json): string {
    this.reported = responsesUsage(response['usage']) ?? this.reported;
    this.names = modelNames(response['model'], this.call);
    let shown = '';
    const text = editMembers(data, {
      response: (inner) => {
        shown = publishAnswer(inner, response, this.call);
        return shown;
      },
    });
    this.response = parseObject(shown);
    return text;
  }
}

/** Returns a tool's name, or ''. The name is output of the model, so it is charged. */
function nameIn(item: unknown): string {
  return isObject(item) && typeof item['name'] === 'string' ? item['name'] : '';
}

function usageOf(usage: TokenUsage): object {
  const { input_tokens, cached_input_tokens, cache_write_tokens, output_tokens } = usage;
  const input = input_tokens + cached_input_tokens + cache_write_tokens;
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cached_input_tokens, cache_write_tokens },
    output_tokens,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: input + output_tokens,
  };
}
