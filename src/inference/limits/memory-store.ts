import {
  add,
  correct,
  newWindow,
  type SlidingWindow,
  slotOf,
  waitFor,
} from '../../machines/sliding-window.ts';
import {
  amountOf,
  type Exceeded,
  type LimitStore,
  type Take,
  type Taken,
  type Taking,
} from './limit.ts';

/** How long a call waits for another one to end is not known. */
const CALL_WAIT_MS = 1_000;
/** From so many counters on, those that nobody used in the last minute are forgotten, at most once in `FORGET_MS`. */
const MANY_COUNTERS = 100_000;
const FORGET_MS = 10_000;

/** What was taken of one limit. */
interface Counter {
  readonly window: SlidingWindow;
  /** The calls at the same time. */
  running: number;
}

/** A list of takes, each with its counter. */
interface Counted {
  /** How often counters had been forgotten when these were found. One of them may be forgotten since. */
  readonly as_of: number;
  readonly list: readonly { readonly take: Take; readonly counter: Counter }[];
}

/** Counts the calls of this replica, which may use a share of each limit. */
export class MemoryStore implements LimitStore {
  private readonly counters = new Map<string, Counter>();
  /** Calls find their counters here: to find each of them by its name cost more than to count. */
  private readonly known = new WeakMap<readonly Take[], Counted>();
  private forgettings = 0;
  private forgot_at_ms = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly now: () => number,
    /** Returns the part of a limit that this replica may use. */
    private readonly shareOf: (limit: number) => number,
  ) {}

  take({ takes, tokens }: Taking): Taken | Exceeded {
    const now_ms = this.now();
    const counted = this.countedOf(takes);
    let exceeded: Exceeded[] | undefined;
    for (const { take, counter } of counted) {
      const amount = amountOf(take, tokens);
      const wait_ms = this.waitOf(take, counter, amount, now_ms);
      if (wait_ms <= 0) continue;
      if (!take.is_soft) return { take, amount, wait_ms };
      exceeded ??= [];
      exceeded.push({ take, amount, wait_ms });
    }
    const slot = slotOf(now_ms);
    for (const { take, counter } of counted) {
      if (take.unit === 'calls') counter.running += 1;
      else add(counter.window, amountOf(take, tokens), now_ms);
    }
    return exceeded ? { slot, exceeded } : { slot };
  }

  end({ takes, tokens }: Taking, { slot }: Taken, used: number): void {
    for (const { take, counter } of this.countedOf(takes)) {
      if (take.unit === 'tokens') correct(counter.window, slot, used - tokens);
      if (take.unit === 'calls') counter.running -= 1;
    }
  }

  private waitOf({ unit, limit }: Take, counter: Counter, amount: number, now_ms: number): number {
    const share = this.shareOf(limit);
    if (unit === 'calls') return counter.running < share ? 0 : CALL_WAIT_MS;
    const wait_ms = waitFor(counter.window, { amount, limit: share, now_ms });
    // A share may grow when another replica stops.
    return Number.isFinite(wait_ms) || amount > limit ? wait_ms : CALL_WAIT_MS;
  }

  private countedOf(takes: readonly Take[]): Counted['list'] {
    const known = this.known.get(takes);
    if (known?.as_of === this.forgettings) return known.list;
    if (this.counters.size >= MANY_COUNTERS) this.forgetOld();
    const list = takes.map((take) => ({ take, counter: this.counterOf(take.name) }));
    this.known.set(takes, { as_of: this.forgettings, list });
    return list;
  }

  private counterOf(name: string): Counter {
    const existing = this.counters.get(name);
    if (existing) return existing;
    const counter = { window: newWindow(), running: 0 };
    this.counters.set(name, counter);
    return counter;
  }

  /** Forgets counters that count nothing. A call that runs keeps its counters of calls. */
  private forgetOld(): void {
    const now_ms = this.now();
    if (now_ms - this.forgot_at_ms < FORGET_MS) return;
    this.forgot_at_ms = now_ms;
    this.forgettings += 1;
    for (const [name, { window, running }] of this.counters) {
      waitFor(window, { amount: 0, limit: Number.POSITIVE_INFINITY, now_ms });
      if (running === 0 && window.slots.size === 0) this.counters.delete(name);
    }
  }
}
