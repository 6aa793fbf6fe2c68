import type { CallSignal } from '../contract.ts';

/**
 * The time between two checks, ms. Weir notices within this time that a deadline passed or that a
 * client left.
 */
const TICK_MS = 50;

/** A wait that is checked every 50 ms until it is over. */
export interface Watched {
  /**
   * Ends the wait if its deadline passed or its client left. `now` is `performance.now()`, ms.
   * Returns false if the wait is over; then the wait is not checked again. Must not throw.
   */
  check(now: number): boolean;
}

const watched = new Set<Watched>();
let ticker: Timer | undefined;

/**
 * Checks a wait every 50 ms until it is over. One timer serves all waits, because a timer and a
 * listener for each of thousands of calls would cost more.
 */
export function watch(wait: Watched): void {
  watched.add(wait);
  ticker ??= setInterval(tick, TICK_MS);
}

/**
 * Forgets a wait that is over before its next check. Otherwise it would keep its call in memory until then, and memory
 * that outlives a collection is collected late.
 */
export function unwatch(wait: Watched): void {
  watched.delete(wait);
}

function tick(): void {
  const now = performance.now();
  // A check may add another wait, which is checked the next time.
  for (const wait of [...watched]) if (!wait.check(now)) watched.delete(wait);
  if (watched.size > 0) return;
  clearInterval(ticker);
  ticker = undefined;
}

/** A wait for some work. Its check gives the work up with `reject`, which `whileWatched` sets. */
export abstract class WorkWait implements Watched {
  declare reject: (error: unknown) => void;

  abstract check(now: number): boolean;
}

/** Resolves or rejects like `work`, unless the wait rejects first. */
export function whileWatched<Result>(work: Promise<Result>, wait: WorkWait): Promise<Result> {
  return new Promise((resolve, reject) => {
    wait.reject = reject;
    watch(wait);
    // A third promise, for `finally`, would cost each request a little.
    work.then(
      (result) => {
        unwatch(wait);
        resolve(result);
      },
      (error) => {
        unwatch(wait);
        reject(error);
      },
    );
  });
}

/**
 * Resolves or rejects like `work`. If the signal is aborted first, rejects with the signal's
 * reason. In this case `work` continues, and its outcome is ignored.
 */
export function untilAborted<Result>(work: Promise<Result>, signal: CallSignal): Promise<Result> {
  if (Bun.peek.status(work) !== 'pending') return work;
  return whileWatched(work, new UntilAborted(signal));
}

class UntilAborted extends WorkWait {
  constructor(private readonly signal: CallSignal) {
    super();
  }

  check(): boolean {
    if (this.signal.aborted) this.reject(this.signal.reason);
    return !this.signal.aborted;
  }
}

/** A deadline that can be canceled. */
export class Deadline implements Watched {
  private readonly expires_at_ms: number;
  private isOver = false;

  /**
   * `onExpire` is called once, after `timeout_ms`. If the deadline is canceled, it is not called.
   */
  constructor(
    timeout_ms: number,
    private readonly onExpire: () => void,
  ) {
    this.expires_at_ms = performance.now() + timeout_ms;
    watch(this);
  }

  cancel(): void {
    this.isOver = true;
    unwatch(this);
  }

  check(now: number): boolean {
    if (!this.isOver && now >= this.expires_at_ms) {
      this.isOver = true;
      this.onExpire();
    }
    return !this.isOver;
  }
}
