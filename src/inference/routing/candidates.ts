/**
 * What a call or a job may be sent over, in the order in which it is tried. First come those that take
 * an ordinary call. Those that decline it are tried again last, with an urgent call. A degraded or
 * recovering channel gives an urgent call a slot that it refuses to other calls.
 */
export class Candidates<Candidate> {
  /** The next one is the last of the list. */
  private readonly untried: Candidate[];
  private readonly declined: Candidate[] = [];

  /** `ordered` has the first one to try first. The list is used up. */
  constructor(ordered: Candidate[]) {
    this.untried = ordered.reverse();
  }

  /** Returns what `acquire` returns for the next candidate that takes the call; undefined if none is left. */
  next<Acquired extends object>(
    acquire: (candidate: Candidate, urgent: boolean) => Acquired | null,
  ): Acquired | undefined {
    for (let next = this.untried.pop(); next !== undefined; next = this.untried.pop()) {
      const acquired = acquire(next, false);
      if (acquired) return acquired;
      this.declined.push(next);
    }
    for (let next = this.declined.shift(); next !== undefined; next = this.declined.shift()) {
      const acquired = acquire(next, true);
      if (acquired) return acquired;
    }
    return undefined;
  }
}
