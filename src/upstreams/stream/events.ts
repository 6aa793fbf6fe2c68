import { RetryableUpstreamError, type StreamEvent } from '../contract.ts';
import { Deadline } from '../transport/deadlines.ts';
import type { Exchange } from '../transport/exchange.ts';
import type { BodyReader } from '../transport/http.ts';
import { oneByOne } from '../transport/turns.ts';
import {
  EventBatches,
  type FeedResult,
  MAX_EVENT_CHARS,
  type StreamProtocol,
} from './event-batches.ts';

/**
 * The most bytes that are turned into events at once. One read from the network may return
 * megabytes.
 */
const SLICE_BYTES = 32 * 1024;
/** The same while only comments arrive. Comments are cheap to send, so a flood of them must be too. */
const SILENT_SLICE_BYTES = 8 * 1024;
/**
 * The most bytes without an event that the client may see, e.g. comments. It is more than the longest
 * event. An upstream that sends more is broken.
 */
const MAX_SILENT_BYTES = 2 * MAX_EVENT_CHARS;
/**
 * Longest wait for the end of the body after the last event, ms. A connection can be used again
 * only after the complete body.
 */
const DRAIN_MS = 1_000;
/** The most bytes after the last event. If there are more, the connection is closed instead. */
const MAX_DRAIN_BYTES = 256 * 1024;

/** The members of an exchange that `readEvents` uses. */
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
 * Reads a stream of server-sent events. A batch holds the events of one read from the network.
 * Bytes may be cut anywhere, even inside a character. If the consumer leaves the loop early, the
 * request is aborted, so that the upstream stops.
 *
 * If the stream breaks, the events before the break are returned first. But if no batch was
 * returned before, these events are dropped, so that another channel can serve the call from its
 * start (P7).
 */
export function readEvents(
  exchange: EventExchange,
  protocol: StreamProtocol,
): AsyncIterable<StreamEvent[]> {
  return new EventIterator(exchange, protocol);
}

/**
 * An iterator over the batches. It is not a generator, because a generator costs every stream
 * several turns of the event loop.
 */
class EventIterator implements AsyncIterableIterator<StreamEvent[]> {
  private readonly reader: BodyReader | undefined;
  private readonly events: EventBatches;
  private hasStarted = false;
  private isDone = false;
  /** Received bytes that were not turned into events yet. */
  private unread: Uint8Array | undefined;
  /** The bytes since the last batch with events. */
  private silent_bytes = 0;
  /** The error that the next call of `next` throws. The events before the error are returned. */
  private pendingError: unknown;

  constructor(
    private readonly exchange: EventExchange,
    private readonly protocol: StreamProtocol,
  ) {
    this.reader = exchange.response.body?.getReader();
    this.events = new EventBatches(protocol);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<StreamEvent[]>> {
    const { exchange, reader } = this;
    try {
      if (!reader) throw new RetryableUpstreamError('malformed', 'the stream has no body');
      while (!this.isDone) {
        if (this.pendingError) throw this.pendingError;
        if (this.hasStarted && this.protocol.hasEnded()) {
          this.finish(reader);
          break;
        }
        // Many fast streams, or a flood of comments, must not stop other calls (P20). This wait does
        // not count as the upstream's time.
        if (this.unread || this.silent_bytes > SLICE_BYTES) await oneByOne();
        if (this.hasStarted || this.silent_bytes > 0) exchange.startClock();
        const batch = this.readBatch(this.unread ?? (await reader.read()).value);
        if (batch.length > 0) return { done: false, value: batch };
      }
    } catch (error) {
      await this.stop();
      throw exchange.toUpstreamError(error);
    }
    return END_OF_ITERATION;
  }

  async return(): Promise<IteratorResult<StreamEvent[]>> {
    if (!this.isDone) await this.stop();
    return END_OF_ITERATION;
  }

  /** Returns the events in these bytes. If `bytes` is undefined, the body has ended. */
  private readBatch(bytes: Uint8Array | undefined): StreamEvent[] {
    const { exchange } = this;
    exchange.stopClock();
    if (!bytes) exchange.markComplete();
    const { batch, error } = bytes ? this.feed(this.slice(bytes)) : this.events.end();
    if (error && (!this.hasStarted || batch.length === 0)) throw error;
    this.pendingError = error;
    if (!bytes) this.onBodyEnd();
    if (batch.length > 0 && !this.hasStarted) {
      this.hasStarted = true;
      exchange.useStallTimeout();
    }
    return batch;
  }

  /** Returns the events in these bytes. Throws if too many bytes had no events. */
  private feed(bytes: Uint8Array): FeedResult {
    const result = this.events.feed(bytes);
    this.silent_bytes = result.batch.length > 0 ? 0 : this.silent_bytes + bytes.byteLength;
    if (this.silent_bytes <= MAX_SILENT_BYTES) return result;
    throw new RetryableUpstreamError('malformed', 'the stream has too many bytes without an event');
  }

  /**
   * Returns the first bytes and keeps the remaining bytes in `unread`. Events need more memory than
   * bytes. So while a slow client reads, only a few bytes are in memory as events.
   */
  private slice(bytes: Uint8Array): Uint8Array {
    const most_bytes = this.silent_bytes > SLICE_BYTES ? SILENT_SLICE_BYTES : SLICE_BYTES;
    this.unread = bytes.byteLength > most_bytes ? bytes.subarray(most_bytes) : undefined;
    return this.unread ? bytes.subarray(0, most_bytes) : bytes;
  }

  /**
   * Ends the iteration after the terminal event. The rest of the body is read in the background.
   */
  private finish(reader: BodyReader): void {
    this.isDone = true;
    void drain(this.exchange, reader);
  }

  /**
   * Closes the exchange after the end of the body. If an error is pending, `next` throws it later.
   */
  private onBodyEnd(): void {
    this.isDone = !this.pendingError;
    this.exchange.close();
  }

  /**
   * Aborts the request, so that the upstream stops. Canceling the reader of an aborted stream
   * rejects; this rejection is ignored.
   */
  private async stop(): Promise<void> {
    this.isDone = true;
    this.exchange.close();
    await this.reader?.cancel().catch(() => undefined);
  }
}

const END_OF_ITERATION: IteratorReturnResult<undefined> = { done: true, value: undefined };

/** Reads the body to its end, because a connection is used again only after a complete answer. */
async function drain(exchange: EventExchange, reader: BodyReader): Promise<void> {
  const deadline = new Deadline(DRAIN_MS, () => exchange.close());
  try {
    for (let bytes = 0; bytes <= MAX_DRAIN_BYTES; ) {
      const { done, value } = await reader.read();
      if (done) {
        exchange.markComplete();
        return;
      }
      bytes += value.byteLength;
    }
  } catch {
    // The deadline passed or the connection was reset. The answer was complete before that.
  } finally {
    deadline.cancel();
    exchange.close();
  }
}

/**
 * Replaces the line breaks of a JSON text with spaces, because a line break ends an event's `data`
 * line. Valid JSON has line breaks only between its tokens.
 */
export function withoutLineBreaks(json: string): string {
  return json.includes('\n') ? json.replaceAll('\n', ' ') : json;
}
