import { topState } from './step.ts';

/** What made a machine get an event. */
export type Cause =
  /** A call; its request has the id `cause_id`. */
  | 'call'
  /** The submission of a task; `cause_id` is the task. */
  | 'job'
  /** A probe of Weir. */
  | 'probe'
  /** A message of another replica. */
  | 'replica'
  /** An operator, by an act on this actor. */
  | 'operator'
  /** Weir itself: the ledger's answer, a sweep, a setting or a switch. */
  | 'weir';

/** The member `by` of an event in a log that an operator caused. Machines do not read it. */
export const BY_OPERATOR = 'operator' satisfies Cause;

/** State and context of a machine. */
export interface RingState {
  readonly value: unknown;
  readonly context: object;
}

/** One event that changed an actor, and the actor after it. */
export interface RingEvent {
  /** The number of the event in the actor's life in this process, from 1. */
  readonly seq: number;
  /** Milliseconds since the Unix epoch. */
  readonly at_ms: number;
  readonly event: { readonly type: string };
  readonly after: RingState;
  readonly cause: Cause;
  /** UUID of the request, or id of the task. Undefined for other causes. */
  readonly cause_id: string | undefined;
}

/** An actor without a log keeps so many of its last events, unless a setting says otherwise. */
export const RING_EVENTS = 64;

/**
 * The last events of an actor that has no event log. An entry refers to the objects that the machine
 * made anyway. So keeping an event copies and serializes nothing.
 */
export class EventRing {
  private readonly kept: RingEvent[] = [];
  private before: RingState;
  private last_seq = 0;
  private top: string;
  private since: number;

  /** `limit` returns how many events are kept now; it may fall when there are many actors. */
  constructor(
    first: RingState,
    private readonly now: () => number,
    private readonly limit: () => number = () => RING_EVENTS,
  ) {
    this.before = first;
    this.top = topOf(first.value);
    this.since = now();
  }

  /** Keeps an event that changed the machine. */
  add(
    event: RingEvent['event'],
    after: RingState,
    cause: Cause = 'weir',
    cause_id: string | undefined = undefined,
  ): void {
    const at_ms = this.now();
    this.last_seq += 1;
    const { value, context } = after;
    this.kept.push({
      seq: this.last_seq,
      at_ms,
      event,
      after: { value, context },
      cause,
      cause_id,
    });
    const top = topOf(value);
    if (top !== this.top) {
      this.top = top;
      this.since = at_ms;
    }
    const surplus = this.kept.length - this.limit();
    if (surplus <= 0) return;
    this.before = this.kept[surplus - 1]?.after ?? this.before;
    this.kept.splice(0, surplus);
  }

  /**
   * Replaces the last kept event, because a later event of the same sum was added to it. Its number
   * stays.
   */
  replaceLast(event: RingEvent['event'], { value, context }: RingState): void {
    const last = this.kept.pop();
    if (!last) return;
    this.kept.push({ ...last, at_ms: this.now(), event, after: { value, context } });
  }

  /** The number of the last event. */
  get seq(): number {
    return this.last_seq;
  }

  /** When the actor entered the first part of its state, ms since the epoch. */
  get since_ms(): number {
    return this.since;
  }

  /** The kept events, the oldest first. */
  get events(): readonly RingEvent[] {
    return this.kept;
  }

  /** State and context before the oldest kept event. */
  get base(): RingState {
    return this.before;
  }
}

/** The first part of a state. */
function topOf(value: unknown): string {
  if (typeof value === 'string') return topState(value);
  for (const key in value as object) return key;
  return '';
}
