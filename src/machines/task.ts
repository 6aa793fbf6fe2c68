import { assign, enqueueActions, setup } from 'xstate';

import {
  fromTimer,
  MAX_CHANNELS_PER_ROUND,
  MAX_RECOLLECTIONS,
  MAX_ROUNDS,
  spreadMs,
  type TaskContext,
  type TaskEvent,
} from './task-events.ts';

/** XState's types do not let the actions of one setup name each other. */
const named = (type: string, params: object) => ({ type, params }) as never;

/**
 * The life of a generation (design 3): submit, poll, collect, settle, or refund. Pure: effects and
 * timers are actions as data; ids, chance and outcomes come in events. The public status is the
 * top-level state, `refunding` shows as `processing`.
 *
 * The deadline and a client that left never cut what is under way: its outcome decides (P3, P10).
 * So a result that is there when the deadline passes is delivered and charged, not thrown away.
 */
export const taskMachine = setup({
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
      enqueue(named('submit', { tried: context.tried, pinned: context.pinned_channel }));
    }),
    announceEnd: enqueueActions(({ context, enqueue }) => {
      if (context.announce) enqueue(named('announce', {}));
    }),
    startDeadline: enqueueActions(({ event, enqueue }) => {
      if (event.type !== 'ACCEPTED') return;
      enqueue(named('setTimer', fromTimer('deadline', event.deadline_ms, 'DEADLINE')));
    }),
    waitForRoom: enqueueActions(({ context, event, enqueue }) => {
      const delay_ms = spreadMs(context.polls, event);
      enqueue(named('setTimer', fromTimer('retry', delay_ms, 'RETRY')));
    }),
    waitToRetry: enqueueActions(({ context, event, enqueue }) => {
      const delay_ms = spreadMs(context.rounds, event);
      enqueue(named('setTimer', fromTimer('retry', delay_ms, 'RETRY')));
    }),
    waitToPoll: enqueueActions(({ context, event, enqueue }) => {
      const delay_ms = spreadMs(context.polls, event);
      enqueue(named('setTimer', fromTimer('poll', delay_ms, 'POLL')));
    }),
    waitToAsk: enqueueActions(({ context, event, enqueue }) => {
      const delay_ms = spreadMs(context.asks, event);
      enqueue(named('setTimer', fromTimer('ask', delay_ms, 'ASK')));
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
    noteRejection: assign(({ context, event }) =>
      event.type === 'SUBMIT_REJECTED' && event.channel_id !== null
        ? { tried: [...context.tried, event.channel_id] }
        : {},
    ),
    nextRound: assign(({ context }) => ({ tried: [], rounds: context.rounds + 1 })),
    noteJob: assign({ has_job: true, polls: 0 }),
    countPoll: assign({ polls: ({ context }) => context.polls + 1 }),
    countAsk: assign({ asks: ({ context }) => context.asks + 1 }),
    countRecollection: assign({ recollections: ({ context }) => context.recollections + 1 }),
    expire: assign({ ending: ({ context }) => context.ending ?? 'timeout_error' }),
    leave: assign({ ending: ({ context }) => context.ending ?? 'request_cancelled' }),
    noteEnding: assign({ error_code: ({ context }) => context.ending ?? 'upstream_error' }),
    noteError: assign({
      error_code: ({ event }) => ('error_code' in event ? event.error_code : 'upstream_error'),
    }),
    noteBill: assign({
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
    mayAskAgain: ({ context, event }) =>
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
            DEADLINE: { target: '#task.refunding', actions: ['expire', 'noteEnding'] },
            CANCEL: { target: '#task.refunding', actions: ['leave', 'noteEnding'] },
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
                actions: ['noteJob', 'noteEnding', { type: 'cancel', params: {} }],
              },
              {
                target: '#task.processing.waiting',
                actions: ['noteJob', 'waitToPoll'],
              },
            ],
            PRODUCED: '#task.processing.collecting',
            UPSTREAM_FAILED: { target: '#task.refunding', actions: 'noteError' },
            SUBMIT_REJECTED: [
              {
                guard: 'isEnding',
                target: '#task.refunding',
                actions: 'noteEnding',
              },
              {
                guard: 'isBusy',
                target: 'reserved',
                actions: ['waitForRoom', 'countPoll'],
              },
              {
                guard: 'mayFailOver',
                target: 'submitting',
                reenter: true,
                actions: 'noteRejection',
              },
              {
                guard: 'mayTryLater',
                target: 'reserved',
                actions: ['waitToRetry', 'nextRound'],
              },
              { target: '#task.refunding', actions: ['noteRejection', 'noteError'] },
            ],
            LOST: [
              { guard: 'isEnding', target: '#task.processing.unknown.asking' },
              {
                target: '#task.processing.unknown.resting',
                actions: 'waitToAsk',
              },
            ],
            DEADLINE: { actions: 'expire' },
            CANCEL: { actions: 'leave' },
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
            // Asked one last time: the result may be there.
            DEADLINE: { target: 'polling', actions: 'expire' },
            CANCEL: {
              target: '#task.refunding',
              actions: ['leave', 'noteEnding', { type: 'cancel', params: {} }],
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
                actions: ['noteEnding', { type: 'cancel', params: {} }],
              },
              {
                target: 'waiting',
                actions: ['countPoll', 'waitToPoll'],
              },
            ],
            PRODUCED: 'collecting',
            UPSTREAM_FAILED: { target: '#task.refunding', actions: 'noteError' },
            DEADLINE: { actions: 'expire' },
            CANCEL: { actions: 'leave' },
          },
        },
        unknown: {
          initial: 'resting',
          on: {
            // A report that was thought lost, or what was found.
            SUBMITTED: [
              {
                guard: 'isEnding',
                target: '#task.refunding',
                actions: ['noteJob', 'noteEnding', { type: 'cancel', params: {} }],
              },
              {
                target: 'waiting',
                actions: ['noteJob', 'waitToPoll'],
              },
            ],
            PRODUCED: 'collecting',
            UPSTREAM_FAILED: { target: '#task.refunding', actions: 'noteError' },
          },
          states: {
            resting: {
              on: {
                ASK: 'asking',
                DEADLINE: { target: 'asking', actions: 'expire' },
                CANCEL: { target: 'asking', actions: 'leave' },
              },
              exit: { type: 'cancelTimer', params: { name: 'ask' } },
            },
            asking: {
              entry: { type: 'locate', params: {} },
              on: {
                UNANSWERED: [
                  {
                    guard: 'mayAskAgain',
                    target: 'resting',
                    actions: ['countAsk', 'waitToAsk'],
                  },
                  { target: '#task.refunding', actions: 'noteEnding' },
                ],
                DEADLINE: { actions: 'expire' },
                CANCEL: { actions: 'leave' },
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
              { target: '#task.refunding', actions: 'noteError' },
            ],
            DEADLINE: { actions: 'expire' },
            CANCEL: { actions: 'leave' },
          },
        },
        settling: {
          entry: { type: 'settle', params: {} },
          on: { SETTLED: { target: '#task.completed', actions: 'noteBill' } },
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
