import { RetryableUpstreamError, type StreamEvent } from '../contract.ts';
import { Deadline } from '../transport/deadlines.ts';
import type { Exchange } from '../transport/exchange.ts';
import type { BodyReader } from '../transport/http.ts';
import { EventBatches, type StreamProtocol } from './event-batches.ts';

/**
 * The most bytes that are turned into events at once. One read from the network may return
 * megabytes.
 */
const SLICE_BYTES = 32 * 1024;
/**
 * Longest wait for a stream's end after its last event, ms. Only a complete stream frees its
 * connection.
 */
const DRAIN_MS = 1_000;

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
 * Bytes may be cut anywhere, also inside a character. Leaving the loop early stops the upstream.
 *
 * If the stream breaks, the events before the break are returned first. If no batch was returned
 * yet, these events are dropped. Another channel may then serve the call from its start (P7).
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
  /** The error to throw after the batch that was returned last. */
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
        if (this.hasStarted) exchange.startClock();
        const batch = this.readBatch(this.unread ?? (await reader.read()).value);
        if (batch.length > 0) return { done: false, value: batch };
        exchange.startClock();
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
    const { batch, error } = bytes ? this.events.feed(this.slice(bytes)) : this.events.end();
    if (error && (!this.hasStarted || batch.length === 0)) throw error;
    this.pendingError = error;
    if (!bytes) this.onBodyEnd();
    if (batch.length > 0 && !this.hasStarted) {
      this.hasStarted = true;
      exchange.useStallTimeout();
    }
    return batch;
  }

  /**
   * Returns the first bytes and keeps the others in `unread`. So only a small number of bytes becomes
   * events in memory before a slow client reads them.
   */
  private slice(bytes: Uint8Array): Uint8Array {
    this.unread = bytes.byteLength > SLICE_BYTES ? bytes.subarray(SLICE_BYTES) : undefined;
    return this.unread ? bytes.subarray(0, SLICE_BYTES) : bytes;
  }

  /**
   * Ends the iteration after the terminal event. The rest of the body is read in the background.
   */
  private finish(reader: BodyReader): void {
    this.isDone = true;
    void drain(this.exchange, reader);
  }

  /** Closes the exchange after the end of the body. A pending error is still thrown. */
  private onBodyEnd(): void {
    this.isDone = !this.pendingError;
    this.exchange.close();
  }

  /**
   * Stops the upstream. Canceling the reader of an aborted stream rejects. This rejection is
   * ignored.
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
    while (!(await reader.read()).done);
    exchange.markComplete();
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
