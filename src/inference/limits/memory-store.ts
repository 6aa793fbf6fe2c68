import {
  add,
  correct,
  newWindow,
  type SlidingWindow,
  slotOf,
  waitFor,
} from '../../machines/sliding-window.ts';
import type { Exceeded, LimitStore, Take, Taken } from './limit.ts';

/** How long a call waits for another one to end is not known. */
const CALL_WAIT_MS = 1_000;
/** From so many counters on, those that nobody used in the last minute are forgotten, at most once in `FORGET_MS`. */
const MANY_COUNTERS = 100_000;
const FORGET_MS = 10_000;

/** Counts the calls of this replica, which may use a share of each limit. */
export class MemoryStore implements LimitStore {
  private readonly windows = new Map<string, SlidingWindow>();
  private readonly running = new Map<string, number>();
  private forgot_at_ms = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly now: () => number,
    /** Returns the part of a limit that this replica may use. */
    private readonly shareOf: (limit: number) => number,
  ) {}

  take(takes: readonly Take[]): Taken | Exceeded {
    const now_ms = this.now();
    let exceeded: Exceeded[] | undefined;
    for (const take of takes) {
      const wait_ms = this.waitOf(take, this.shareOf(take.limit), now_ms);
      if (wait_ms <= 0) continue;
      if (!take.is_soft) return { take, wait_ms };
      exceeded ??= [];
      exceeded.push({ take, wait_ms });
    }
    const slot = slotOf(now_ms);
    for (const { name, unit, amount } of takes) {
      if (unit === 'calls') this.running.set(name, (this.running.get(name) ?? 0) + 1);
      else add(this.windowOf(name), amount, now_ms);
    }
    return exceeded ? { slot, exceeded } : { slot };
  }

  end(takes: readonly Take[], _call_id: string, { slot }: Taken, used: number): void {
    for (const { name, unit, amount } of takes) {
      if (unit === 'tokens') correct(this.windowOf(name), slot, used - amount);
      if (unit === 'calls') {
        const left = (this.running.get(name) ?? 0) - 1;
        if (left > 0) this.running.set(name, left);
        else this.running.delete(name);
      }
    }
  }

  private waitOf({ name, unit, amount, limit }: Take, share: number, now_ms: number): number {
    if (unit === 'calls') return (this.running.get(name) ?? 0) < share ? 0 : CALL_WAIT_MS;
    const wait_ms = waitFor(this.windowOf(name), { amount, limit: share, now_ms });
    // A share may grow when another replica stops.
    return Number.isFinite(wait_ms) || amount > limit ? wait_ms : CALL_WAIT_MS;
  }

  private windowOf(name: string): SlidingWindow {
    const existing = this.windows.get(name);
    if (existing) return existing;
    if (this.windows.size >= MANY_COUNTERS) this.forgetOld();
    const window = newWindow();
    this.windows.set(name, window);
    return window;
  }

  private forgetOld(): void {
    const now_ms = this.now();
    if (now_ms - this.forgot_at_ms < FORGET_MS) return;
    this.forgot_at_ms = now_ms;
    for (const [name, window] of this.windows) {
      waitFor(window, { amount: 0, limit: Number.POSITIVE_INFINITY, now_ms });
      if (window.slots.size === 0) this.windows.delete(name);
    }
  }
}
