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
    step: assign({ steps: ({ context }) => context.steps + 1 }),
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
        STEP: { actions: 'step' },
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

/**
 * Returns the kind whose machine throws at a step as long as `isBroken` says so. Its replica must only
 * observe: a replica that cannot compute an event cannot commit it.
 */
export function brittleWalkerKind(isBroken: () => boolean): DurableKind {
  const step = assign<{ steps: number }, { type: 'STEP' }, undefined, { type: 'STEP' }, never>({
    steps: ({ context }) => {
      if (isBroken()) throw new Error('the machine threw');
      return context.steps + 1;
    },
  });
  return { ...walkerKind, machine: walkerMachine.provide({ actions: { step } } as never) };
}
