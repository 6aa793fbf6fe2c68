import type { Sql } from 'postgres';
import { findPendingEffects, type PendingEffect, postponeEffect } from '../../db/actors/store.ts';
import type { Clock } from './clock.ts';
import type { DurableActors } from './durable.ts';

const POLL_MS = 1_000;
/** Effects that run at the same time on this replica. */
export const MAX_RUNNING_EFFECTS = 256;
const FIRST_RETRY_MS = 500;
const LAST_RETRY_MS = 60_000;

export interface OutboxDeps {
  sql: Sql;
  clock: Clock;
  actors: DurableActors;
  replicaId: () => string;
  /** 0 ≤ x < 1; spreads retries. */
  random: () => number;
  onError: (error: unknown) => void;
}

/**
 * Runs the effects that committed transitions asked for: at least once, each with its own
 * idempotency key, reported back as an event in the transaction that ends it (design 3). A crash
 * between commit and effect leaves a pending row, which the next owner runs.
 */
export class Outbox {
  private readonly running = new Map<string, Promise<void>>();
  private stopClock: () => void = () => undefined;
  private looking: Promise<void> | undefined;
  private stopped = false;

  constructor(private readonly deps: OutboxDeps) {}

  start(): void {
    this.stopped = false;
    this.schedule();
  }

  /** Starts nothing new and waits for what runs. */
  async stop(): Promise<void> {
    this.stopped = true;
    this.stopClock();
    await this.looking;
    await this.idle();
  }

  /** Something was committed that may be run at once. */
  wake(): void {
    if (!this.stopped) this.look().catch(this.deps.onError);
  }

  /** Starts what is due, within the bound. */
  async look(): Promise<void> {
    const room = MAX_RUNNING_EFFECTS - this.running.size;
    if (room <= 0) return;
    const due = await findPendingEffects(this.deps.sql, this.deps.replicaId(), MAX_RUNNING_EFFECTS);
    for (const effect of due.slice(0, room)) {
      if (this.running.has(effect.id)) continue;
      const run = this.run(effect)
        .catch(this.deps.onError)
        .finally(() => this.running.delete(effect.id));
      this.running.set(effect.id, run);
    }
  }

  /** Resolves when no effect runs. */
  async idle(): Promise<void> {
    while (this.running.size > 0) await Promise.all(this.running.values());
  }

  private async run(pending: PendingEffect): Promise<void> {
    const kind = this.deps.actors.kinds.get(pending.kind);
    const effect = kind?.effects[pending.effect];
    if (!kind || !effect) throw new Error(`no effect ${pending.kind}.${pending.effect}`);
    const timeout = new AbortController();
    const stopTimeout = this.deps.clock.after(kind.effect_timeout_ms, () =>
      timeout.abort(new Error('the effect took too long')),
    );
    const { actor_id: id } = pending;
    const context = { actor_id: id, idempotency_key: pending.id, signal: timeout.signal };
    try {
      const event = await effect(pending.params, context);
      const done = { id: pending.id, status: 'done' as const };
      await this.deps.actors.tell({ kind: kind.kind, id, event, effect: done });
    } catch (error) {
      await this.failed(pending, kind.max_attempts, String(error));
    } finally {
      stopTimeout();
    }
  }

  private async failed(pending: PendingEffect, maxAttempts: number, error: string): Promise<void> {
    const kind = this.deps.actors.kinds.get(pending.kind);
    const attempts = pending.attempts + 1;
    if (kind && attempts >= maxAttempts) {
      const event = kind.failed(pending.effect, error);
      const dead = { id: pending.id, status: 'dead' as const };
      await this.deps.actors.tell({ kind: kind.kind, id: pending.actor_id, event, effect: dead });
      return;
    }
    const backoff = Math.min(FIRST_RETRY_MS * 2 ** pending.attempts, LAST_RETRY_MS);
    const delay = Math.round(backoff * (0.5 + this.deps.random()));
    await postponeEffect(this.deps.sql, pending.id, delay, error);
  }

  private schedule(): void {
    if (this.stopped) return;
    this.stopClock = this.deps.clock.after(POLL_MS, () => {
      this.looking = this.look()
        .catch(this.deps.onError)
        .finally(() => this.schedule());
    });
  }
}
