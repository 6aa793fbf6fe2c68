import { assign, setup } from 'xstate';

/** How many items of an ended batch ended how. */
interface BatchCounts {
  succeeded: number;
  errored: number;
  canceled: number;
  expired: number;
}

export interface BatchContext {
  /** Only of an ended batch. */
  counts: BatchCounts | null;
}

export type BatchEvent =
  /** All of its items are there. */
  | { type: 'OPENED' }
  | { type: 'CANCEL' }
  /** Nothing of it runs any more, and nothing more is to be begun. */
  | { type: 'WORKED' }
  /** What was left has ended without having run. */
  | { type: 'CLOSED'; counts: BatchCounts };

/**
 * A message batch (Anthropic docs: Batch processing). One effect, `work`, carries out its items
 * until all have ended, or it has expired, or it is cancelled; what runs by then runs to its end.
 */
export const batchMachine = setup({
  types: {
    context: {} as BatchContext,
    events: {} as BatchEvent,
  },
  actions: {
    // Effects are data for the runtime; here they do nothing.
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
    /** Its items are being written. */
    received: { on: { OPENED: 'in_progress' } },
    in_progress: {
      initial: 'working',
      states: {
        working: {
          entry: { type: 'work', params: {} },
          on: { WORKED: 'closing', CANCEL: '#batch.canceling' },
        },
        /** Whatever has not run by now has expired. */
        closing: { entry: { type: 'close', params: { rest: 'expired' } } },
      },
    },
    canceling: {
      initial: 'draining',
      states: {
        draining: { on: { WORKED: 'closing' } },
        closing: { entry: { type: 'close', params: { rest: 'canceled' } } },
      },
    },
    ended: { type: 'final' },
  },
  on: { CLOSED: { target: '.ended', actions: 'count' } },
});
