import type { Sql } from 'postgres';
import { findDueTimers } from '../../../db/actors/store.ts';
import type { Clock } from '../clock.ts';
import type { DurableActors } from './durable.ts';

const POLL_MS = 250;
/** Timers of one look; the rest is found by the next, which follows at once. */
const MAX_TIMERS_PER_LOOK = 256;

export interface TimersDeps {
  sql: Sql;
  clock: Clock;
  actors: DurableActors;
  replica_id: () => string;
  /** False while this replica's lease may have ended: nothing is fired then. */
  mayRun?: () => boolean;
  onError: (error: unknown) => void;
}

/**
 * Fires the delays that are rows (design 3). The look only finds; the transaction that applies the
 * event takes the timer out, so a timer fires once however often it is found.
 */
export class Timers {
  private stopClock: () => void = () => undefined;
  private looking: Promise<void> | undefined;
  private stopped = false;

  constructor(private readonly deps: TimersDeps) {}

  start(): void {
    this.stopped = false;
    this.schedule();
  }

  async stop(): Promise<void> {
    this.stopped = true;
    this.stopClock();
    await this.looking;
  }

  /** Fires everything that is due now; how many were found. */
  async poll(): Promise<number> {
    const { sql, actors, replica_id } = this.deps;
    if (this.deps.mayRun?.() === false) return 0;
    let found = 0;
    for (;;) {
      const due = await findDueTimers(sql, replica_id(), MAX_TIMERS_PER_LOOK);
      found += due.length;
      await Promise.all(
        due.map((timer) => {
          const event = timer.event as { type: string };
          return actors.send({ kind: timer.kind, id: timer.actor_id, event, timer });
        }),
      );
      if (due.length < MAX_TIMERS_PER_LOOK) return found;
    }
  }

  private schedule(): void {
    if (this.stopped) return;
    this.stopClock = this.deps.clock.after(POLL_MS, () => {
      this.looking = this.poll()
        .then(() => undefined, this.deps.onError)
        .finally(() => this.schedule());
    });
  }
}
