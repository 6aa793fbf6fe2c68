import type { Outcome } from './books.ts';

/** A piece of the response body, e.g. one event, and how many tokens of the answer are in it. */
export interface Emission {
  text: string;
  tokens: number;
}

/** How a stream ends early. With `error`, an error event is written first. */
export type EarlyEnd = 'reset' | 'clean' | 'error' | 'stall';

export interface StreamPlan {
  /** Milliseconds before every event except the first. */
  pause_ms: number;
  /** Size of the pieces in which bytes are written; 0 for whole events. */
  split_bytes: number;
  comments: boolean;
  /** True if the JSON of the second event is broken. */
  malformed: boolean;
  early_end: { after_events: number; how: EarlyEnd; error_event: string } | undefined;
}

export const NO_FAULTS: StreamPlan = {
  pause_ms: 0,
  split_bytes: 0,
  comments: false,
  malformed: false,
  early_end: undefined,
};

/** Events are sent together in batches up to this size. */
const BATCH_CHARS = 16_384;
/** If the plan breaks an event, only this share of its text is written, 0 to 1. */
const BROKEN_PART = 0.6;
/**
 * The pause between two pieces. Without this pause, the reader would receive several pieces as one.
 */
const BETWEEN_PIECES_MS = 1;
/** Wait before a reset, because a reset discards bytes that are not yet sent. */
const BEFORE_RESET_MS = 20;

const encoder = new TextEncoder();

/**
 * Streams an answer as fast as its reader reads. An event is created only when the stream has room
 * for it. So even with a slow reader, only one batch is in memory.
 *
 * @param ended called once, with the kind of end and the tokens written until then.
 */
export function eventStream(
  source: Iterator<Emission>,
  plan: StreamPlan,
  ended: (outcome: Outcome, written_tokens: number) => void,
): ReadableStream<Uint8Array> {
  return new ReadableStream(new EventWriter(source, plan, ended), { highWaterMark: 0 });
}

type Ending = 'whole' | EarlyEnd;
type Controller = ReadableStreamDefaultController<Uint8Array>;

class EventWriter {
  #events = 0;
  #batches = 0;
  #tokens = 0;
  #ending: Ending | undefined;
  #left = false;
  #upcoming: Emission | undefined;
  /** The unwritten bytes of a batch that is written in pieces. */
  #rest: Uint8Array = new Uint8Array();

  constructor(
    readonly source: Iterator<Emission>,
    readonly plan: StreamPlan,
    readonly ended: (outcome: Outcome, written_tokens: number) => void,
  ) {}

  pull(controller: Controller): void | Promise<void> {
    if (this.#ending !== undefined && this.#rest.length === 0) return this.#end(controller);
    if (this.plan.split_bytes > 0) return this.#pullPiece(controller);
    if (this.plan.pause_ms > 0 && this.#events > 0) return this.#pullLater(controller);
    return this.#pullBatch(controller);
  }

  /** Called when the reader disconnects. */
  cancel(): void {
    this.#left = true;
    this.ended('aborted', this.#tokens);
  }

  #pullBatch(controller: Controller): void | Promise<void> {
    const text = this.#gather();
    if (text !== '') controller.enqueue(encoder.encode(text));
    // The stream ends at the next pull, which shows that the reader took this batch. Only an
    // answer of a single batch ends at once, so that it is sent in one write.
    const short = this.#ending === 'whole' && this.#batches === 1;
    if (this.#ending !== undefined && (short || text === '')) return this.#end(controller);
  }

  async #pullLater(controller: Controller): Promise<void> {
    await Bun.sleep(this.plan.pause_ms);
    if (!this.#left) await this.#pullBatch(controller);
  }

  async #pullPiece(controller: Controller): Promise<void> {
    if (this.#rest.length === 0) {
      if (this.plan.pause_ms > 0 && this.#events > 0) await Bun.sleep(this.plan.pause_ms);
      this.#rest = encoder.encode(this.#gather());
    }
    await Bun.sleep(BETWEEN_PIECES_MS);
    if (this.#left) return;
    if (this.#rest.length === 0) return this.#end(controller);
    controller.enqueue(this.#rest.slice(0, this.plan.split_bytes));
    this.#rest = this.#rest.subarray(this.plan.split_bytes);
  }

  /**
   * Returns the next events: one event if the stream has pauses, else a batch. Sets `#ending` when
   * no event is left or an early end is due.
   */
  #gather(): string {
    this.#batches += 1;
    const { early_end, pause_ms } = this.plan;
    let text = '';
    do {
      if (early_end !== undefined && this.#events >= early_end.after_events) {
        this.#ending = early_end.how;
        return early_end.how === 'error' ? text + early_end.error_event : text;
      }
      const event = this.#next();
      if (event === undefined) break;
      text += this.#dressed(event.text);
      this.#tokens += event.tokens;
      this.#events += 1;
    } while (pause_ms === 0 && text.length < BATCH_CHARS);
    // The next event is read ahead, so that no pause follows the last event.
    this.#upcoming = this.#next();
    if (this.#upcoming === undefined) this.#ending = 'whole';
    return text;
  }

  #next(): Emission | undefined {
    const upcoming = this.#upcoming;
    this.#upcoming = undefined;
    if (upcoming !== undefined) return upcoming;
    const { done, value } = this.source.next();
    return done ? undefined : value;
  }

  #dressed(event: string): string {
    const { malformed, comments } = this.plan;
    if (malformed && this.#events === 1) {
      return `${event.slice(0, Math.floor(event.length * BROKEN_PART))}\n\n`;
    }
    return comments && this.#events > 0 ? `: keep-alive\n\n${event}` : event;
  }

  #end(controller: Controller): void | Promise<void> {
    switch (this.#ending) {
      case 'whole':
        controller.close();
        return this.ended(this.plan.malformed ? 'truncated' : 'whole', this.#tokens);
      case 'clean':
      case 'error':
        controller.close();
        return this.ended('truncated', this.#tokens);
      case 'reset':
        return this.#reset(controller);
      default:
        // The stream gets no more data and no end. So the reader waits until its own time limit.
        return undefined;
    }
  }

  async #reset(controller: Controller): Promise<void> {
    await Bun.sleep(BEFORE_RESET_MS);
    if (this.#left) return;
    this.ended('truncated', this.#tokens);
    controller.error(undefined);
  }
}
