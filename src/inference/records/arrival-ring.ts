import type { CallRecord } from './call-record.ts';

/** The latest calls that a replica remembers, so that a page that opens a moment later shows them. */
const SLOTS = 64;

/** The parts of a running request that a slot reads. `record` appears when the key is known. */
interface RunningRequest {
  readonly request: Pick<Request, 'method' | 'url'>;
  readonly record?: CallRecord | undefined;
}

/** What a refused request without a valid key says of itself. */
export interface Stranger {
  /** The start of the key that was sent; null if none was. */
  readonly key_prefix: string | null;
  /** The path that was sent. */
  readonly path: string;
  readonly program: string;
}

/**
 * One call that arrived. The slots are made once and are used again and again: to note a call makes no
 * object, because nobody may ever look.
 */
export class ArrivalSlot {
  /** UUID of the request; '' = the slot was never used. */
  uuid = '';
  /** The path of the route; '' if no route matched. */
  path = '';
  method = '';
  /** Values of `performance.now()`, ms. `ended_ms` is set when the response is ready. */
  arrived_ms = 0;
  ended_ms: number | undefined;
  status = 0;
  /** Set until the response is ready. */
  running: RunningRequest | undefined;
  record: CallRecord | undefined;
  error: unknown;
  stranger: Stranger | undefined;
  /** What was last sent of the call; '' = nothing. */
  sent = '';
  /** When that was, ms since the Unix epoch. */
  changed_at_ms = 0;

  /** Notes the response of the call, or its error, unless the slot has another call by now. */
  end(
    uuid: string,
    record: CallRecord | undefined,
    status: number,
    error: unknown,
    stranger: Stranger | undefined,
  ): void {
    if (this.uuid !== uuid) return;
    this.running = undefined;
    this.ended_ms = record?.ended_ms ?? performance.now();
    this.record = record;
    this.status = status;
    this.error = error;
    this.stranger = stranger;
  }
}

/** The latest calls of this replica, in a ring that never grows. */
export class ArrivalRing {
  private readonly slots = Array.from({ length: SLOTS }, () => new ArrivalSlot());
  /** How many calls were noted since the start. */
  noted = 0;

  /** Notes a call that arrives, in the slot of the oldest one. */
  begin(uuid: string, path: string, arrived_ms: number, running: RunningRequest): ArrivalSlot {
    const slot = this.slots[this.noted % SLOTS] as ArrivalSlot;
    this.noted += 1;
    slot.uuid = uuid;
    slot.path = path;
    slot.method = running.request.method;
    slot.arrived_ms = arrived_ms;
    slot.ended_ms = undefined;
    slot.status = 0;
    slot.running = running;
    slot.record = undefined;
    slot.error = undefined;
    slot.stranger = undefined;
    slot.sent = '';
    return slot;
  }

  /** Returns the noted calls, the oldest first. */
  all(): ArrivalSlot[] {
    const start = this.noted % SLOTS;
    const inOrder = [...this.slots.slice(start), ...this.slots.slice(0, start)];
    return inOrder.filter(({ uuid }) => uuid !== '');
  }

  /** How many of the calls that were noted after `noted` are no longer in the ring. */
  lostSince(noted: number): number {
    return Math.max(0, this.noted - noted - SLOTS);
  }
}
