import type { WeirError } from '../../errors/weir-error.ts';
import { exactBody } from '../../json/exact-integers.ts';
import type { ClientProtocol } from '../../protocols/names.ts';
import type { AnswerUsage, TokenUsage } from '../../protocols/token-usage.ts';
import {
  RetryableUpstreamError,
  type StreamEvent,
  TerminalUpstreamError,
  type TextTemplate,
  type UpstreamCall,
  type UpstreamProtocol,
  type UpstreamStream,
} from '../contract.ts';
import { parseObject } from '../transport/exchange.ts';
import type { AnswerNames, NeutralEvent, StreamReader, StreamWriter } from './neutral.ts';
import { translateRefusal } from './refusal.ts';
import {
  CLIENT_TRANSLATORS,
  type RequestProtocol,
  translateCall,
  UPSTREAM_TRANSLATORS,
  writeEarlyEnd,
} from './translate.ts';

const MS_PER_S = 1_000;

/**
 * Returns a protocol that serves clients of the protocol `client` through `upstream`. It translates
 * the call, and then the answer, event by event. `upstream` limits the output, hides ids and model
 * names, counts the text and classifies failures. `form` is the format of the request bodies that
 * `upstream` takes.
 */
export function translateProtocol(
  client: ClientProtocol,
  form: RequestProtocol,
  upstream: UpstreamProtocol,
): UpstreamProtocol {
  /** Returns the error of the upstream. What the client may see of it is in the client's words. */
  const inClientsWords = (error: unknown, call: UpstreamCall) => {
    if (error instanceof TerminalUpstreamError) return translateRefusal(error, client, form, call);
    if (!(error instanceof RetryableUpstreamError)) return error;
    return error.withPublicMessage((refusal) => translateRefusal(refusal, client, form, call));
  };
  return {
    name: upstream.name,

    async complete(call) {
      const names = namesOf(call);
      const { call: translatedCall, request } = translateCall(client, form, call);
      const answer = await upstream.complete(translatedCall).catch((error: unknown) => {
        throw inClientsWords(error, call);
      });
      const neutral = UPSTREAM_TRANSLATORS[form].answer(parseObject(answer.body_text), request);
      const write = (usage: AnswerUsage | null) =>
        JSON.stringify(CLIENT_TRANSLATORS[client].answer({ ...neutral, usage }, names));
      if (answer.usage) return { ...answer, body_text: write(neutral.usage) };
      // The upstream reported no usage, but the client's protocol needs it. So the client gets
      // Weir's own count.
      return { ...answer, body_text: write(null), withUsage: write };
    },

    async stream(call) {
      const names = namesOf(call);
      const { call: translatedCall, request } = translateCall(client, form, call);
      const stream = await upstream.stream(translatedCall).catch((error: unknown) => {
        throw inClientsWords(error, call);
      });
      return new TranslatedStream(
        stream,
        UPSTREAM_TRANSLATORS[form].stream(request),
        CLIENT_TRANSLATORS[client].stream(names),
        (error) => inClientsWords(error, call),
      );
    },
  };
}

function namesOf(call: UpstreamCall): AnswerNames {
  const created = Math.floor(Date.now() / MS_PER_S);
  const request = exactBody(call.body, call.body_text);
  return { id: call.answer_id, model: call.public_model, created, request };
}

/** An upstream's stream whose events are translated to the client's protocol. */
class TranslatedStream implements UpstreamStream {
  readonly events: AsyncIterable<StreamEvent[]>;
  private hasOpenPart = false;
  /** True if the upstream reported usage. */
  private hasUsage = false;
  /**
   * Each event of the upstream that matches this template becomes one neutral delta. Undefined if no
   * template is known. Any other event clears the template, because the reader may convert later
   * events differently.
   */
  private textTemplate: TextTemplate | undefined;

  constructor(
    private readonly stream: UpstreamStream,
    private readonly reader: StreamReader,
    private readonly writer: StreamWriter,
    private readonly toClientError: (error: unknown) => unknown,
  ) {
    this.events = { [Symbol.asyncIterator]: () => this.iterate() };
  }

  usage(): TokenUsage | null {
    return this.stream.usage();
  }

  inputUsage(): TokenUsage | null {
    return this.stream.inputUsage();
  }

  hasImpossibleUsage(): boolean {
    return this.stream.hasImpossibleUsage();
  }

  endEarly(usage: TokenUsage): string {
    return writeEarlyEnd(this.writer, this.hasOpenPart, usage);
  }

  errorEvents(error: WeirError, request_id: string): string {
    return this.writer.errorEvents(error, request_id);
  }

  answer(): object {
    return this.writer.answer();
  }

  private iterate(): AsyncIterator<StreamEvent[]> {
    const inner = this.stream.events[Symbol.asyncIterator]();
    return {
      next: async () => {
        const { done, value } = await this.readNext(inner);
        if (done) return { done: true, value: undefined };
        return { done: false, value: value.map((event) => this.translate(event)) };
      },
      return: async () => {
        await inner.return?.();
        return { done: true, value: undefined };
      },
    };
  }

  private async readNext(inner: AsyncIterator<StreamEvent[]>) {
    try {
      return await inner.next();
    } catch (error) {
      throw this.toClientError(error);
    }
  }

  private translate({ text: _, value, template, pieces, ...rest }: StreamEvent): StreamEvent {
    const { withUsage: __, frame: ___, isSecond: ____, ...event } = rest;
    if (event.final) this.writer.holdBack?.();
    if (template)
      return { ...event, text: this.translateTexts(template, pieces ?? [event.produced]) };
    this.textTemplate = undefined;
    const read = value === undefined ? [] : this.reader.read(value);
    const events = this.stream.hasImpossibleUsage()
      ? read.filter(({ type }) => type !== 'usage')
      : read;
    if (events.some(({ type }) => type === 'usage')) this.hasUsage = true;
    if (this.hasUsage || !events.some(({ type }) => type === 'end')) {
      return { ...event, text: this.writeAll(events) };
    }
    // The upstream reported no usage, but the client's protocol needs it. So the client gets Weir's
    // own count.
    const withUsage = (usage: TokenUsage) =>
      this.write({ type: 'usage', usage }) + this.writeAll(events);
    return { ...event, text: '', withUsage };
  }

  /**
   * Translates events that differ only in their text. The first event is parsed. If it becomes one
   * neutral delta with the same text, the later events are translated likewise, without parsing.
   */
  private translateTexts(template: TextTemplate, pieces: readonly string[]): string {
    let text = '';
    for (const piece of pieces) {
      if (this.textTemplate !== template) {
        const events = this.reader.read(parseObject(template.before + piece + template.after));
        if (isDeltaOf(events, piece)) this.textTemplate = template;
        text += this.writeAll(events);
      } else text += this.writer.write({ type: 'delta', text: piece });
    }
    return text;
  }

  private writeAll(events: readonly NeutralEvent[]): string {
    let text = '';
    for (const event of events) text += this.write(event);
    return text;
  }

  private write(event: NeutralEvent): string {
    if (event.type === 'open') this.hasOpenPart = true;
    if (event.type === 'close') this.hasOpenPart = false;
    return this.writer.write(event);
  }
}

/** True if the neutral events are one delta with this text. */
function isDeltaOf(events: readonly NeutralEvent[], text: string): boolean {
  const [only] = events;
  return events.length === 1 && only?.type === 'delta' && only.text === text;
}
