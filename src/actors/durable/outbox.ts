import type { Sql } from 'postgres';
import type { AnyEventObject } from 'xstate';
import {
  findPendingEffects,
  type PendingEffect,
  postponeEffect,
} from '../../../db/actors/store.ts';
import type { Clock } from '../clock.ts';
import type { ActorCommand } from './command.ts';
import type { DurableActors } from './durable.ts';
import type { EffectReport } from './kind.ts';

const POLL_MS = 1_000;
/** Effects of one name that run at the same time on this replica: slow ones hold up only their like. */
const MAX_RUNNING_EFFECTS = 256;
/** What runs when the process is to stop gets this long; after that it counts as crashed. */
const DRAIN_MS = 20_000;
/** A replica that was given up registers anew, and then what its effects brought back can be said. */
const SAY_AGAIN_MS = 1_000;
const MAX_SAID_AGAIN = 30;
const FIRST_RETRY_MS = 500;
const LAST_RETRY_MS = 60_000;

export interface OutboxDeps {
  sql: Sql;
  clock: Clock;
  actors: DurableActors;
  replica_id: () => string;
  /** False while this replica's lease may have ended: nothing new is begun then. */
  mayRun?: () => boolean;
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
  private readonly running = new Map<string, { effect: string; done: Promise<void> }>();
  private readonly perEffect = new Map<string, number>();
  private lookAgain = false;
  private lookUnderWay: Promise<void> | undefined;
  private stopClock: () => void = () => undefined;
  private looking: Promise<void> | undefined;
  private stopped = false;

  constructor(private readonly deps: OutboxDeps) {}

  /** Effects that run now. */
  get size(): number {
    return this.running.size;
  }

  start(): void {
    this.stopped = false;
    this.schedule();
  }

  /** Starts nothing new and waits for what runs, up to a bound. */
  async stop(): Promise<void> {
    this.stopped = true;
    this.stopClock();
    await this.looking;
    const patience = Promise.withResolvers<void>();
    const stopClock = this.deps.clock.after(DRAIN_MS, patience.resolve);
    await Promise.race([this.idle(), patience.promise]);
    stopClock();
  }

  /** Something was committed that may be run at once. */
  wake(): void {
    if (!this.stopped) this.poll().catch(this.deps.onError);
  }

  /** Starts what is due, within the bounds. Asked while it looks, it looks once more. */
  poll(): Promise<void> {
    this.lookAgain = true;
    this.lookUnderWay ??= this.lookWhileAsked().finally(() => {
      this.lookUnderWay = undefined;
    });
    return this.lookUnderWay;
  }

  private async lookWhileAsked(): Promise<void> {
    while (this.lookAgain) {
      this.lookAgain = false;
      await this.lookOnce();
    }
  }

  private async lookOnce(): Promise<void> {
    if (this.deps.mayRun?.() === false) return;
    const full = [...this.perEffect].filter(([, count]) => count >= MAX_RUNNING_EFFECTS);
    const skip = { ids: [...this.running.keys()], effects: full.map(([effect]) => effect) };
    const { sql, replica_id } = this.deps;
    const due = await findPendingEffects(sql, replica_id(), MAX_RUNNING_EFFECTS, skip);
    for (const effect of due) {
      const count = this.perEffect.get(effect.effect) ?? 0;
      if (this.running.has(effect.id) || count >= MAX_RUNNING_EFFECTS) continue;
      this.perEffect.set(effect.effect, count + 1);
      const done = this.run(effect)
        .catch(this.deps.onError)
        .finally(() => this.ended(effect));
      this.running.set(effect.id, { effect: effect.effect, done });
    }
  }

  private ended({ id, effect }: PendingEffect): void {
    this.running.delete(id);
    const count = this.perEffect.get(effect) ?? 0;
    this.perEffect.set(effect, count - 1);
    // Others of its like may have waited for its place.
    if (count >= MAX_RUNNING_EFFECTS) this.wake();
  }

  /** Resolves when no effect runs. */
  async idle(): Promise<void> {
    while (this.running.size > 0) {
      await Promise.all([...this.running.values()].map(({ done }) => done));
    }
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
      const outcome = reportOf(await effect(pending.params, context));
      const done = { id: pending.id, status: 'done' as const };
      const { report: event, ...more } = outcome;
      await this.say({ kind: kind.kind, id, event, effect: done, ...more });
    } catch (error) {
      const forEver = kind.retried_forever?.includes(pending.effect) ?? false;
      const bound = forEver ? Number.POSITIVE_INFINITY : kind.max_attempts;
      await this.failed(pending, bound, String(error));
    } finally {
      stopTimeout();
    }
  }

  /** What came of an effect is a fact, also where this replica was given up meanwhile. */
  private async say(tell: ActorCommand): Promise<void> {
    for (let times = 0; times < MAX_SAID_AGAIN; times += 1) {
      const told = await this.deps.actors.send(tell);
      if (told.type !== 'fenced' || this.stopped) return;
      await new Promise<void>((resolve) => this.deps.clock.after(SAY_AGAIN_MS, resolve));
    }
  }

  private async failed(pending: PendingEffect, maxAttempts: number, error: string): Promise<void> {
    const kind = this.deps.actors.kinds.get(pending.kind);
    const attempts = pending.attempts + 1;
    if (kind && attempts >= maxAttempts) {
      const event = kind.failed(pending.effect, error);
      const dead = { id: pending.id, status: 'dead' as const };
      await this.say({ kind: kind.kind, id: pending.actor_id, event, effect: dead });
      return;
    }
    const backoff = Math.min(FIRST_RETRY_MS * 2 ** pending.attempts, LAST_RETRY_MS);
    const delay = Math.round(backoff * (0.5 + this.deps.random()));
    await postponeEffect(this.deps.sql, pending.id, delay, error);
  }

  private schedule(): void {
    if (this.stopped) return;
    this.stopClock = this.deps.clock.after(POLL_MS, () => {
      this.looking = this.poll()
        .catch(this.deps.onError)
        .finally(() => this.schedule());
    });
  }
}

function reportOf(outcome: AnyEventObject | EffectReport): EffectReport {
  return 'type' in outcome ? { report: outcome } : (outcome as EffectReport);
}
