import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { RetryableUpstreamError, type StreamEvent } from './contract.ts';
import { DeltaTemplates } from './delta-template.ts';
import type { Exchange } from './http.ts';
import type { BodyReader } from './wire/answer.ts';

/** One event may be this long: a tool's arguments in one delta fit many times. */
export const MAX_EVENT_CHARS = 4 * 1024 * 1024;
/** Bytes that become events at once: a piece from the network may hold megabytes of them. */
const SLICE_BYTES = 32 * 1024;
const NOTHING = new Uint8Array();
/** After its last event a stream has this long to end, so that its connection can be used again. */
const DRAIN_MS = 1_000;

/** What a provider's dialect makes of one event. */
export interface Dialect {
  /** The public form of an event; undefined = not for the client. Throws what a broken one means. */
  take(event: EventSourceMessage): StreamEvent | undefined;
  /** True once the terminal event was seen. */
  ended(): boolean;
  /** What is missing when the bytes ended; throws if the answer was cut off. */
  atEnd(): StreamEvent[];
}

/** What reading events asks of an exchange. */
export type EventExchange = Pick<
  Exchange,
  'response' | 'waiting' | 'heard' | 'flowing' | 'finished' | 'close' | 'explain'
>;

/**
 * Reads a stream of server-sent events batch by batch: what one piece from the network held. Bytes
 * may be cut anywhere, inside characters too. Leaving the loop early stops the upstream.
 *
 * When a stream breaks, the events before the break are still given out, except while nothing was:
 * then another channel may serve the call from its start (P7).
 */
export function readEvents(
  exchange: EventExchange,
  dialect: Dialect,
): AsyncIterable<StreamEvent[]> {
  return new EventReader(exchange, dialect);
}

/** An iterator by hand: a generator would cost every stream several turns of the event loop. */
class EventReader implements AsyncIterableIterator<StreamEvent[]> {
  private readonly reader: BodyReader | undefined;
  private readonly events: EventBatches;
  private begun = false;
  private over = false;
  /** What came and was not looked at yet. */
  private rest: Uint8Array = NOTHING;
  /** What comes after the batch that was given out last. */
  private broken: unknown;

  constructor(
    private readonly exchange: EventExchange,
    private readonly dialect: Dialect,
  ) {
    this.reader = exchange.response.body?.getReader();
    this.events = new EventBatches(dialect);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<StreamEvent[]>> {
    if (this.over) return OVER;
    try {
      if (this.broken) throw this.broken;
      const batch = await this.read();
      if (batch) {
        if (!this.begun) this.exchange.flowing();
        this.begun = true;
        return { done: false, value: batch };
      }
    } catch (error) {
      await this.leave();
      throw this.exchange.explain(error);
    }
    return OVER;
  }

  async return(): Promise<IteratorResult<StreamEvent[]>> {
    if (!this.over) await this.leave();
    return OVER;
  }

  /** The next events that are not none; undefined = the stream has ended. */
  private async read(): Promise<StreamEvent[] | undefined> {
    const { exchange, reader } = this;
    if (!reader) throw new RetryableUpstreamError('malformed', 'a stream without a body');
    for (;;) {
      if (this.begun) {
        if (this.dialect.ended()) return this.end(reader);
        exchange.waiting();
      }
      const { done, value } = await this.slice(reader);
      exchange.heard();
      if (done) exchange.finished();
      const { batch, broken } = value ? this.events.feed(value) : this.events.end();
      if (broken && (!this.begun || batch.length === 0)) throw broken;
      this.broken = broken;
      if (done) this.close();
      if (batch.length > 0) return batch;
      if (done) return undefined;
      exchange.waiting();
    }
  }

  /** A part of what came: a client that reads slowly has little of an answer in memory at a time. */
  private async slice(reader: BodyReader): Promise<{ done: boolean; value?: Uint8Array }> {
    if (this.rest.byteLength === 0) {
      const { done, value } = await reader.read();
      if (done || !value || value.byteLength <= SLICE_BYTES) {
        return value ? { done, value } : { done };
      }
      this.rest = value;
    }
    const value = this.rest.subarray(0, SLICE_BYTES);
    this.rest = this.rest.subarray(SLICE_BYTES);
    return { done: false, value };
  }

  /** The terminal event is out; what the connection still holds is read on the side. */
  private end(reader: BodyReader): undefined {
    this.over = true;
    void drain(this.exchange, reader);
  }

  /** The body was read to its end. */
  private close(): void {
    this.over = !this.broken;
    this.exchange.close();
  }

  /** Stops an upstream. A reader whose stream was aborted rejects even to be cancelled. */
  private async leave(): Promise<void> {
    this.over = true;
    this.exchange.close();
    await this.reader?.cancel().catch(() => undefined);
  }
}

const OVER: IteratorReturnResult<undefined> = { done: true, value: undefined };

/** Reads the end of the body, which mostly is there already: a cut connection is not used again. */
async function drain(exchange: EventExchange, reader: BodyReader): Promise<void> {
  const timer = setTimeout(() => exchange.close(), DRAIN_MS);
  try {
    while (!(await reader.read()).done);
    exchange.finished();
  } catch {
    // Too late, or reset: the answer was whole already.
  } finally {
    clearTimeout(timer);
    exchange.close();
  }
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

/** Turns bytes into the public events of a dialect, up to the terminal one or to what broke it. */
class EventBatches {
  private readonly decoder = new PieceDecoder();
  private readonly templates: DeltaTemplates;
  private batch: StreamEvent[] = [];
  private broken: unknown;

  private readonly parser = createParser({
    maxBufferSize: MAX_EVENT_CHARS,
    onEvent: (event) => {
      if (this.broken || this.dialect.ended()) return;
      try {
        const taken = this.templates.take(event);
        if (taken) this.batch.push(taken);
      } catch (error) {
        this.broken = error;
      }
    },
    onError: ({ type }) => {
      if (type !== 'max-buffer-size-exceeded') return;
      this.broken ??= new RetryableUpstreamError('malformed', 'an event without end');
    },
  });

  constructor(private readonly dialect: Dialect) {
    this.templates = new DeltaTemplates((event) => dialect.take(event));
  }

  feed(bytes: Uint8Array): { batch: StreamEvent[]; broken: unknown } {
    this.parser.feed(this.decoder.decode(bytes));
    return this.taken();
  }

  /** The bytes ended; the last event may lack its blank line. */
  end(): { batch: StreamEvent[]; broken: unknown } {
    this.parser.feed(`${this.decoder.end()}\n\n`);
    if (!this.broken && !this.dialect.ended()) {
      try {
        this.batch.push(...this.dialect.atEnd());
      } catch (error) {
        this.broken = error;
      }
    }
    return this.taken();
  }

  private taken(): { batch: StreamEvent[]; broken: unknown } {
    const { batch, broken } = this;
    this.batch = [];
    return { batch, broken };
  }
}

/** A line break can only stand between the tokens of JSON; in an event it would end the line. */
export function oneLine(json: string): string {
  return json.includes('\n') ? json.replaceAll('\n', ' ') : json;
}
