import type { Clock } from '../../actors/clock.ts';

/** A replica that lives, or that lived a short time ago. */
interface SeenReplica {
  readonly id: string;
  /** How long ago it registered, ms. */
  readonly age_ms: number;
}

interface SharesDeps {
  readonly clock: Clock;
  readonly replica_id: () => string;
  /** Returns the replicas whose lease ended at most `ago_ms` ago, or did not end, in the order of their ids. */
  readonly readReplicas: (ago_ms: number) => Promise<readonly SeenReplica[]>;
  /** True if no other process uses the database. */
  readonly exclusive: boolean;
  readonly onError: (error: unknown) => void;
}

const READ_MS = 2_000;
/** After this time without an answer of the database, nothing is shared out. */
const MAX_AGE_MS = 10_000;
/**
 * What a replica took counts for a minute, and other replicas see a new one after a read. A replica that joins
 * others takes nothing before, and a replica that left counts until then.
 */
export const SETTLE_MS = 61_000 + MAX_AGE_MS;

/**
 * The part of each limit that this replica may use while replicas do not share counters. All replicas divide by
 * the number of those that took calls in the last minute. So together they never exceed a limit, also while
 * replicas start and die. Nothing is read before the first call with a limit.
 */
export class Shares {
  private replicas: readonly SeenReplica[] = [];
  private read_at_ms = Number.NEGATIVE_INFINITY;
  private reading: Promise<void> | undefined;
  private stopClock: () => void = () => undefined;
  private isStopped = false;

  constructor(private readonly deps: SharesDeps) {}

  /** Resolves when the shares are known. Returns undefined if they are. */
  ready(): Promise<void> | undefined {
    if (this.isFresh || this.deps.exclusive) return undefined;
    this.reading ??= this.read().finally(() => {
      this.reading = undefined;
    });
    return this.reading;
  }

  /** Returns the part of a limit that this replica may use: a whole number, 0 if it must wait. */
  of(limit: number): number {
    if (this.deps.exclusive) return limit;
    if (!this.isFresh) return 0;
    const at = this.replicas.findIndex(({ id }) => id === this.deps.replica_id());
    const own = this.replicas[at];
    const count = this.replicas.length;
    if (!own || (count > 1 && this.joinedLate(own))) return 0;
    return Math.floor(limit / count) + (at < limit % count ? 1 : 0);
  }

  stop(): void {
    this.isStopped = true;
    this.stopClock();
  }

  /** True if the replica is new, and another one was there before it. */
  private joinedLate(own: SeenReplica): boolean {
    const age_ms = own.age_ms + (this.deps.clock.now() - this.read_at_ms);
    const wasFirst = this.replicas.every(
      ({ id, age_ms: other }) => id === own.id || other < own.age_ms,
    );
    return age_ms < SETTLE_MS && !wasFirst;
  }

  private get isFresh(): boolean {
    return this.deps.clock.now() - this.read_at_ms < MAX_AGE_MS;
  }

  private async read(): Promise<void> {
    this.stopClock();
    try {
      const began_at_ms = this.deps.clock.now();
      this.replicas = await this.deps.readReplicas(SETTLE_MS);
      this.read_at_ms = began_at_ms;
    } catch (error) {
      this.deps.onError(error);
    }
    if (this.isStopped) return;
    this.stopClock = this.deps.clock.after(READ_MS, () => void this.read());
  }
}
