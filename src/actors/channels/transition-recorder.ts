import type { Sql } from 'postgres';
import { insertTransitions, type NewTransition } from '../../../db/channels/transitions.ts';
import type { Clock, IdSource } from '../clock.ts';
import type { ChannelTransition } from './transition.ts';

const FLUSH_MS = 1_000;
/**
 * The most changes that wait for a flush. If the database is away for long, the oldest are dropped:
 * a change never delays a call, and never fills the memory.
 */
const MAX_WAITING = 10_000;
/** One statement stores at most this many changes. */
const MAX_STORED = 1_000;

export interface TransitionRecorderDeps {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly replica_id: () => string;
  readonly onError: (error: unknown) => void;
}

/**
 * Stores the changes of state of this replica's circuits, for the history that operators read. The
 * changes wait in memory and are stored every second, so that no call waits for a write.
 */
export class TransitionRecorder {
  /** How many changes were dropped. */
  dropped = 0;
  private waiting: NewTransition[] = [];
  private stopClock: () => void = () => undefined;
  private flushing: Promise<void> | undefined;

  constructor(private readonly deps: TransitionRecorderDeps) {
    this.schedule();
  }

  record(change: ChannelTransition): void {
    const { channel_id, model, from, to, reason, open_until, is_from_peer_hint, at_ms } = change;
    const isClosed = to === 'open' || to === 'disabled';
    this.waiting.push({
      id: this.deps.ids.uuid(),
      channel_id,
      model,
      replica_id: this.deps.replica_id(),
      from_state: from,
      to_state: to,
      cause: isClosed || to === 'probing' ? reason : null,
      is_from_peer: is_from_peer_hint,
      open_until_ms: isClosed && open_until > at_ms ? open_until : null,
      at_ms,
    });
    if (this.waiting.length > MAX_WAITING) {
      this.waiting.shift();
      this.dropped += 1;
    }
  }

  /** Stores the changes that wait. If the database fails, they wait for the next flush. */
  async flush(): Promise<void> {
    while (this.waiting.length > 0) {
      const stored = this.waiting.slice(0, MAX_STORED);
      await insertTransitions(this.deps.sql, stored);
      const ids = new Set(stored.map(({ id }) => id));
      this.waiting = this.waiting.filter(({ id }) => !ids.has(id));
    }
  }

  async stop(): Promise<void> {
    this.stopClock();
    await this.flushing;
    this.stopClock();
    await this.flush().catch(this.deps.onError);
  }

  private schedule(): void {
    this.stopClock = this.deps.clock.after(FLUSH_MS, () => {
      this.flushing = this.flush()
        .catch(this.deps.onError)
        .finally(() => this.schedule());
    });
  }
}
