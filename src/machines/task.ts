import { assign, enqueueActions, setup } from 'xstate';

import {
  delayAfterMs,
  failureCode,
  laterProgress,
  MAX_CHANNELS_PER_ROUND,
  MAX_RECOLLECTIONS,
  MAX_ROUNDS,
  type TaskContext,
  type TaskEvent,
  timerParams,
} from './task-events.ts';

/**
 * Returns a reference to an action by its name. The cast is needed, because XState's types do not
 * let the actions of one `setup` name each other.
 */
const actionOf = (type: string, params: object) => ({ type, params }) as never;

/**
 * One task. It is submitted to a channel and polled, and its result is collected. Then it is
 * settled or refunded. The machine is pure: its actions only describe effects and timers. Ids,
 * random numbers and outcomes come in events. The public status is the top-level state, except that
 * `refunding` is shown as `processing`.
 *
 * If the deadline passes, or if the client leaves or cancels, a running effect is not interrupted.
 * The outcome of the effect decides how the task ends (P3, P10). So a result that exists when the
 * deadline passes is delivered and charged.
 *
 * `CANCEL` means that the client of an inline call left, so nobody will read a result: the job is
 * canceled, and the money is released at once. `CANCEL_REQUESTED` means that the organization no
 * longer wants the task. If no upstream can have it, it ends and its money is released. Otherwise
 * the upstream is requested to cancel its job, and what the upstream then reports decides (P10).
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
    restartPolls: assign({ polls: 0 }),
    recordProgress: assign({
      progress: ({ context, event }) =>
        event.type === 'PROGRESSED'
          ? laterProgress(context.progress, event.progress)
          : context.progress,
    }),
    countPoll: assign({ polls: ({ context }) => context.polls + 1 }),
    countLookup: assign({ asks: ({ context }) => context.asks + 1 }),
    countRecollection: assign({ recollections: ({ context }) => context.recollections + 1 }),
    markExpired: assign({ ending: ({ context }) => context.ending ?? 'timeout_error' }),
    markCanceled: assign({ ending: ({ context }) => context.ending ?? 'request_cancelled' }),
    recordRequest: assign({ cancel_requested: true }),
    recordEnding: assign({
      error_code: ({ context }) => context.ending ?? failureCode(context, 'upstream_error'),
    }),
    recordError: assign({
      error_code: ({ context, event }) =>
        failureCode(context, 'error_code' in event ? event.error_code : 'upstream_error'),
    }),
    recordBilling: assign({
      billing_id: ({ event }) => (event.type === 'SETTLED' ? event.billing_id : null),
    }),
  },
  guards: {
    isNew: ({ context }) => context.rounds === 0 && context.polls === 0,
    isEnding: ({ context }) => context.ending !== null,
    isUnwanted: ({ context }) => context.cancel_requested,
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
    cancel_requested: false,
    error_code: null,
    billing_id: null,
    progress: null,
  },
  initial: 'pending',
  states: {
    pending: {
      description: 'No upstream has accepted the task. Its money is held.',
      initial: 'reserved',
      states: {
        reserved: {
          description: 'The task is created, or it waits for the next attempt to submit it.',
          on: {
            ACCEPTED: {
              guard: 'isNew',
              target: 'submitting',
              actions: ['accept', 'startDeadline'],
            },
            RETRY: 'submitting',
            DEADLINE: { target: '#task.refunding', actions: ['markExpired', 'recordEnding'] },
            CANCEL: { target: '#task.refunding', actions: ['markCanceled', 'recordEnding'] },
            // No upstream has the task: each earlier submission was refused.
            CANCEL_REQUESTED: {
              target: '#task.refunding',
              actions: ['recordRequest', 'recordEnding'],
            },
          },
          exit: { type: 'cancelTimer', params: { name: 'retry' } },
        },
        submitting: {
          description: 'The task is being sent to a channel.',
          entry: 'startSubmission',
          on: {
            SUBMITTED: [
              {
                guard: 'isEnding',
                target: '#task.refunding',
                actions: ['recordJob', 'recordEnding', { type: 'cancel', params: {} }],
              },
              {
                guard: 'isUnwanted',
                target: '#task.processing.waiting',
                actions: ['recordJob', { type: 'cancel', params: {} }, 'waitToPoll'],
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
              { guard: 'isUnwanted', target: '#task.refunding', actions: 'recordEnding' },
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
              { guard: 'isUnwanted', target: '#task.processing.unknown.asking' },
              {
                target: '#task.processing.unknown.resting',
                actions: 'waitToLookUp',
              },
            ],
            DEADLINE: { actions: 'markExpired' },
            CANCEL: { actions: 'markCanceled' },
            CANCEL_REQUESTED: { actions: 'recordRequest' },
          },
        },
      },
    },
    processing: {
      description: 'An upstream may have a job for the task.',
      initial: 'waiting',
      states: {
        waiting: {
          description: 'The upstream works on the job. A timer starts the next poll.',
          on: {
            POLL: 'polling',
            // The job is polled a last time, because the result may be ready.
            DEADLINE: { target: 'polling', actions: 'markExpired' },
            CANCEL: {
              target: '#task.refunding',
              actions: ['markCanceled', 'recordEnding', { type: 'cancel', params: {} }],
            },
            // The next polls show whether the job has ended. They come as soon as after its start.
            CANCEL_REQUESTED: {
              actions: [
                'recordRequest',
                'restartPolls',
                { type: 'cancel', params: {} },
                'waitToPoll',
              ],
            },
          },
          exit: { type: 'cancelTimer', params: { name: 'poll' } },
        },
        polling: {
          description: 'The upstream is being asked for the progress of the job.',
          entry: { type: 'poll', params: {} },
          on: {
            PROGRESSED: [
              {
                guard: 'isEnding',
                target: '#task.refunding',
                actions: ['recordProgress', 'recordEnding', { type: 'cancel', params: {} }],
              },
              {
                target: 'waiting',
                actions: ['recordProgress', 'countPoll', 'waitToPoll'],
              },
            ],
            PRODUCED: 'collecting',
            UPSTREAM_FAILED: { target: '#task.refunding', actions: 'recordError' },
            DEADLINE: { actions: 'markExpired' },
            CANCEL: { actions: 'markCanceled' },
            CANCEL_REQUESTED: {
              actions: ['recordRequest', 'restartPolls', { type: 'cancel', params: {} }],
            },
          },
        },
        unknown: {
          description: 'The answer to the submission was lost, so the upstream may have a job.',
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
                guard: 'isUnwanted',
                target: 'waiting',
                actions: ['recordJob', { type: 'cancel', params: {} }, 'waitToPoll'],
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
              description: 'A timer starts the next lookup of the job.',
              on: {
                ASK: 'asking',
                DEADLINE: { target: 'asking', actions: 'markExpired' },
                CANCEL: { target: 'asking', actions: 'markCanceled' },
                CANCEL_REQUESTED: { target: 'asking', actions: 'recordRequest' },
              },
              exit: { type: 'cancelTimer', params: { name: 'ask' } },
            },
            asking: {
              description: 'The upstream is being searched for the job.',
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
                CANCEL_REQUESTED: { actions: 'recordRequest' },
              },
            },
          },
        },
        collecting: {
          description: 'The job has a result, which is being stored.',
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
          description: 'The result is stored. The charge is being booked.',
          entry: { type: 'settle', params: {} },
          on: { SETTLED: { target: '#task.completed', actions: 'recordBilling' } },
        },
      },
    },
    refunding: {
      description: 'The task cannot succeed. Its held money is being released.',
      entry: { type: 'refund', params: {} },
      on: { RELEASED: 'failed' },
      exit: { type: 'cancelTimer', params: { name: 'deadline' } },
    },
    completed: {
      description: 'The result is stored and charged.',
      type: 'final',
      entry: [{ type: 'cancelTimer', params: { name: 'deadline' } }, 'announceEnd'],
    },
    failed: {
      description: 'The task ended without a result and without a charge.',
      type: 'final',
      entry: 'announceEnd',
    },
  },
});
