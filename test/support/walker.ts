import { assign, setup } from 'xstate';
import type { DurableKind } from '../../src/actors/durable/kind.ts';

/** A long machine without effects. It counts its steps, and can set and cancel a timer. */
const walkerMachine = setup({
  types: {
    context: {} as { steps: number },
    events: {} as
      | { type: 'STEP' }
      | { type: 'REST'; delay_ms: number }
      | { type: 'GET_UP' }
      | { type: 'ARRIVE' },
  },
  actions: {
    note: () => undefined,
    setTimer: (_, _params: { name: string; delay_ms: number; event: { type: string } }) =>
      undefined,
    cancelTimer: (_, _params: { name: string }) => undefined,
  },
}).createMachine({
  id: 'walker',
  context: { steps: 0 },
  initial: 'walking',
  states: {
    walking: {
      on: {
        STEP: { actions: [assign({ steps: ({ context }) => context.steps + 1 }), 'note'] },
        REST: {
          actions: {
            type: 'setTimer',
            params: ({ event }) => ({
              name: 'rest',
              delay_ms: event.delay_ms,
              event: { type: 'STEP' },
            }),
          },
        },
        GET_UP: { actions: { type: 'cancelTimer', params: { name: 'rest' } } },
        ARRIVE: 'arrived',
      },
    },
    arrived: { type: 'final' },
  },
});

/** The durable kind `walker`. */
export const walkerKind: DurableKind = {
  kind: 'walker',
  machine: walkerMachine,
  version: 1,
  effects: {},
  effect_timeout_ms: 1_000,
  max_attempts: 1,
  eventOfDeadEffect: () => ({ type: 'STEP' }),
};

/** Returns the kind whose live actors throw after a step as long as `isBroken` says so. */
export function brittleWalkerKind(isBroken: () => boolean): DurableKind {
  const note = () => {
    if (isBroken()) throw new Error('the machine threw');
  };
  return { ...walkerKind, machine: walkerMachine.provide({ actions: { note } }) };
}
