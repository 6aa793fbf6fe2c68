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
import type { DurableKind, Effect, EffectReport } from './kind.ts';

const POLL_MS = 1_000;
/**
 * The most effects with the same name (e.g. `deliver`) that run at the same time on this replica.
 * So slow effects of one name do not delay effects of another name.
 */
const MAX_RUNNING_EFFECTS = 256;
/**
 * The most effects in memory, with those that have ended and whose reports wait for their commit. If
 * the database is slow, no more effects start.
 */
const MAX_EFFECTS_IN_MEMORY = 2_048;
/**
 * How long a stopping process waits for running effects. Effects that have not ended by then run
 * again on another replica.
 */
const DRAIN_MS = 20_000;
/**
 * If this replica was declared dead, a report is refused and is sent again after this pause.
 * Meanwhile the process registers under a new id.
 */
const RESEND_MS = 1_000;
const MAX_RESENDS = 30;
const FIRST_RETRY_MS = 500;
const LAST_RETRY_MS = 60_000;

export interface OutboxDeps {
  sql: Sql;
  clock: Clock;
  actors: DurableActors;
  replica_id: () => string;
  /** Returns false if this replica's lease may have ended. Then no effect is started. */
  mayRun?: () => boolean;
  /** Returns a random number, 0 ≤ x < 1. It spreads retries over time. */
  random: () => number;
  onError: (error: unknown) => void;
}

/**
 * Runs each effect of a committed transition at least once. Every attempt of an effect has the same
 * idempotency key. One transaction commits the event that reports an effect, and ends the effect.
 * If the replica crashes before that commit, the effect's row stays pending, and the next owner of
 * the actor runs the effect again.
 */
export class Outbox {
  /** Effects until their report is committed, by id. */
  private readonly running = new Map<string, Promise<void>>();
  /** How many effects of each name run. One that only waits for its commit is not counted. */
  private readonly runningPerEffect = new Map<string, number>();
  private pollAgain = false;
  private currentPoll: Promise<void> | undefined;
  private stopClock: () => void = () => undefined;
  private scheduledPoll: Promise<void> | undefined;
  private stopped = false;

  constructor(private readonly deps: OutboxDeps) {}

  /** The number of effects that run or whose reports wait for their commit. */
  get size(): number {
    return this.running.size;
  }

  start(): void {
    this.stopped = false;
    this.schedule();
  }

  /** Starts no more effects and waits for the running effects, at most 20 s. */
  async stop(): Promise<void> {
    this.stopped = true;
    this.stopClock();
    await this.scheduledPoll;
    const timeout = Promise.withResolvers<void>();
    const stopClock = this.deps.clock.after(DRAIN_MS, timeout.resolve);
    await Promise.race([this.idle(), timeout.promise]);
    stopClock();
  }

  /** Polls at once, because a commit may have added effects. */
  wake(): void {
    if (!this.stopped) this.poll().catch(this.deps.onError);
  }

  /**
   * Starts the due effects, within the limits. If a poll is running, another poll follows it.
   */
  poll(): Promise<void> {
    this.pollAgain = true;
    this.currentPoll ??= this.pollRepeatedly().finally(() => {
      this.currentPoll = undefined;
    });
    return this.currentPoll;
  }

  private async pollRepeatedly(): Promise<void> {
    while (this.pollAgain) {
      this.pollAgain = false;
      await this.pollOnce();
    }
  }

  private async pollOnce(): Promise<void> {
    if (this.deps.mayRun?.() === false || this.running.size >= MAX_EFFECTS_IN_MEMORY) return;
    const full = [...this.runningPerEffect].filter(([, count]) => count >= MAX_RUNNING_EFFECTS);
    const skip = { ids: [...this.running.keys()], effects: full.map(([effect]) => effect) };
    const { sql, replica_id } = this.deps;
    const due = await findPendingEffects(sql, replica_id(), MAX_RUNNING_EFFECTS, skip);
    for (const effect of due) {
      const count = this.runningPerEffect.get(effect.effect) ?? 0;
      if (this.running.has(effect.id) || count >= MAX_RUNNING_EFFECTS) continue;
      this.runningPerEffect.set(effect.effect, count + 1);
      const done = this.run(effect)
        .catch(this.deps.onError)
        .finally(() => this.onReported(effect));
      this.running.set(effect.id, done);
    }
  }

  private onReported({ id }: PendingEffect): void {
    const wasFull = this.running.size >= MAX_EFFECTS_IN_MEMORY;
    this.running.delete(id);
    if (wasFull) this.wake();
  }

  /** Called when an effect has run, before its report is committed. */
  private freeSlot({ effect }: PendingEffect): void {
    const count = this.runningPerEffect.get(effect) ?? 0;
    this.runningPerEffect.set(effect, count - 1);
    // Effects of the same name may have waited for this slot.
    if (count >= MAX_RUNNING_EFFECTS) this.wake();
  }

  /** Resolves when no effect runs. */
  async idle(): Promise<void> {
    while (this.running.size > 0) {
      await Promise.all(this.running.values());
    }
  }

  private async run(pending: PendingEffect): Promise<void> {
    const kind = this.deps.actors.kinds.get(pending.kind);
    const effect = kind?.effects[pending.effect];
    if (!kind || !effect) {
      this.freeSlot(pending);
      throw new Error(`unknown effect ${pending.kind}.${pending.effect}`);
    }
    try {
      const report = await this.work(pending, kind, effect).finally(() => this.freeSlot(pending));
      await this.sendReport(report);
    } catch (error) {
      const isUnlimited = kind.unlimited_effects?.includes(pending.effect) ?? false;
      const maxAttempts = isUnlimited ? Number.POSITIVE_INFINITY : kind.max_attempts;
      await this.onEffectFailed(pending, maxAttempts, String(error));
    }
  }

  /** Runs the effect, and returns the command that reports it. */
  private async work(
    pending: PendingEffect,
    kind: DurableKind,
    effect: Effect,
  ): Promise<ActorCommand> {
    const timeout = new AbortController();
    const stopTimeout = this.deps.clock.after(kind.effect_timeout_ms, () =>
      timeout.abort(new Error('the effect exceeded its timeout')),
    );
    const { actor_id: id } = pending;
    const context = { actor_id: id, idempotency_key: pending.id, signal: timeout.signal };
    try {
      const outcome = reportOf(await effect(pending.params, context));
      const done = { id: pending.id, status: 'done' as const };
      const { report: event, ...more } = outcome;
      return { kind: kind.kind, id, event, effect: done, ...more };
    } finally {
      stopTimeout();
    }
  }

  /**
   * Sends the report of an effect. If the report is refused because this replica was declared dead,
   * sends it again, up to `MAX_RESENDS` times in all.
   */
  private async sendReport(command: ActorCommand): Promise<void> {
    for (let times = 0; times < MAX_RESENDS; times += 1) {
      const result = await this.deps.actors.send(command);
      if (result.type !== 'fenced' || this.stopped) return;
      await new Promise<void>((resolve) => this.deps.clock.after(RESEND_MS, resolve));
    }
  }

  private async onEffectFailed(
    pending: PendingEffect,
    maxAttempts: number,
    error: string,
  ): Promise<void> {
    const kind = this.deps.actors.kinds.get(pending.kind);
    const attempts = pending.attempts + 1;
    if (kind && attempts >= maxAttempts) {
      const event = kind.eventOfDeadEffect(pending.effect, error);
      const dead = { id: pending.id, status: 'dead' as const };
      await this.sendReport({ kind: kind.kind, id: pending.actor_id, event, effect: dead });
      return;
    }
    const backoff = Math.min(FIRST_RETRY_MS * 2 ** pending.attempts, LAST_RETRY_MS);
    const delay = Math.round(backoff * (0.5 + this.deps.random()));
    await postponeEffect(this.deps.sql, pending.id, delay, error);
  }

  private schedule(): void {
    if (this.stopped) return;
    this.stopClock = this.deps.clock.after(POLL_MS, () => {
      this.scheduledPoll = this.poll()
        .catch(this.deps.onError)
        .finally(() => this.schedule());
    });
  }
}

function reportOf(outcome: AnyEventObject | EffectReport): EffectReport {
  return 'type' in outcome ? { report: outcome } : (outcome as EffectReport);
}
