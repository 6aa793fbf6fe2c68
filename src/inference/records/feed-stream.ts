import type { AsOf } from '../../../db/usage/as-of.ts';
import type { UsageChange } from '../../../db/usage/changes.ts';
import type { MoneyState } from '../../../db/usage/state.ts';

/** A stream whose client is this many changes behind is closed; the client resumes by id. */
const MAX_BEHIND = 20;

/** How many calls run on all replicas, and the money that they hold. */
export interface InFlight {
  readonly total: number;
  readonly held_nano_usd: number;
  /** Replicas that did not answer, so their calls are missing. */
  readonly silent_replicas: number;
}

/** A change with the state after it, by which a client resumes. All streams that get it share the object. */
export interface FedChange extends UsageChange {
  readonly as_of: AsOf;
  /** The balance and the keys that changed. A stream begins with the balance and all keys. */
  readonly money?: MoneyState | undefined;
  /** The running calls, if their number or their money changed. */
  readonly in_flight?: InFlight | undefined;
}

/** The changes that wait for one client. */
export class FeedStream {
  /** True once the client has the whole state of the money, so that later changes are enough. */
  hasMoney = false;
  private readonly waiting: FedChange[] = [];
  private wake: () => void = () => undefined;
  private hasEnded = false;

  constructor(
    /** The client knows everything up to here. */
    public knows: AsOf,
    private readonly onClosed: () => void,
  ) {}

  /** Adds what happened since `knows`. */
  push(change: FedChange): void {
    this.knows = change.as_of;
    if (change.money) this.hasMoney = true;
    const { counts, tasks, money, in_flight } = change;
    if (counts.length === 0 && tasks.length === 0 && !money && !in_flight) return;
    if (this.waiting.length >= MAX_BEHIND) this.end();
    else this.waiting.push(change);
    this.wake();
  }

  /** Returns the next change; undefined if none came within `wait_ms`, null if the stream ended. */
  async next(wait_ms: number): Promise<FedChange | undefined | null> {
    if (this.waiting.length === 0 && !this.hasEnded) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.wake = resolve;
      const timer = setTimeout(resolve, wait_ms);
      await promise;
      clearTimeout(timer);
    }
    return this.waiting.shift() ?? (this.hasEnded ? null : undefined);
  }

  end(): void {
    this.hasEnded = true;
    this.wake();
  }

  close(): void {
    this.end();
    this.onClosed();
  }
}
