import type { Sql } from 'postgres';
import { type BatchStatus, writeBatch } from '../../../db/batches/batches.ts';
import { endRest } from '../../../db/batches/items.ts';
import type { DurableKind } from '../../actors/durable/kind.ts';
import { type BatchContext, type BatchEvent, batchMachine } from '../../machines/batch.ts';
import type { BatchWorker } from './worker.ts';

export const BATCH_KIND = 'batch';
/** Longer than any batch lives: working on one is a single effect. */
const EFFECT_TIMEOUT_MS = 26 * 3_600_000;

/** Message batches as durable actors: the machine, what its effects do, and the row that clients read. */
export function batchKind(sql: Sql, worker: BatchWorker): DurableKind {
  return {
    kind: BATCH_KIND,
    machine: batchMachine,
    version: 1,
    effects: {
      work: async (_, { actor_id, signal }) => {
        await worker.work(actor_id, signal);
        return { type: 'WORKED' } satisfies BatchEvent;
      },
      close: async (params, { actor_id }) => {
        const { rest } = params as { rest: 'canceled' | 'expired' };
        return { type: 'CLOSED', counts: await endRest(sql, actor_id, rest) } satisfies BatchEvent;
      },
    },
    effect_timeout_ms: EFFECT_TIMEOUT_MS,
    max_attempts: 1,
    retried_forever: ['work', 'close'],
    failed: () => ({ type: 'WORKED' }) satisfies BatchEvent,
    async project(tx, changes) {
      for (const { id, to_state, snapshot } of changes) {
        const [top = ''] = to_state.split('.');
        const { counts } = snapshot.context as BatchContext;
        await writeBatch(tx, { id, status: top as BatchStatus, counts });
      }
    },
  };
}
