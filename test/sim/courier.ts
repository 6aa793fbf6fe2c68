import { setup } from 'xstate';
import type { DurableKind } from '../../src/actors/durable/kind.ts';
import type { VersionedMachine } from '../../src/replay/versioned.ts';

/**
 * A small machine with all features of a durable actor: effects, retries, a timer that is set and
 * canceled, late reports, final states. It delivers a parcel.
 */
export const courierMachine = setup({
  types: {
    context: {} as { attempts: number },
    events: {} as
      | { type: 'SEND' }
      | { type: 'DELIVERED' }
      | { type: 'FAILED' }
      | { type: 'DEADLINE' }
      | { type: 'RETURNED' }
      | { type: 'NUDGE' },
  },
  actions: {
    deliver: (_, _params: { parcel: string }) => undefined,
    takeBack: (_, _params: { parcel: string }) => undefined,
    setTimer: (_, _params: { name: string; delay_ms: number; event: { type: string } }) =>
      undefined,
    cancelTimer: (_, _params: { name: string }) => undefined,
  },
}).createMachine({
  id: 'courier',
  context: { attempts: 0 },
  initial: 'ready',
  states: {
    ready: {
      on: {
        SEND: {
          target: 'delivering',
          actions: [
            { type: 'deliver', params: { parcel: 'p' } },
            {
              type: 'setTimer',
              params: { name: 'deadline', delay_ms: 5_000, event: { type: 'DEADLINE' } },
            },
          ],
        },
      },
    },
    delivering: {
      on: {
        DELIVERED: {
          target: 'delivered',
          actions: { type: 'cancelTimer', params: { name: 'deadline' } },
        },
        FAILED: { target: 'returning', actions: { type: 'takeBack', params: { parcel: 'p' } } },
        DEADLINE: { target: 'returning', actions: { type: 'takeBack', params: { parcel: 'p' } } },
      },
    },
    returning: { on: { RETURNED: 'returned', FAILED: 'returned' } },
    delivered: { type: 'final' },
    returned: { type: 'final' },
  },
});

export const versionedCourier: VersionedMachine = { machine: courierMachine, version: 1 };

/** The receiver of the effects. It recognises repetitions by their key, like a provider. */
export interface Outside {
  act(effect: string, actorId: string, key: string): Promise<'done' | 'failed'>;
}

/** Returns the durable kind `courier`, whose effects call `outside`. */
export function courierKind(outside: Outside): DurableKind {
  const effect = (name: string, done: string) => ({
    [name]: async (
      _: unknown,
      { actor_id, idempotency_key }: { actor_id: string; idempotency_key: string },
    ) => {
      const outcome = await outside.act(name, actor_id, idempotency_key);
      return { type: outcome === 'done' ? done : 'FAILED' };
    },
  });
  return {
    kind: 'courier',
    ...versionedCourier,
    effects: { ...effect('deliver', 'DELIVERED'), ...effect('takeBack', 'RETURNED') },
    effect_timeout_ms: 60_000,
    max_attempts: 8,
    eventOfDeadEffect: () => ({ type: 'FAILED' }),
  };
}
