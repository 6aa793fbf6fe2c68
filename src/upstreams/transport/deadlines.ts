/** How late a deadline that passed, or a client that left, may be noticed, ms. */
const TICK_MS = 50;

/** Something that somebody waits for, but not for ever. */
export interface Watched {
  /**
   * Looks whether the wait is over, and ends it where nobody waits any more or for too long. `now` is
   * ms of `performance.now()`. False = it need not be looked at again. Must not throw.
   */
  check(now: number): boolean;
}

let watched: Watched[] = [];
let ticker: Timer | undefined;

/**
 * Looks at something now and then until it is over. One timer serves all of them, and nothing has to
 * be taken back: a timer and a listener for each of thousands of calls that will be in time cost more.
 */
export function watch(awaited: Watched): void {
  watched.push(awaited);
  ticker ??= setInterval(tick, TICK_MS);
}

function tick(): void {
  const now = performance.now();
  const looked = watched;
  // Who is looked at may watch something else.
  watched = [];
  for (const awaited of looked) if (awaited.check(now)) watched.push(awaited);
  if (watched.length > 0) return;
  clearInterval(ticker);
  ticker = undefined;
}

/** A deadline that somebody may be done with before it passes. */
export class Deadline implements Watched {
  private readonly at_ms: number;
  private isMet = false;

  /** `late` is called once, `patience_ms` from now, unless it is met before. */
  constructor(
    patience_ms: number,
    private readonly late: () => void,
  ) {
    this.at_ms = performance.now() + patience_ms;
    watch(this);
  }

  cancel(): void {
    this.isMet = true;
  }

  check(now: number): boolean {
    if (!this.isMet && now >= this.at_ms) {
      this.isMet = true;
      this.late();
    }
    return !this.isMet;
  }
}
