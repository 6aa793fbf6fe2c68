import { assign, enqueueActions, setup } from 'xstate';

import {
  type TaskContext as CurrentContext,
  delayAfterMs,
  MAX_CHANNELS_PER_ROUND,
  MAX_RECOLLECTIONS,
  MAX_ROUNDS,
  type TaskEvent,
  timerParams,
} from '../task-events.ts';

/**
 * An action by its name. The cast is needed, because XState's types do not let the actions of one
 * setup name each other.
 */
const actionOf = (type: string, params: object) => ({ type, params }) as never;

/** Version 1 had no progress, and knew no request to cancel. */
type TaskContext = Omit<CurrentContext, 'progress' | 'cancel_requested'>;

/**
 * The task machine of version 1. Only replays of events of that version use it. It must not change.
 * For its meaning see `src/machines/task.ts`.
 */
export const firstTaskMachine = setup({
  types: { context: {} as TaskContext, events: {} as TaskEvent },
  actions: {
    submit: (_, _params: { tried: string[]; pinned: string | null }) => undefined,
    poll: (_, _params: Record<string, never>) => undefined,
    locate: (_, _params: Record<string, never>) => undefined,
    collect: (_, _params: Record<string, never>) => undefined,
    settle: (_, _params: Record<string, never>) => undefined,
    refund: (_, _params: Record<string, never>) => undefined,
    cancel: (_, _params: Record<string, never>) => undefined,
    announce: (_, _params: Record<string, never>) => undefined,
    setTimer: (_, _params: { name: string; delay_ms: number; event: { type: string } }) =>
      undefined,
    cancelTimer: (_, _params: { name: string }) => undefined,
    startSubmission: enqueueActions(({ context, enqueue }) => {
      enqueue(actionOf('submit', { tried: context.tried, pinned: context.pinned_channel }));
    }),
    announceEnd: enqueueActions(({ context, enqueue }) => {
      if (context.announce) enqueue(actionOf('announce', {}));
    }),
    startDeadline: enqueueActions(({ event, enqueue }) => {
      if (event.type !== 'ACCEPTED') return;
      enqueue(actionOf('setTimer', timerParams('deadline', event.deadline_ms, 'DEADLINE')));
    }),
    waitForSlot: enqueueActions(({ context, event, enqueue }) => {
      const delay_ms = delayAfterMs(context.polls, event);
      enqueue(actionOf('setTimer', timerParams('retry', delay_ms, 'RETRY')));
    }),
    waitToRetry: enqueueActions(({ context, event, enqueue }) => {
      const delay_ms = delayAfterMs(context.rounds, event);
      enqueue(actionOf('setTimer', timerParams('retry', delay_ms, 'RETRY')));
    }),
    waitToPoll: enqueueActions(({ context, event, enqueue }) => {
      const delay_ms = delayAfterMs(context.polls, event);
      enqueue(actionOf('setTimer', timerParams('poll', delay_ms, 'POLL')));
    }),
    waitToLookUp: enqueueActions(({ context, event, enqueue }) => {
      const delay_ms = delayAfterMs(context.asks, event);
      enqueue(actionOf('setTimer', timerParams('ask', delay_ms, 'ASK')));
    }),
    accept: assign(({ context, event }) =>
      event.type === 'ACCEPTED'
        ? {
            patient: event.patient,
            announce: event.announce,
            pinned_channel: event.pinned_channel,
          }
        : context,
    ),
    recordRejection: assign(({ context, event }) =>
      event.type === 'SUBMIT_REJECTED' && event.channel_id !== null
        ? { tried: [...context.tried, event.channel_id] }
        : {},
    ),
    nextRound: assign(({ context }) => ({ tried: [], rounds: context.rounds + 1 })),
    recordJob: assign({ has_job: true, polls: 0 }),
    countPoll: assign({ polls: ({ context }) => context.polls + 1 }),
    countLookup: assign({ asks: ({ context }) => context.asks + 1 }),
    countRecollection: assign({ recollections: ({ context }) => context.recollections + 1 }),
    markExpired: assign({ ending: ({ context }) => context.ending ?? 'timeout_error' }),
    markCanceled: assign({ ending: ({ context }) => context.ending ?? 'request_cancelled' }),
    recordEnding: assign({ error_code: ({ context }) => context.ending ?? 'upstream_error' }),
    recordError: assign({
      error_code: ({ event }) => ('error_code' in event ? event.error_code : 'upstream_error'),
    }),
    recordBilling: assign({
      billing_id: ({ event }) => (event.type === 'SETTLED' ? event.billing_id : null),
    }),
  },
  guards: {
    isNew: ({ context }) => context.rounds === 0 && context.polls === 0,
    isEnding: ({ context }) => context.ending !== null,
    isBusy: ({ event }) => event.type === 'SUBMIT_REJECTED' && event.busy,
    mayFailOver: ({ context, event }) =>
      event.type === 'SUBMIT_REJECTED' &&
      event.retryable &&
      event.more &&
      context.ending === null &&
      context.tried.length + 1 < MAX_CHANNELS_PER_ROUND,
    mayTryLater: ({ context, event }) =>
      event.type === 'SUBMIT_REJECTED' &&
      event.retryable &&
      context.ending === null &&
      context.patient &&
      context.rounds + 1 < MAX_ROUNDS,
    mayRecollect: ({ context }) =>
      context.has_job && context.ending === null && context.recollections < MAX_RECOLLECTIONS,
    mayLookUpAgain: ({ context, event }) =>
      context.ending === null && !(event.type === 'UNANSWERED' && event.hopeless),
  },
}).createMachine({
  id: 'task',
  context: {
    patient: false,
    announce: false,
    pinned_channel: null,
    tried: [],
    rounds: 0,
    polls: 0,
    asks: 0,
    recollections: 0,
    has_job: false,
    ending: null,
    error_code: null,
    billing_id: null,
  },
  initial: 'pending',
  states: {
    pending: {
      initial: 'reserved',
      states: {
        reserved: {
          on: {
            ACCEPTED: {
              guard: 'isNew',
              target: 'submitting',
              actions: ['accept', 'startDeadline'],
            },
            RETRY: 'submitting',
            DEADLINE: { target: '#task.refunding', actions: ['markExpired', 'recordEnding'] },
            CANCEL: { target: '#task.refunding', actions: ['markCanceled', 'recordEnding'] },
          },
          exit: { type: 'cancelTimer', params: { name: 'retry' } },
        },
        submitting: {
          entry: 'startSubmission',
          on: {
            SUBMITTED: [
              {
                guard: 'isEnding',
                target: '#task.refunding',
                actions: ['recordJob', 'recordEnding', { type: 'cancel', params: {} }],
              },
              {
                target: '#task.processing.waiting',
                actions: ['recordJob', 'waitToPoll'],
              },
            ],
            PRODUCED: '#task.processing.collecting',
            UPSTREAM_FAILED: { target: '#task.refunding', actions: 'recordError' },
            SUBMIT_REJECTED: [
              {
                guard: 'isEnding',
                target: '#task.refunding',
                actions: 'recordEnding',
              },
              {
                guard: 'isBusy',
                target: 'reserved',
                actions: ['waitForSlot', 'countPoll'],
              },
              {
                guard: 'mayFailOver',
                target: 'submitting',
                reenter: true,
                actions: 'recordRejection',
              },
              {
                guard: 'mayTryLater',
                target: 'reserved',
                actions: ['waitToRetry', 'nextRound'],
              },
              { target: '#task.refunding', actions: ['recordRejection', 'recordError'] },
            ],
            LOST: [
              { guard: 'isEnding', target: '#task.processing.unknown.asking' },
              {
                target: '#task.processing.unknown.resting',
                actions: 'waitToLookUp',
              },
            ],
            DEADLINE: { actions: 'markExpired' },
            CANCEL: { actions: 'markCanceled' },
          },
        },
      },
    },
    processing: {
      initial: 'waiting',
      states: {
        waiting: {
          on: {
            POLL: 'polling',
            // The job is polled a last time, because the result may be ready.
            DEADLINE: { target: 'polling', actions: 'markExpired' },
            CANCEL: {
              target: '#task.refunding',
              actions: ['markCanceled', 'recordEnding', { type: 'cancel', params: {} }],
            },
          },
          exit: { type: 'cancelTimer', params: { name: 'poll' } },
        },
        polling: {
          entry: { type: 'poll', params: {} },
          on: {
            PROGRESSED: [
              {
                guard: 'isEnding',
                target: '#task.refunding',
                actions: ['recordEnding', { type: 'cancel', params: {} }],
              },
              {
                target: 'waiting',
                actions: ['countPoll', 'waitToPoll'],
              },
            ],
            PRODUCED: 'collecting',
            UPSTREAM_FAILED: { target: '#task.refunding', actions: 'recordError' },
            DEADLINE: { actions: 'markExpired' },
            CANCEL: { actions: 'markCanceled' },
          },
        },
        unknown: {
          initial: 'resting',
          on: {
            // The lookup found the job, or the report of the submission arrived late.
            SUBMITTED: [
              {
                guard: 'isEnding',
                target: '#task.refunding',
                actions: ['recordJob', 'recordEnding', { type: 'cancel', params: {} }],
              },
              {
                target: 'waiting',
                actions: ['recordJob', 'waitToPoll'],
              },
            ],
            PRODUCED: 'collecting',
            UPSTREAM_FAILED: { target: '#task.refunding', actions: 'recordError' },
          },
          states: {
            resting: {
              on: {
                ASK: 'asking',
                DEADLINE: { target: 'asking', actions: 'markExpired' },
                CANCEL: { target: 'asking', actions: 'markCanceled' },
              },
              exit: { type: 'cancelTimer', params: { name: 'ask' } },
            },
            asking: {
              entry: { type: 'locate', params: {} },
              on: {
                UNANSWERED: [
                  {
                    guard: 'mayLookUpAgain',
                    target: 'resting',
                    actions: ['countLookup', 'waitToLookUp'],
                  },
                  { target: '#task.refunding', actions: 'recordEnding' },
                ],
                DEADLINE: { actions: 'markExpired' },
                CANCEL: { actions: 'markCanceled' },
              },
            },
          },
        },
        collecting: {
          entry: { type: 'collect', params: {} },
          on: {
            COLLECTED: 'settling',
            COLLECT_FAILED: [
              {
                guard: 'mayRecollect',
                target: 'waiting',
                actions: ['countRecollection', 'waitToPoll'],
              },
              { target: '#task.refunding', actions: 'recordError' },
            ],
            DEADLINE: { actions: 'markExpired' },
            CANCEL: { actions: 'markCanceled' },
          },
        },
        settling: {
          entry: { type: 'settle', params: {} },
          on: { SETTLED: { target: '#task.completed', actions: 'recordBilling' } },
        },
      },
    },
    refunding: {
      entry: { type: 'refund', params: {} },
      on: { RELEASED: 'failed' },
      exit: { type: 'cancelTimer', params: { name: 'deadline' } },
    },
    completed: {
      type: 'final',
      entry: [{ type: 'cancelTimer', params: { name: 'deadline' } }, 'announceEnd'],
    },
    failed: { type: 'final', entry: 'announceEnd' },
  },
});
