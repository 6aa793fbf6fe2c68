import { assign, setup } from 'xstate';

/** How many items of an ended batch have each result. */
interface BatchCounts {
  succeeded: number;
  errored: number;
  canceled: number;
  expired: number;
}

export interface BatchContext {
  /** Null until the batch has ended. */
  counts: BatchCounts | null;
}

export type BatchEvent =
  /** All items of the batch are stored. */
  | { type: 'OPENED' }
  | { type: 'CANCEL' }
  /** The effect `work` stopped: no item runs, and no other item will start. */
  | { type: 'WORKED' }
  /** The effect `close` ended: each item that had not run has a result. */
  | { type: 'CLOSED'; counts: BatchCounts };

/**
 * A message batch (Anthropic docs: Batch processing). The effect `work` runs the items. It stops
 * when all items have ended, or when the batch expires or is canceled. After that no item starts,
 * but running items continue to their end.
 */
export const batchMachine = setup({
  types: {
    context: {} as BatchContext,
    events: {} as BatchEvent,
  },
  actions: {
    // The runtime reads effects as data. The machine does not run them.
    work: (_, _params: Record<string, never>) => undefined,
    close: (_, _params: { rest: 'canceled' | 'expired' }) => undefined,
    count: assign({
      counts: ({ context, event }) => (event.type === 'CLOSED' ? event.counts : context.counts),
    }),
  },
}).createMachine({
  id: 'batch',
  context: { counts: null },
  initial: 'received',
  states: {
    received: { description: 'The items are being stored.', on: { OPENED: 'in_progress' } },
    in_progress: {
      description: 'Items run, or get the result of an expired batch.',
      initial: 'working',
      states: {
        working: {
          description: 'The effect `work` runs the items.',
          entry: { type: 'work', params: {} },
          on: { WORKED: 'closing', CANCEL: '#batch.canceling' },
        },
        closing: {
          description: 'Items that have not run get the result `expired`.',
          entry: { type: 'close', params: { rest: 'expired' } },
        },
      },
    },
    canceling: {
      description: 'A client canceled the batch. No other item starts.',
      initial: 'draining',
      states: {
        draining: {
          description: 'Items that run continue to their end.',
          on: { WORKED: 'closing' },
        },
        closing: {
          description: 'Items that have not run get the result `canceled`.',
          entry: { type: 'close', params: { rest: 'canceled' } },
        },
      },
    },
    ended: { description: 'Every item has a result.', type: 'final' },
  },
  on: { CLOSED: { target: '.ended', actions: 'count' } },
});
