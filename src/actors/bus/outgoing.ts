import { envelopeText } from './envelope.ts';
import type { Messages, Topic } from './messages.ts';

/** The most bytes of messages that wait to be sent. Further messages are dropped. */
export const MAX_QUEUED_BYTES = 4_194_304;
/** In the text of an envelope, a comma separates two messages. */
const COMMA_BYTES = 1;

interface Queued {
  readonly topic: Topic;
  /** The pair of topic and message as JSON. */
  readonly text: string;
  readonly bytes: number;
}

/** An envelope to send. */
export interface OutgoingEnvelope {
  readonly text: string;
  /** The topics of its messages. If the envelope is lost, messages of these topics are lost. */
  readonly topics: readonly Topic[];
}

/**
 * The queue of messages to send. Puts them into numbered envelopes.
 *
 * An envelope gets its number when the sender takes it. No other envelope gets this number, so a
 * receiver notices if the envelope is lost. A receiver that just started does not know the earlier
 * numbers. So the next envelope also names the topics of the lost messages.
 */
export class Outgoing {
  private queue: Queued[] = [];
  private queuedBytes = 0;
  private readonly lostTopics = new Set<Topic>();
  private seq = 0;

  constructor(
    private readonly run: string,
    private readonly from: () => string,
    /** The longest text of an envelope, in bytes. */
    private readonly max_bytes: number,
  ) {}

  /** True if messages, or notes of lost messages, wait to be sent. */
  get isWaiting(): boolean {
    return this.queue.length > 0 || this.lostTopics.size > 0;
  }

  /**
   * Adds a message. If the message is too long for an envelope, or if the queue is full, the
   * message is dropped, and the next envelope reports the loss.
   */
  push<T extends Topic>(topic: T, message: Messages[T]): void {
    const text = JSON.stringify([topic, message]);
    const bytes = Buffer.byteLength(text);
    if (this.headBytes() + bytes > this.max_bytes) this.noteLost([topic]);
    else if (this.queuedBytes + bytes > MAX_QUEUED_BYTES) {
      // The skipped number shows receivers the loss, as if an envelope were lost on its way.
      this.seq += 1;
      this.noteLost([topic]);
    } else {
      this.queue.push({ topic, text, bytes });
      this.queuedBytes += bytes;
    }
  }

  /** Records that messages of these topics were lost. The next envelope reports this. */
  noteLost(topics: readonly Topic[]): void {
    for (const topic of topics) this.lostTopics.add(topic);
  }

  /**
   * Removes as many messages as fit from the queue and returns them in an envelope. If no message
   * waits, returns a heartbeat.
   */
  take(): OutgoingEnvelope {
    if (!this.isWaiting) return { text: this.envelope(this.seq), topics: [] };
    this.seq += 1;
    const topics = [...this.lostTopics];
    const texts = topics.map((topic) => JSON.stringify([topic, null]));
    this.lostTopics.clear();
    let bytes = this.headBytes() + Buffer.byteLength(texts.join(','));
    let taken = 0;
    for (const queued of this.queue) {
      bytes += queued.bytes + COMMA_BYTES;
      if (bytes > this.max_bytes && texts.length > 0) break;
      topics.push(queued.topic);
      texts.push(queued.text);
      this.queuedBytes -= queued.bytes;
      taken += 1;
    }
    this.queue = this.queue.slice(taken);
    return { text: this.envelope(this.seq, texts), topics };
  }

  /**
   * Returns the text of this replica's last envelope. The envelope tells receivers that the replica
   * stops, so its later silence is no gap.
   */
  farewell(): string {
    return envelopeText({ from: this.from(), run: this.run, seq: this.seq, last: true });
  }

  private envelope(seq: number, texts: readonly string[] = []): string {
    return envelopeText({ from: this.from(), run: this.run, seq }, texts);
  }

  /** The most bytes of an envelope without messages, whatever its number is. */
  private headBytes(): number {
    return Buffer.byteLength(this.envelope(Number.MAX_SAFE_INTEGER)) + COMMA_BYTES;
  }
}
