import { createParser, type EventSourceMessage, type EventSourceParser } from 'eventsource-parser';
import { RetryableUpstreamError, type StreamEvent } from '../contract.ts';
import { DeltaTemplates } from './delta-template.ts';

/** One event may be this long: a tool's arguments in one delta fit many times. */
const MAX_EVENT_CHARS = 4 * 1024 * 1024;

/** What a provider's dialect makes of one event. */
export interface Dialect {
  /** The public form of an event; undefined = not for the client. Throws what a broken one means. */
  take(event: EventSourceMessage): StreamEvent | undefined;
  /** True once the terminal event was seen. */
  ended(): boolean;
  /** What is missing when the bytes ended; throws if the answer was cut off. */
  atEnd(): StreamEvent[];
}

/** What some bytes held, and what broke the stream after that. */
export interface FeedResult {
  readonly batch: StreamEvent[];
  readonly broken: unknown;
}

const END_OF_EVENT = '\n\n';

/** Turns bytes into the public events of a dialect, up to the terminal one or to what broke it. */
export class EventBatches {
  private readonly decoder = new PieceDecoder();
  private readonly templates: DeltaTemplates;
  /** For what is not as plain as most events are. */
  private parser: EventSourceParser | undefined;
  /** True where the next character begins an event. */
  private isBetween = true;
  private isFirst = true;
  private batch: StreamEvent[] = [];
  private broken: unknown;

  constructor(private readonly dialect: Dialect) {
    this.templates = new DeltaTemplates(dialect);
  }

  feed(bytes: Uint8Array): FeedResult {
    const text = this.decoder.decode(bytes);
    for (let at = 0; at < text.length && !this.broken; ) at = this.readFrom(text, at);
    return this.taken();
  }

  /** The bytes ended; the last event may lack its blank line. */
  end(): FeedResult {
    this.parse(`${this.decoder.end()}${END_OF_EVENT}`);
    if (!this.broken && !this.dialect.ended()) {
      try {
        this.batch.push(...this.dialect.atEnd());
      } catch (error) {
        this.broken = error;
      }
    }
    return this.taken();
  }

  /** Reads one event, or the many that differ in a word; the position after what was read. */
  private readFrom(text: string, at: number): number {
    const run = this.isBetween ? this.templates.takeRun(text, at) : undefined;
    if (run) {
      this.batch.push(run.event);
      return run.end;
    }
    const end = text.indexOf(END_OF_EVENT, at);
    const next = end < 0 ? text.length : end + END_OF_EVENT.length;
    const plain = this.isBetween && end >= 0 ? plainEvent(text, at, end) : undefined;
    if (plain) this.take(plain);
    else this.parse(text.slice(at, next));
    this.isBetween = end >= 0;
    this.isFirst = false;
    return next;
  }

  private take(event: EventSourceMessage): void {
    if (this.broken || this.dialect.ended()) return;
    try {
      const taken = this.templates.take(event);
      if (taken) this.batch.push(taken);
    } catch (error) {
      this.broken = error;
    }
  }

  private parse(text: string): void {
    if (this.broken) return;
    this.parser ??= this.createParser();
    this.parser.feed(text);
  }

  private createParser(): EventSourceParser {
    const parser = createParser({
      maxBufferSize: MAX_EVENT_CHARS,
      onEvent: (event) => this.take(event),
      onError: ({ type }) => {
        if (type !== 'max-buffer-size-exceeded') return;
        this.broken ??= new RetryableUpstreamError('malformed', 'an event without end');
      },
    });
    // Only at the very start of a stream may there be a byte order mark.
    if (!this.isFirst) parser.feed('\n');
    return parser;
  }

  private taken(): FeedResult {
    const { batch, broken } = this;
    this.batch = [];
    return { batch, broken };
  }
}

const EVENT = 'event: ';
const DATA = 'data: ';

/**
 * The event from `at` to its blank line at `end`, where it is written as providers mostly do: its
 * name, if it has one, and a single line of data. Nothing of that has to be put together.
 */
function plainEvent(text: string, at: number, end: number): EventSourceMessage | undefined {
  const isNamed = text.startsWith(EVENT, at);
  const dataLine = isNamed ? text.indexOf('\n', at) + 1 : at;
  if (!text.startsWith(DATA, dataLine)) return undefined;
  const data = text.slice(dataLine + DATA.length, end);
  if (data.includes('\n') || data.includes('\r')) return undefined;
  const event = isNamed ? text.slice(at + EVENT.length, dataLine - 1) : undefined;
  if (event?.includes('\r') || event === '') return undefined;
  return { id: undefined, event, data };
}

const FIRST_BEYOND_ASCII = 0x80;
/** The parser itself takes a byte order mark away, once. */
const KEEP_ALL = { ignoreBOM: true };
const utf8 = new TextDecoder('utf-8', KEEP_ALL);

/** Decodes a text that comes in pieces, which may be cut inside of characters. Hardly any are. */
class PieceDecoder {
  private streaming: TextDecoder | undefined;

  decode(bytes: Uint8Array): string {
    const last = bytes.at(-1) ?? 0;
    if (!this.streaming && last < FIRST_BEYOND_ASCII) return utf8.decode(bytes);
    this.streaming ??= new TextDecoder('utf-8', KEEP_ALL);
    return this.streaming.decode(bytes, { stream: true });
  }

  /** What is left of a character that never ended. */
  end(): string {
    return this.streaming?.decode() ?? '';
  }
}
