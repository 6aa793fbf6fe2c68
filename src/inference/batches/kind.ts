import type { Sql } from 'postgres';
import { type BatchStatus, writeBatch } from '../../../db/batches/batches.ts';
import { endRemainingItems } from '../../../db/batches/items.ts';
import type { DurableKind } from '../../actors/durable/kind.ts';
import type { BatchContext, BatchEvent } from '../../machines/batch.ts';
import { versionedBatch } from '../../replay/machines.ts';
import type { BatchWorker } from './worker.ts';

/** The `kind` of the durable actors that run message batches. */
export const BATCH_KIND = 'batch';
/** One effect runs the whole batch, and a batch may stay open for 24 hours. */
const EFFECT_TIMEOUT_MS = 26 * 3_600_000;

/**
 * Returns the kind of durable actor that runs message batches: its machine, its effects, and the
 * projection to the row that clients read.
 */
export function batchKind(sql: Sql, worker: BatchWorker): DurableKind {
  return {
    kind: BATCH_KIND,
    ...versionedBatch,
    effects: {
      work: async (_, { actor_id, signal }) => {
        await worker.work(actor_id, signal);
        return { type: 'WORKED' } satisfies BatchEvent;
      },
      close: async (params, { actor_id }) => {
        const { rest } = params as { rest: 'canceled' | 'expired' };
        return {
          type: 'CLOSED',
          counts: await endRemainingItems(sql, actor_id, rest),
        } satisfies BatchEvent;
      },
    },
    effect_timeout_ms: EFFECT_TIMEOUT_MS,
    max_attempts: 1,
    unlimited_effects: ['work', 'close'],
    eventOfDeadEffect: () => ({ type: 'WORKED' }) satisfies BatchEvent,
    async project(tx, changes) {
      for (const { id, to_state, snapshot } of changes) {
        const [status = ''] = to_state.split('.');
        const { counts } = snapshot.context as BatchContext;
        await writeBatch(tx, { id, status: status as BatchStatus, counts });
      }
    },
  };
}
