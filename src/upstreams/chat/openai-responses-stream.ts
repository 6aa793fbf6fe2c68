import type { WeirError } from '../../errors/weir-error.ts';
import { editMembers } from '../../json/members.ts';
import { isObject } from '../../json/object.ts';
import { responsesFitness } from '../../protocols/fitness.ts';
import { responsesUsage, writeResponsesUsage } from '../../protocols/responses-usage.ts';
import type { TokenUsage } from '../../protocols/token-usage.ts';
import type { StreamEvent, UpstreamCall } from '../contract.ts';
import { RetryableUpstreamError } from '../contract.ts';
import { hideModel, modelNames, publishAnswer } from '../pass-through/publish.ts';
import { ItemPublisher } from '../pass-through/publish-items.ts';
import { checkedUsage } from '../pass-through/reported-usage.ts';
import type { MeteredStreamProtocol } from '../pass-through/request.ts';
import { isSearch } from '../pass-through/web-search.ts';
import { responsesErrorEvents } from '../stream/error-events.ts';
import { withoutLineBreaks } from '../stream/events.ts';
import { parseObject } from '../transport/exchange.ts';
import { classifyInlineError } from '../transport/failures.ts';
import { asEnvelope, webSearchesIn } from './openai-responses-answer.ts';

type Json = Readonly<Record<string, unknown>>;

/**
 * Replaces the upstream's ids and model names in the events of one streamed response, and reads its
 * usage.
 */
export class ResponseStream implements MeteredStreamProtocol {
  private reported: TokenUsage | null = null;
  private isImpossible = false;
  private searches = 0;
  /** The response object of the newest event that had one, with public ids and model names. */
  private response: Json = {};
  private readonly output: unknown[] = [];
  /** The number of the last event before the event that ends the response. */
  private sequence = -1;
  private done = false;
  private names: string[];
  private readonly items: ItemPublisher;

  constructor(private readonly call: UpstreamCall) {
    this.items = new ItemPublisher(call);
    this.names = modelNames(undefined, call);
  }

  usage(): TokenUsage | null {
    return this.isImpossible ? null : this.reported;
  }

  inputUsage(): TokenUsage | null {
    return this.reported;
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

  answer(): object {
    return this.response;
  }

  take({ event: name, data }: { event?: string | undefined; data: string }): StreamEvent {
    const value = parseObject(data);
    const type = typeof value['type'] === 'string' ? value['type'] : (name ?? '');
    const { sequence_number: sequence, response } = value;
    if (type === 'error') throw classifyInlineError(this.call, asEnvelope(value['error'] ?? value));
    if (type === 'response.failed') {
      const error = isObject(response) ? response['error'] : undefined;
      throw classifyInlineError(this.call, asEnvelope(error));
    }
    if (type === 'response.output_item.done') this.output.push(this.items.item(value['item']));
    if (type === 'response.output_item.done' && isSearch(value['item'])) this.searches += 1;
    const text = isObject(response)
      ? this.published(data, response)
      : this.items.event(data, value);
    this.done = type === 'response.completed' || type === 'response.incomplete';
    if (typeof sequence === 'number' && !this.done) this.sequence = sequence;
    const shown = withoutLineBreaks(hideModel(text, this.names, this.call.public_model));
    const produced =
      type.endsWith('.delta') && typeof value['delta'] === 'string' ? value['delta'] : '';
    const write = (json: string) => `event: ${withoutLineBreaks(type)}\ndata: ${json}\n\n`;
    return {
      text: write(shown),
      produced: type === 'response.output_item.added' ? nameIn(value['item']) : produced,
      final: this.done,
      value,
      is_fit: responsesFitness.judge(value),
      ...(this.isImpossible && isObject(response)
        ? { withUsage: (usage) => write(this.withUsage(shown, usage)) }
        : {}),
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
      usage: writeResponsesUsage(usage),
    };
    const event = { type, sequence_number: this.sequence + 1, response: this.response };
    return `event: ${type}\ndata: ${JSON.stringify(event)}\n\n`;
  }

  errorEvents(error: WeirError, request_id: string): string {
    const { answer_id: id, public_model: model } = this.call;
    const response = { id, object: 'response', model, ...this.response, output: this.output };
    return responsesErrorEvents(error, request_id, this.sequence + 1, response);
  }

  /** Returns the event's public JSON with this usage. Also sets the usage in `this.response`. */
  private withUsage(json: string, usage: TokenUsage): string {
    const written = writeResponsesUsage(usage);
    this.response = { ...this.response, usage: written };
    return editMembers(json, {
      response: (inner) => editMembers(inner, { usage: JSON.stringify(written) }),
    });
  }

  /**
   * Returns the event's JSON with public ids and model names. Remembers the public response, its
   * usage, and the model names that later events must hide.
   */
  private published(data: string, response: Json): string {
    const report = checkedUsage(
      responsesUsage(response['usage'], webSearchesIn(response)),
      this.call,
    );
    if (report === 'impossible') this.isImpossible = true;
    else this.reported = report ?? this.reported;
    this.names = modelNames(response['model'], this.call);
    let shown = '';
    const text = editMembers(data, {
      response: (inner) => {
        shown = this.items.response(publishAnswer(inner, response, this.call), response);
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
