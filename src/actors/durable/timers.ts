import type { Sql } from 'postgres';
import { findDueTimers } from '../../../db/actors/store.ts';
import type { Clock } from '../clock.ts';
import type { DurableActors } from './durable.ts';

const POLL_MS = 250;
/** The most timers that one query finds. If more timers are due, another query follows at once. */
const MAX_TIMERS_PER_POLL = 512;

export interface TimersDeps {
  sql: Sql;
  clock: Clock;
  actors: DurableActors;
  replica_id: () => string;
  /** Returns false if this replica's lease may have ended. Then no timer fires. */
  mayRun?: () => boolean;
  onError: (error: unknown) => void;
}

/**
 * Fires due timers. A timer is a row. A poll only finds the rows and sends their events. The
 * transaction that applies an event deletes the row, so a timer fires once even if several polls
 * find it.
 */
export class Timers {
  private stopClock: () => void = () => undefined;
  private polling: Promise<void> | undefined;
  private stopped = false;

  constructor(private readonly deps: TimersDeps) {}

  start(): void {
    this.stopped = false;
    this.schedule();
  }

  async stop(): Promise<void> {
    this.stopped = true;
    this.stopClock();
    await this.polling;
  }

  /** Fires all due timers and returns the number of timers that it found. */
  async poll(): Promise<number> {
    const { sql, actors, replica_id } = this.deps;
    if (this.deps.mayRun?.() === false) return 0;
    let found = 0;
    for (;;) {
      const due = await findDueTimers(sql, replica_id(), MAX_TIMERS_PER_POLL);
      found += due.length;
      await Promise.all(
        due.map((timer) => {
          const event = timer.event as { type: string };
          return actors.send({ kind: timer.kind, id: timer.actor_id, event, timer });
        }),
      );
      if (due.length < MAX_TIMERS_PER_POLL) return found;
    }
  }

  private schedule(): void {
    if (this.stopped) return;
    this.stopClock = this.deps.clock.after(POLL_MS, () => {
      this.polling = this.poll()
        .then(() => undefined, this.deps.onError)
        .finally(() => this.schedule());
    });
  }
}
