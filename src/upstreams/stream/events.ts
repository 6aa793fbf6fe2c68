import { RetryableUpstreamError, type StreamEvent } from '../contract.ts';
import { Deadline } from '../transport/deadlines.ts';
import type { Exchange } from '../transport/exchange.ts';
import type { BodyReader } from '../transport/http1/response.ts';
import { type Dialect, EventBatches } from './event-batches.ts';

/** Bytes that become events at once: a piece from the network may hold megabytes of them. */
const SLICE_BYTES = 32 * 1024;
/** After its last event a stream has this long to end, so that its connection can be used again. */
const DRAIN_MS = 1_000;

/** What reading events asks of an exchange. */
export type EventExchange = Pick<
  Exchange,
  | 'response'
  | 'startClock'
  | 'stopClock'
  | 'useStallTimeout'
  | 'markComplete'
  | 'close'
  | 'toUpstreamError'
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
  private rest: Uint8Array | undefined;
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
    const { exchange, reader } = this;
    try {
      if (!reader) throw new RetryableUpstreamError('malformed', 'a stream without a body');
      while (!this.over) {
        if (this.broken) throw this.broken;
        if (this.begun && this.dialect.ended()) {
          this.end(reader);
          break;
        }
        if (this.begun) exchange.startClock();
        const batch = this.take(this.rest ?? (await reader.read()).value);
        if (batch.length > 0) return { done: false, value: batch };
        exchange.startClock();
      }
    } catch (error) {
      await this.leave();
      throw exchange.toUpstreamError(error);
    }
    return OVER;
  }

  async return(): Promise<IteratorResult<StreamEvent[]>> {
    if (!this.over) await this.leave();
    return OVER;
  }

  /** The events in what came; without bytes the body has ended. */
  private take(bytes: Uint8Array | undefined): StreamEvent[] {
    const { exchange } = this;
    exchange.stopClock();
    if (!bytes) exchange.markComplete();
    const { batch, broken } = bytes ? this.events.feed(this.slice(bytes)) : this.events.end();
    if (broken && (!this.begun || batch.length === 0)) throw broken;
    this.broken = broken;
    if (!bytes) this.close();
    if (batch.length > 0 && !this.begun) {
      this.begun = true;
      exchange.useStallTimeout();
    }
    return batch;
  }

  /** A part of what came: a client that reads slowly has little of an answer in memory at a time. */
  private slice(bytes: Uint8Array): Uint8Array {
    this.rest = bytes.byteLength > SLICE_BYTES ? bytes.subarray(SLICE_BYTES) : undefined;
    return this.rest ? bytes.subarray(0, SLICE_BYTES) : bytes;
  }

  /** The terminal event is out; what the connection still holds is read on the side. */
  private end(reader: BodyReader): void {
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
  const deadline = new Deadline(DRAIN_MS, () => exchange.close());
  try {
    while (!(await reader.read()).done);
    exchange.markComplete();
  } catch {
    // Too late, or reset: the answer was whole already.
  } finally {
    deadline.cancel();
    exchange.close();
  }
}

/** A line break can only stand between the tokens of JSON; in an event it would end the line. */
export function oneLine(json: string): string {
  return json.includes('\n') ? json.replaceAll('\n', ' ') : json;
}
