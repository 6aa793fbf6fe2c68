import type { Sql } from '../../../db/client.ts';
import { fold, summarizePages } from '../../../db/usage/roll-ups/fold.ts';
import type { Clock } from '../clock.ts';

/**
 * Answers do not wait for a fold: what it lacks is read from rows. A longer pause changes fewer sums
 * for each row, and lets answers read more rows.
 */
const PAUSE_MS = 750;
/**
 * A row waits at most for the fold that began before it, the pause, and its own fold. If folds take long, the pause
 * is shorter, so that the three take less than this. The rest of a second is for a fold that takes longer than the one
 * before. While many calls are settled, a shorter pause than needed would make them a twentieth slower.
 */
const MAX_LAG_MS = 900;

export interface UsageFolderDeps {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
}

/**
 * Adds new usage lines and records of calls to the sums of usage. Each replica runs one; while one
 * folds, the others do nothing.
 */
export class UsageFolder {
  private stopClock: () => void = () => undefined;
  private running: Promise<void> | undefined;
  private isStopped = false;

  constructor(private readonly deps: UsageFolderDeps) {}

  start(): void {
    this.schedule(PAUSE_MS);
  }

  /** Waits for the running fold, and starts no other one. */
  async stop(): Promise<void> {
    this.isStopped = true;
    this.stopClock();
    await this.running;
  }

  private schedule(delay_ms: number): void {
    if (this.isStopped) return;
    this.stopClock = this.deps.clock.after(delay_ms, () => {
      this.running = this.run()
        .catch((error) => {
          this.deps.onError(error);
          return PAUSE_MS;
        })
        .then((next_ms) => this.schedule(next_ms));
    });
  }

  /** Folds once. Returns the pause before the next fold, ms. */
  private async run(): Promise<number> {
    const { sql, clock } = this.deps;
    const began_at_ms = clock.now();
    const { folded, more } = await fold(sql);
    if (folded) await summarizePages(sql);
    return more ? 0 : pauseAfter(clock.now() - began_at_ms);
  }
}

/**
 * Returns the pause after a fold that took some time, ms. It is never shorter than the fold, so that folds of very
 * many rows leave time for calls.
 */
export function pauseAfter(took_ms: number): number {
  return Math.min(PAUSE_MS, Math.max(took_ms, MAX_LAG_MS - 2 * took_ms));
}
