import { assign, setup } from 'xstate';

/**
 * The quota of one API key on one replica.
 *
 * The machine admits calls in memory, up to the amount of a grant. A grant is money that the ledger
 * has already committed to this replica. So an admission takes microseconds and never overspends:
 * `settled + reserved <= granted` holds in every state. All amounts are nano-USD. `verdict` is the
 * result of the latest event.
 */
export interface QuotaContext extends QuotaSums {
  verdict: QuotaVerdict;
}

/** The sums of a grant. A call changes all but `granted`. Most calls change only sums, no state. */
export interface QuotaSums {
  /** The amount of the grant: the money that the ledger gave, minus the money that was returned. */
  granted: number;
  /** The money charged to the grant, including charges that are not committed yet. */
  settled: number;
  /** The money reserved for calls in flight. */
  reserved: number;
  in_flight: number;
}

/**
 * - `admitted`: the amount is reserved. Events that admit no call have this verdict if they were
 *   applied, e.g. a new grant.
 * - `short`: the grant does not cover the amount. `missing` is the nano-USD that the grant lacks.
 * - `refused`: the state does not allow the call.
 * - `returned`: unused money left the grant. The quota actor must return it to the ledger.
 */
export type QuotaVerdict =
  | { type: 'none' }
  | { type: 'admitted' }
  | { type: 'short'; missing: number }
  | { type: 'refused'; reason: QuotaRefusal }
  | { type: 'returned'; amount: number };

/** Why the machine admits no call. */
export type QuotaRefusal = 'exhausted' | 'inactive' | 'suspended' | 'revoked' | 'expired';

export type QuotaEvent =
  /** A call needs `amount`. */
  | { type: 'RESERVE'; amount: number }
  /** A call in flight needs `amount` more. */
  | { type: 'EXTEND'; amount: number }
  /**
   * How all calls since the last event changed the sums. Each of these calls was admitted, charged
   * or released without an event (see `admitCall`, `chargeCall`, `releaseCall`).
   */
  | { type: 'CALLS'; reserved: number; settled: number; in_flight: number }
  /**
   * The charges in the grant's row are `amount` less than `settled`, because the ledger rejected a
   * charge, or because its usage line existed already.
   */
  | { type: 'UNBOOKED'; amount: number }
  /** The quota actor requests a larger grant. */
  | { type: 'REFILL' }
  /**
   * The ledger committed a grant, and `granted` is its amount now. `exact` is true if the ledger
   * gave only the `need` of the request although its `want` was more, or if the command was applied
   * before.
   */
  | { type: 'GRANTED'; granted: number; exact: boolean }
  /**
   * The ledger granted no money, or none beyond what a call needs above a soft budget. `gone` is true if all money is spent and no call in flight can
   * free any.
   */
  | { type: 'REFUSED'; gone: boolean }
  /**
   * Another replica or another key needs the unused money of this grant, so all of it is returned.
   */
  | { type: 'RECALLED' }
  /** The grant's row was closed. The next grant is a new row, so all sums start at 0. */
  | { type: 'REPLACED' }
  /** The actor returns the unused money, except `keep`. */
  | { type: 'SHRINK'; keep: number }
  /** A cap or a balance may have changed, so an earlier refusal may be wrong now. */
  | { type: 'LIMIT_CHANGED' }
  | { type: 'STATUS_CHANGED'; status: 'active' | 'inactive' | 'suspended' | 'revoked' }
  | { type: 'EXPIRED' };

/** Returns the nano-USD of the grant that are neither charged nor reserved. */
export function idleOf(sums: QuotaSums): number {
  return sums.granted - sums.settled - sums.reserved;
}

/**
 * Returns the sums after a call is admitted. The caller has checked that the grant covers `amount`.
 */
export function admitCall({ granted, settled, reserved, in_flight }: QuotaSums, amount: number) {
  return { granted, settled, reserved: reserved + amount, in_flight: in_flight + 1 };
}

/**
 * Returns the charge of an ended call, its overrun, and the sums after the charge. The charge is
 * taken from the reservation, then from the unused money of the grant. The overrun is what both do
 * not cover.
 */
export function chargeCall(sums: QuotaSums, call: { reserved: number; actual: number }) {
  const charge = Math.min(call.actual, call.reserved + idleOf(sums));
  const { granted, settled, reserved, in_flight } = sums;
  return {
    charge,
    overrun: call.actual - charge,
    sums: {
      granted,
      settled: settled + charge,
      reserved: reserved - call.reserved,
      in_flight: in_flight - 1,
    },
  };
}

/**
 * Returns the sums after a call ended without a charge. `amount` is the reservation of the call.
 */
export function releaseCall({ granted, settled, reserved, in_flight }: QuotaSums, amount: number) {
  return { granted, settled, reserved: reserved - amount, in_flight: in_flight - 1 };
}

/** Returns the sums after a call that has ended gave back `amount` of an extension. */
export function takeBackExtension(sums: QuotaSums, amount: number): QuotaSums {
  const { granted, settled, reserved, in_flight } = sums;
  return { granted, settled, reserved: reserved - amount, in_flight };
}

export const quotaMachine = setup({
  types: {
    context: {} as QuotaContext,
    events: {} as QuotaEvent,
  },
  guards: {
    isCovered: ({ context, event }) =>
      (event.type === 'RESERVE' || event.type === 'EXTEND') && event.amount <= idleOf(context),
    isGone: ({ event }) => event.type === 'REFUSED' && event.gone,
    isExact: ({ event }) => event.type === 'GRANTED' && event.exact,
    becomesActive: ({ event }) => event.type === 'STATUS_CHANGED' && event.status === 'active',
    becomesInactive: ({ event }) => event.type === 'STATUS_CHANGED' && event.status === 'inactive',
    becomesSuspended: ({ event }) =>
      event.type === 'STATUS_CHANGED' && event.status === 'suspended',
    becomesRevoked: ({ event }) => event.type === 'STATUS_CHANGED' && event.status === 'revoked',
  },
  actions: {
    admit: assign(({ context, event }) => {
      const verdict = { type: 'admitted' } as const;
      if (event.type === 'RESERVE') return { ...admitCall(context, event.amount), verdict };
      if (event.type === 'EXTEND') return { reserved: context.reserved + event.amount, verdict };
      return {};
    }),
    reportShort: assign(({ context, event }) => {
      if (event.type !== 'RESERVE' && event.type !== 'EXTEND') return {};
      return { verdict: { type: 'short', missing: event.amount - idleOf(context) } as const };
    }),
    addCalls: assign(({ context, event }) => {
      if (event.type !== 'CALLS') return {};
      return {
        reserved: context.reserved + event.reserved,
        settled: context.settled + event.settled,
        in_flight: context.in_flight + event.in_flight,
        verdict: { type: 'admitted' } as const,
      };
    }),
    undoCharge: assign(({ context, event }) =>
      event.type === 'UNBOOKED' ? { settled: context.settled - event.amount } : {},
    ),
    applyGrant: assign(({ event }) =>
      event.type === 'GRANTED'
        ? { granted: event.granted, verdict: { type: 'admitted' } as const }
        : {},
    ),
    returnIdle: assign(({ context, event }) => {
      const keep = event.type === 'SHRINK' ? event.keep : 0;
      const amount = Math.max(0, idleOf(context) - keep);
      return {
        granted: context.granted - amount,
        verdict: { type: 'returned', amount } as const,
      };
    }),
    resetSums: assign({
      granted: 0,
      settled: 0,
      reserved: 0,
      in_flight: 0,
      verdict: { type: 'none' } as const,
    }),
    refuseExhausted: assign({ verdict: { type: 'refused', reason: 'exhausted' } as const }),
    refuseInactive: assign({ verdict: { type: 'refused', reason: 'inactive' } as const }),
    refuseSuspended: assign({ verdict: { type: 'refused', reason: 'suspended' } as const }),
    refuseRevoked: assign({ verdict: { type: 'refused', reason: 'revoked' } as const }),
    refuseExpired: assign({ verdict: { type: 'refused', reason: 'expired' } as const }),
  },
}).createMachine({
  id: 'quota',
  context: { granted: 0, settled: 0, reserved: 0, in_flight: 0, verdict: { type: 'none' } },
  initial: 'open',
  // These events are taken in any state. If the key is revoked while a call runs, the call may
  // finish, and the organization pays for it.
  on: {
    CALLS: { actions: 'addCalls' },
    UNBOOKED: { actions: 'undoCharge' },
    EXTEND: [{ guard: 'isCovered', actions: 'admit' }, { actions: 'reportShort' }],
    GRANTED: { actions: 'applyGrant' },
    RECALLED: { actions: 'returnIdle' },
    SHRINK: { actions: 'returnIdle' },
    REPLACED: { actions: 'resetSums' },
    STATUS_CHANGED: [
      { guard: 'becomesActive', target: '.open' },
      { guard: 'becomesInactive', target: '.inactive' },
      { guard: 'becomesSuspended', target: '.suspended' },
      { guard: 'becomesRevoked', target: '.revoked' },
    ],
    EXPIRED: { target: '.expired' },
  },
  states: {
    open: {
      description: 'Calls are admitted if the grant covers them.',
      initial: 'ample',
      on: {
        RESERVE: [{ guard: 'isCovered', actions: 'admit' }, { actions: 'reportShort' }],
        REFUSED: [{ guard: 'isGone', target: 'exhausted' }, { target: '.exact' }],
      },
      states: {
        ample: {
          description: 'The grant has slack: more money than the present calls need.',
          on: {
            REFILL: 'refilling',
            RECALLED: { target: 'exact', actions: 'returnIdle' },
          },
        },
        refilling: {
          description:
            'A larger grant was requested. Calls that the present grant covers are admitted.',
          on: {
            GRANTED: [
              { guard: 'isExact', target: 'exact', actions: 'applyGrant' },
              { target: 'ample', actions: 'applyGrant' },
            ],
            RECALLED: { target: 'exact', actions: 'returnIdle' },
          },
        },
        exact: {
          description: 'Near the cap, the grant has no slack. Each call requests its exact amount.',
          on: {
            GRANTED: [
              { guard: 'isExact', actions: 'applyGrant' },
              { target: 'ample', actions: 'applyGrant' },
            ],
          },
        },
      },
    },
    exhausted: {
      description:
        'The key or its organization has no money left. A changed cap or balance, or a new grant, ends this state.',
      on: {
        RESERVE: [{ guard: 'isCovered', actions: 'admit' }, { actions: 'refuseExhausted' }],
        LIMIT_CHANGED: 'open.exact',
        GRANTED: { target: 'open.exact', actions: 'applyGrant' },
      },
    },
    inactive: {
      description: 'The key is switched off. No call is admitted.',
      on: { RESERVE: { actions: 'refuseInactive' } },
    },
    suspended: {
      description: 'The organization is suspended. No call is admitted.',
      on: { RESERVE: { actions: 'refuseSuspended' } },
    },
    revoked: {
      description: 'The key is revoked for ever. No call is admitted.',
      on: { RESERVE: { actions: 'refuseRevoked' }, STATUS_CHANGED: {}, EXPIRED: {} },
    },
    expired: {
      description: 'The key has expired. No call is admitted.',
      on: { RESERVE: { actions: 'refuseExpired' } },
    },
  },
});
