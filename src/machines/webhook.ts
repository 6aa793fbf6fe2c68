import { assign, enqueueActions, setup } from 'xstate';

/**
 * The delivery of one webhook: a request that reports the end of a task to one receiver (Standard
 * Webhooks). The number of attempts is bounded.
 */
export interface WebhookContext {
  attempts: number;
  /**
   * The HTTP status of the last attempt; 0 = the receiver sent no response, null = no attempt yet.
   */
  last_status: number | null;
}

export type WebhookEvent =
  /** The end of the task is committed. */
  | { type: 'ANNOUNCED' }
  /** The receiver returned 2xx. */
  | { type: 'DELIVERED'; status: number }
  /**
   * The receiver returned another status, or no response. `final` is true if a retry cannot
   * succeed. `reason` is for people: the machine does not read it.
   */
  | { type: 'REFUSED'; status: number; final: boolean; reason?: string }
  | { type: 'RETRY' };

/**
 * The pauses between attempts. They grow from seconds to hours, because a receiver may be down for
 * a whole night.
 */
export const WEBHOOK_DELAYS_MS = [
  5_000, 30_000, 120_000, 600_000, 1_800_000, 7_200_000, 28_800_000,
];
/** The most attempts of one webhook: the first attempt and one after each pause. */
export const MAX_WEBHOOK_ATTEMPTS = WEBHOOK_DELAYS_MS.length + 1;

export const webhookMachine = setup({
  types: {
    context: {} as WebhookContext,
    events: {} as WebhookEvent,
  },
  actions: {
    // The runtime reads effects and timers as data. The machine does not run them.
    deliver: (_, _params: Record<string, never>) => undefined,
    setTimer: (_, _params: { name: string; delay_ms: number; event: { type: 'RETRY' } }) =>
      undefined,
    waitToRetry: enqueueActions(({ context, enqueue }) => {
      const delay_ms = WEBHOOK_DELAYS_MS[context.attempts - 1] ?? 0;
      // The cast is needed, because XState's types do not let the actions of one `setup` name each
      // other.
      const params = { name: 'retry', delay_ms, event: { type: 'RETRY' } };
      enqueue({ type: 'setTimer', params } as never);
    }),
    countAttempt: assign({
      attempts: ({ context }) => context.attempts + 1,
      last_status: ({ context, event }) => ('status' in event ? event.status : context.last_status),
    }),
  },
  guards: {
    isLastAttempt: ({ context, event }) =>
      event.type === 'REFUSED' && (event.final || context.attempts + 1 >= MAX_WEBHOOK_ATTEMPTS),
  },
}).createMachine({
  id: 'webhook',
  context: { attempts: 0, last_status: null },
  initial: 'announced',
  states: {
    announced: {
      description: 'The webhook is created and not yet sent.',
      on: { ANNOUNCED: 'delivering' },
    },
    delivering: {
      description: 'One attempt to send the webhook runs.',
      entry: { type: 'deliver', params: {} },
      on: {
        DELIVERED: { target: 'delivered', actions: 'countAttempt' },
        REFUSED: [
          { guard: 'isLastAttempt', target: 'failed', actions: 'countAttempt' },
          { target: 'waiting', actions: 'countAttempt' },
        ],
      },
    },
    waiting: {
      description: 'The last attempt failed. A timer starts the next one.',
      entry: 'waitToRetry',
      on: { RETRY: 'delivering' },
    },
    delivered: { description: 'The receiver took the webhook.', type: 'final' },
    failed: { description: 'The last attempt failed, or a retry cannot succeed.', type: 'final' },
  },
});
