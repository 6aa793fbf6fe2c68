import pLimit from 'p-limit';
import type { Sql } from 'postgres';
import {
  type BatchWork,
  draftItem,
  endItem,
  findDue,
  findItem,
  findWork,
  type ItemWork,
  nextDue,
  postponeItem,
} from '../../../db/batches/items.ts';
import type { Clock } from '../../actors/clock.ts';
import type { Draft } from '../call.ts';
import { DueItems } from './due-items.ts';

/** Items of one batch that run at the same time. */
const LANES_PER_BATCH = 8;
/** Items of all batches that run at the same time on one replica: clients who wait go first. */
const MAX_RUNNING_ITEMS = 64;
/** An item that waits for another attempt is looked for at least this often. */
const LOOK_AGAIN_MS = 5_000;
const FIRST_RETRY_MS = 1_000;
const LAST_RETRY_MS = 300_000;
/** What runs when the replica is to stop gets this long. */
const DRAIN_MS = 10_000;

/** One item's call, and what is noted on the way. */
export interface ItemCall extends ItemWork {
  readonly batch: BatchWork;
  /** Aborted when the replica stops. */
  readonly signal: AbortSignal;
  /** Notes an answer that is about to be charged. */
  readonly keepDraft: (answer: string, draft: Draft) => Promise<void>;
}

export type ItemOutcome =
  | { readonly type: 'succeeded' }
  /** `error` = the envelope of the route, as JSON. */
  | { readonly type: 'errored'; readonly error: string }
  | { readonly type: 'later'; readonly after_ms: number };

export interface BatchWorkerDeps {
  readonly sql: Sql;
  readonly clock: Clock;
  /** 0 ≤ x < 1; spreads attempts. */
  readonly random: () => number;
  /** False while this replica's lease may have ended. */
  readonly mayRun: () => boolean;
  /** Carries out one item; throws only what nobody expected. */
  readonly call: (item: ItemCall) => Promise<ItemOutcome>;
}

/**
 * Carries out the items of batches, each like a call of its own (spec: Message batches). What is
 * done is in the items' rows, so whoever works on a batch next goes on where this one stopped.
 */
export class BatchWorker {
  private readonly limit = pLimit(MAX_RUNNING_ITEMS);
  private readonly stopping = new AbortController();
  private readonly abort = new AbortController();

  constructor(private readonly deps: BatchWorkerDeps) {}

  /** Resolves when nothing of a batch is left to begin. Throws to be called again, here or elsewhere. */
  async work(batch_id: string, signal: AbortSignal): Promise<void> {
    const calls = AbortSignal.any([signal, this.abort.signal]);
    for (;;) {
      this.stopIfAsked(signal);
      const batch = await findWork(this.deps.sql, batch_id);
      if (!batch?.open) return;
      const wait_ms = await nextDue(this.deps.sql, batch_id);
      if (wait_ms === undefined) return;
      if (wait_ms > 0) await this.pause(Math.min(wait_ms, LOOK_AGAIN_MS));
      else await this.sweep(batch_id, batch, signal, calls);
    }
  }

  /** Begins nothing more; what runs gets a while to end. */
  stop(): void {
    this.stopping.abort();
    this.deps.clock.after(DRAIN_MS, () => this.abort.abort());
  }

  /** Everything that is due, once. */
  private async sweep(
    batch_id: string,
    batch: BatchWork,
    signal: AbortSignal,
    calls: AbortSignal,
  ): Promise<void> {
    const { sql } = this.deps;
    const sweep = new DueItems(async (after, limit) => {
      this.stopIfAsked(signal);
      const open = (await findWork(sql, batch_id))?.open;
      return open ? findDue(sql, batch_id, after, limit) : [];
    });
    const lane = async () => {
      for (let at = await sweep.next(); at !== undefined; at = await sweep.next()) {
        const position = at;
        this.stopIfAsked(signal);
        const wait_ms = await this.limit(() => this.run(batch_id, position, batch, calls));
        // Whatever made this one wait would make the next one wait as well.
        if (wait_ms > 0) await this.pause(Math.min(wait_ms, LOOK_AGAIN_MS));
      }
    };
    // No lane is left running when another one broke.
    const ended = await Promise.allSettled(Array.from({ length: LANES_PER_BATCH }, lane));
    for (const lane of ended) if (lane.status === 'rejected') throw lane.reason;
  }

  /** One attempt at one item; the time to wait before another one, ms. */
  private async run(
    batch_id: string,
    position: number,
    batch: BatchWork,
    signal: AbortSignal,
  ): Promise<number> {
    const { sql, call } = this.deps;
    const item = await findItem(sql, batch_id, position);
    if (!item) return 0;
    if (item.charged && item.answer !== null) {
      await endItem(sql, item, 'succeeded');
      return 0;
    }
    const keepDraft = (answer: string, draft: Draft) => draftItem(sql, item, answer, draft);
    const outcome = await call({ ...item, batch, signal, keepDraft });
    if (outcome.type === 'succeeded') await endItem(sql, item, 'succeeded');
    else if (outcome.type === 'errored') await endItem(sql, item, 'errored', outcome.error);
    else {
      const wait_ms = Math.max(outcome.after_ms, this.backoff(item.attempts));
      await postponeItem(sql, item, wait_ms);
      return wait_ms;
    }
    return 0;
  }

  private backoff(attempts: number): number {
    const longest = Math.min(FIRST_RETRY_MS * 2 ** Math.min(attempts, 20), LAST_RETRY_MS);
    return Math.round(longest * (0.5 + this.deps.random() / 2));
  }

  private stopIfAsked(signal: AbortSignal): void {
    signal.throwIfAborted();
    if (this.stopping.signal.aborted) throw new Error('this replica stops');
    if (!this.deps.mayRun()) throw new Error('this replica may not go on');
  }

  private async pause(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const stopClock = this.deps.clock.after(ms, resolve);
    const { signal } = this.stopping;
    signal.addEventListener('abort', () => resolve(), { once: true });
    await promise;
    signal.removeEventListener('abort', () => resolve());
    stopClock();
  }
}
