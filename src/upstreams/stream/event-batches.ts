import { createParser, type EventSourceMessage, type EventSourceParser } from 'eventsource-parser';
import { RetryableUpstreamError, type StreamEvent } from '../contract.ts';
import { DeltaTemplates } from './delta-template.ts';

/**
 * The most characters of one event. The largest known events contain all arguments of a tool call,
 * and are far shorter.
 */
export const MAX_EVENT_CHARS = 4 * 1024 * 1024;

/** Reads the events of a provider's stream and returns their public form. */
export interface StreamProtocol {
  /**
   * Returns the public form of an event, or undefined if clients must not see the event. Throws for
   * an invalid event.
   */
  take(event: EventSourceMessage): StreamEvent | undefined;
  /** True after the terminal event, i.e. the event that ends the answer. */
  hasEnded(): boolean;
  /**
   * Called at the end of the bytes. If the upstream left out the last events of the answer, returns
   * them. Throws if the answer was cut off.
   */
  atEnd(): StreamEvent[];
}

/**
 * The events that one call of `feed` or `end` completed. `error` is set if the stream failed after
 * these events.
 */
export interface FeedResult {
  readonly batch: StreamEvent[];
  readonly error: unknown;
}

const END_OF_EVENT = '\n\n';

/** Turns bytes into public events, up to the terminal event or the first error. */
export class EventBatches {
  private readonly decoder = new Utf8Decoder();
  private readonly templates: DeltaTemplates;
  /** Reads the events that `parsePlainEvent` cannot read. */
  private parser: EventSourceParser | undefined;
  /** True if the next character starts an event. */
  private isAtEventStart = true;
  private isFirstEvent = true;
  private batch: StreamEvent[] = [];
  private error: unknown;

  constructor(private readonly protocol: StreamProtocol) {
    this.templates = new DeltaTemplates(protocol);
  }

  /** Returns the events that these bytes complete. */
  feed(bytes: Uint8Array): FeedResult {
    const text = this.decoder.decode(bytes);
    for (let at = 0; at < text.length && !this.error; ) at = this.readNext(text, at);
    return this.takeResult();
  }

  /** Returns the last events of the stream. The last event may have no blank line after it. */
  end(): FeedResult {
    this.parse(`${this.decoder.end()}${END_OF_EVENT}`);
    if (!this.error && !this.protocol.hasEnded()) {
      try {
        this.batch.push(...this.protocol.atEnd());
      } catch (error) {
        this.error = error;
      }
    }
    return this.takeResult();
  }

  /** Reads one event, or all deltas that match the template. Returns the position after them. */
  private readNext(text: string, at: number): number {
    const run = this.isAtEventStart ? this.templates.readRun(text, at) : undefined;
    if (run) {
      this.batch.push(run.event);
      return run.end;
    }
    const end = text.indexOf(END_OF_EVENT, at);
    const next = end < 0 ? text.length : end + END_OF_EVENT.length;
    const isWhole = this.isAtEventStart && end >= 0;
    const plain = isWhole ? parsePlainEvent(text, at, end) : undefined;
    if (plain) this.readEvent(plain);
    else if (!isWhole || !isComment(text, at, end)) this.parse(text.slice(at, next));
    this.isAtEventStart = end >= 0;
    this.isFirstEvent = false;
    return next;
  }

  private readEvent(event: EventSourceMessage): void {
    if (this.error || this.protocol.hasEnded()) return;
    try {
      const publicEvent = this.templates.read(event);
      if (publicEvent) this.batch.push(publicEvent);
    } catch (error) {
      this.error = error;
    }
  }

  private parse(text: string): void {
    if (this.error) return;
    this.parser ??= this.createParser();
    this.parser.feed(text);
  }

  private createParser(): EventSourceParser {
    const parser = createParser({
      maxBufferSize: MAX_EVENT_CHARS,
      onEvent: (event) => this.readEvent(event),
      onError: ({ type }) => {
        if (type !== 'max-buffer-size-exceeded') return;
        this.error ??= new RetryableUpstreamError(
          'malformed',
          'an event of the stream is too long',
        );
      },
    });
    // The parser removes a byte order mark from its first bytes. Only the start of the stream may
    // have such a mark. So a parser that starts later gets a line break first.
    if (!this.isFirstEvent) parser.feed('\n');
    return parser;
  }

  private takeResult(): FeedResult {
    const { batch, error } = this;
    this.batch = [];
    return { batch, error };
  }
}

const EVENT = 'event: ';
const DATA = 'data: ';

/**
 * Reads the event between `at` and its blank line at `end` without a parser. The event must have
 * one `data` line, and at most one `event` line before it, as most providers send them. For all
 * other events, returns undefined.
 */
function parsePlainEvent(text: string, at: number, end: number): EventSourceMessage | undefined {
  const isNamed = text.startsWith(EVENT, at);
  const dataLine = isNamed ? text.indexOf('\n', at) + 1 : at;
  if (!text.startsWith(DATA, dataLine)) return undefined;
  const data = text.slice(dataLine + DATA.length, end);
  if (data.includes('\n') || data.includes('\r')) return undefined;
  const event = isNamed ? text.slice(at + EVENT.length, dataLine - 1) : undefined;
  if (event?.includes('\r') || event === '') return undefined;
  return { id: undefined, event, data };
}

/** True if the only line between `at` and its blank line at `end` is a comment. */
function isComment(text: string, at: number, end: number): boolean {
  const isOneLine = text[at] === ':' && text.indexOf('\n', at) === end;
  return isOneLine && !text.slice(at, end).includes('\r');
}

const FIRST_BEYOND_ASCII = 0x80;
/** The event parser removes the byte order mark, so the decoder must keep it. */
const KEEP_BYTE_ORDER_MARK = { ignoreBOM: true };
const utf8 = new TextDecoder('utf-8', KEEP_BYTE_ORDER_MARK);

/**
 * Decodes UTF-8 in pieces. A piece that ends with an ASCII byte does not end inside a character, so
 * the piece is decoded alone. The first piece that ends with another byte, and all later pieces,
 * are decoded by a streaming decoder.
 */
class Utf8Decoder {
  private streaming: TextDecoder | undefined;

  decode(bytes: Uint8Array): string {
    const last = bytes.at(-1) ?? 0;
    if (!this.streaming && last < FIRST_BEYOND_ASCII) return utf8.decode(bytes);
    this.streaming ??= new TextDecoder('utf-8', KEEP_BYTE_ORDER_MARK);
    return this.streaming.decode(bytes, { stream: true });
  }

  /** Returns the replacement character if the last character is incomplete; otherwise ''. */
  end(): string {
    return this.streaming?.decode() ?? '';
  }
}
