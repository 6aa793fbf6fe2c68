import pLimit from 'p-limit';
import type { Sql } from 'postgres';
import {
  type BatchWork,
  draftItem,
  endItem,
  findBatchWork,
  findDueItems,
  findItem,
  type ItemWork,
  nextDueMs,
  postponeItem,
} from '../../../db/batches/items.ts';
import type { Clock } from '../../actors/clock.ts';
import type { Draft } from '../call.ts';
import { DueItems } from './due-items.ts';

/** The most items of one batch that run at the same time. */
const MAX_RUNNING_PER_BATCH = 8;
/**
 * The most items of all batches that run at the same time on one replica. The limit leaves capacity
 * for clients that wait for an answer.
 */
const MAX_RUNNING_ITEMS = 64;
/** The longest wait between two checks for due items, ms. */
const MAX_PAUSE_MS = 5_000;
const FIRST_RETRY_MS = 1_000;
const LAST_RETRY_MS = 300_000;
/** When the replica stops, running items get this long to end, ms. */
const DRAIN_MS = 10_000;

/** Input of one attempt of an item. */
export interface ItemCall extends ItemWork {
  readonly batch: BatchWork;
  /** Aborted when the replica stops. */
  readonly signal: AbortSignal;
  /**
   * Stores the answer before its charge. If the item runs again, Weir only charges the stored
   * answer and does not call the model again.
   */
  readonly storeDraft: (answer: string, draft: Draft) => Promise<void>;
}

/** How one attempt of an item ended. */
export type ItemOutcome =
  | { readonly type: 'succeeded' }
  /** `error` is the error envelope of the route, as JSON. */
  | { readonly type: 'errored'; readonly error: string }
  /** The item is retried after at least `after_ms`. */
  | { readonly type: 'later'; readonly after_ms: number };

/** Dependencies of `BatchWorker`. */
export interface BatchWorkerDeps {
  readonly sql: Sql;
  readonly clock: Clock;
  /** Returns a random number, 0 ≤ x < 1. It spreads retries over time. */
  readonly random: () => number;
  /** Returns false while this replica's lease may have ended. */
  readonly mayRun: () => boolean;
  /** Runs one item. Throws if the item must stay unchanged, e.g. because the replica stops. */
  readonly call: (item: ItemCall) => Promise<ItemOutcome>;
}

/**
 * Runs the items of batches. Each item runs like a call of its own (spec: Message batches). All
 * progress is in the rows of the items. So another replica can continue the batch at any point.
 */
export class BatchWorker {
  private readonly limit = pLimit(MAX_RUNNING_ITEMS);
  private readonly stopping = new AbortController();
  private readonly abort = new AbortController();

  constructor(private readonly deps: BatchWorkerDeps) {}

  /**
   * Runs a batch. Resolves when no item is left to run, or when the batch was canceled or has
   * expired. Throws if this replica must stop. After a throw, `work` is called again, on this or
   * another replica.
   */
  async work(batch_id: string, signal: AbortSignal): Promise<void> {
    const callSignal = AbortSignal.any([signal, this.abort.signal]);
    for (;;) {
      this.throwIfStopping(signal);
      const batch = await findBatchWork(this.deps.sql, batch_id);
      if (!batch?.open) return;
      const wait_ms = await nextDueMs(this.deps.sql, batch_id);
      if (wait_ms === undefined) return;
      if (wait_ms > 0) await this.wait(Math.min(wait_ms, MAX_PAUSE_MS));
      else await this.runDueItems(batch_id, batch, signal, callSignal);
    }
  }

  /** Starts no more items. Running items are aborted after `DRAIN_MS`. */
  stop(): void {
    if (this.stopping.signal.aborted) return;
    this.stopping.abort();
    this.deps.clock.after(DRAIN_MS, () => this.abort.abort());
  }

  /** Runs each item that is due now once. */
  private async runDueItems(
    batch_id: string,
    batch: BatchWork,
    signal: AbortSignal,
    callSignal: AbortSignal,
  ): Promise<void> {
    const { sql } = this.deps;
    const dueItems = new DueItems(async (after, limit) => {
      this.throwIfStopping(signal);
      const open = (await findBatchWork(sql, batch_id))?.open;
      return open ? findDueItems(sql, batch_id, after, limit) : [];
    });
    const runner = async () => {
      for (;;) {
        const position = await dueItems.next();
        if (position === undefined) return;
        this.throwIfStopping(signal);
        const wait_ms = await this.limit(() => this.run(batch_id, position, batch, callSignal));
        // The reason for the wait, e.g. a rate limit, applies to the next item too.
        if (wait_ms > 0) await this.wait(Math.min(wait_ms, MAX_PAUSE_MS));
      }
    };
    // If one runner fails, this method waits for the other runners before it throws.
    const ended = await Promise.allSettled(Array.from({ length: MAX_RUNNING_PER_BATCH }, runner));
    for (const result of ended) if (result.status === 'rejected') throw result.reason;
  }

  /**
   * Runs one attempt of one item. Returns the time to wait before the next attempt of the item, ms.
   * Returns 0 if the item has ended, or does not exist.
   */
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
    const storeDraft = (answer: string, draft: Draft) => draftItem(sql, item, answer, draft);
    const outcome = await call({ ...item, batch, signal, storeDraft });
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
    const max_ms = Math.min(FIRST_RETRY_MS * 2 ** Math.min(attempts, 20), LAST_RETRY_MS);
    return Math.round(max_ms * (0.5 + this.deps.random() / 2));
  }

  private throwIfStopping(signal: AbortSignal): void {
    signal.throwIfAborted();
    if (this.stopping.signal.aborted) throw new Error('this replica is stopping');
    if (!this.deps.mayRun()) throw new Error('the lease of this replica may have ended');
  }

  /** Waits `ms` milliseconds. Ends early when this replica stops. */
  private async wait(ms: number): Promise<void> {
    const { signal } = this.stopping;
    if (signal.aborted) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const onEnd = () => resolve();
    const stopClock = this.deps.clock.after(ms, onEnd);
    signal.addEventListener('abort', onEnd);
    await promise;
    signal.removeEventListener('abort', onEnd);
    stopClock();
  }
}
