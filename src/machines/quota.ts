import { assign, setup } from 'xstate';

/**
 * The quota of one API key on one replica (design 3 and 4).
 *
 * It admits calls in memory, inside a grant that a committed row sets aside, so an admission costs
 * microseconds and can still never overspend: `settled + reserved <= granted` holds in every state.
 * All amounts are nano-USD. `verdict` is the answer to the event just taken.
 */
export interface QuotaContext extends QuotaSums {
  verdict: QuotaVerdict;
}

/** What calls move: most of them admit, charge and release without any change of state. */
export interface QuotaSums {
  /** The committed grant, cumulative: what was ever set aside in the row that is open now. */
  granted: number;
  /** Charged against it, committed or on its way to the lane. */
  settled: number;
  /** Set aside for calls in flight. */
  reserved: number;
  in_flight: number;
}

/**
 * - `admitted`: the amount is reserved, or the event is done.
 * - `short`: the grant does not cover it; `missing` more is needed.
 * - `refused`: no amount can be admitted in this state.
 * - `charged`: a settlement; `overrun` is what neither the reservation nor the grant covered.
 * - `returned`: idle money leaves the grant; the row must follow.
 */
export type QuotaVerdict =
  | { type: 'none' }
  | { type: 'admitted' }
  | { type: 'short'; missing: number }
  | { type: 'refused'; reason: QuotaRefusal }
  | { type: 'charged'; charge: number; overrun: number }
  | { type: 'returned'; amount: number };

export type QuotaRefusal = 'exhausted' | 'inactive' | 'suspended' | 'revoked' | 'expired';

export type QuotaEvent =
  /** A call asks for `amount`. */
  | { type: 'RESERVE'; amount: number }
  /** A call in flight asks for more. */
  | { type: 'EXTEND'; amount: number }
  /** A call ended: `actual` is its price, `reserved` what was set aside for it. */
  | { type: 'SETTLE'; reserved: number; actual: number }
  /** A call ended without anything delivered. */
  | { type: 'RELEASE'; reserved: number }
  /**
   * What calls did since the last event, in one: the sum of their covered RESERVE, SETTLE and RELEASE
   * (see `admitCall`, `chargeCall`, `releaseCall`).
   */
  | { type: 'CALLS'; reserved: number; settled: number; in_flight: number }
  /** The ledger would not book a charge: it was never made. */
  | { type: 'UNBOOKED'; amount: number }
  /** The shell asked the lane for more. */
  | { type: 'REFILL' }
  /** The committed row after a grant; `exact` = it has no slack beyond what was needed. */
  | { type: 'GRANTED'; granted: number; exact: boolean }
  /** The lane could not give it; `gone` = nothing is left and nothing in flight can come back. */
  | { type: 'REFUSED'; gone: boolean }
  /** Another replica needs what lies idle here. */
  | { type: 'RECALLED' }
  /** The grant's row was closed: the next one starts at nothing. */
  | { type: 'REPLACED' }
  /** Idle money goes back, all but `keep`. */
  | { type: 'SHRINK'; keep: number }
  /** A cap or a balance changed: a refusal made before may be wrong now. */
  | { type: 'LIMIT_CHANGED' }
  | { type: 'STATUS_CHANGED'; status: 'active' | 'inactive' | 'suspended' | 'revoked' }
  | { type: 'EXPIRED' };

/** Nano-USD of the grant that nobody uses. */
export function idleOf(sums: QuotaSums): number {
  return sums.granted - sums.settled - sums.reserved;
}

/** A covered RESERVE: the sums after it. */
export function admitCall({ granted, settled, reserved, in_flight }: QuotaSums, amount: number) {
  return { granted, settled, reserved: reserved + amount, in_flight: in_flight + 1 };
}

/** A SETTLE: beyond its reservation a call may still use what lies idle in the grant, and no more. */
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

/** A RELEASE: the sums after it. */
export function releaseCall({ granted, settled, reserved, in_flight }: QuotaSums, amount: number) {
  return { granted, settled, reserved: reserved - amount, in_flight: in_flight - 1 };
}

export const quotaMachine = setup({
  types: {
    context: {} as QuotaContext,
    events: {} as QuotaEvent,
  },
  guards: {
    covered: ({ context, event }) =>
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
    sayShort: assign(({ context, event }) => {
      if (event.type !== 'RESERVE' && event.type !== 'EXTEND') return {};
      return { verdict: { type: 'short', missing: event.amount - idleOf(context) } as const };
    }),
    charge: assign(({ context, event }) => {
      if (event.type !== 'SETTLE') return {};
      const { sums, charge, overrun } = chargeCall(context, event);
      return { ...sums, verdict: { type: 'charged', charge, overrun } as const };
    }),
    release: assign(({ context, event }) => {
      if (event.type !== 'RELEASE') return {};
      const verdict = { type: 'admitted' } as const;
      return { ...releaseCall(context, event.reserved), verdict };
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
    unbook: assign(({ context, event }) =>
      event.type === 'UNBOOKED' ? { settled: context.settled - event.amount } : {},
    ),
    takeGrant: assign(({ event }) =>
      event.type === 'GRANTED'
        ? { granted: event.granted, verdict: { type: 'admitted' } as const }
        : {},
    ),
    giveBack: assign(({ context, event }) => {
      const keep = event.type === 'SHRINK' ? event.keep : 0;
      const amount = Math.max(0, idleOf(context) - keep);
      return {
        granted: context.granted - amount,
        verdict: { type: 'returned', amount } as const,
      };
    }),
    startOver: assign({
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
  // Calls in flight end in any state: a revoked key still pays for what it already consumed, and
  // a call that was admitted may finish.
  on: {
    SETTLE: { actions: 'charge' },
    RELEASE: { actions: 'release' },
    CALLS: { actions: 'addCalls' },
    UNBOOKED: { actions: 'unbook' },
    EXTEND: [{ guard: 'covered', actions: 'admit' }, { actions: 'sayShort' }],
    GRANTED: { actions: 'takeGrant' },
    RECALLED: { actions: 'giveBack' },
    SHRINK: { actions: 'giveBack' },
    REPLACED: { actions: 'startOver' },
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
      initial: 'ample',
      on: {
        RESERVE: [{ guard: 'covered', actions: 'admit' }, { actions: 'sayShort' }],
        REFUSED: [{ guard: 'isGone', target: 'exhausted' }, { target: '.exact' }],
      },
      states: {
        /** The grant has slack. */
        ample: {
          on: {
            REFILL: 'refilling',
            RECALLED: { target: 'exact', actions: 'giveBack' },
          },
        },
        /** More was asked for; calls that fit are still admitted. */
        refilling: {
          on: {
            GRANTED: [
              { guard: 'isExact', target: 'exact', actions: 'takeGrant' },
              { target: 'ample', actions: 'takeGrant' },
            ],
            RECALLED: { target: 'exact', actions: 'giveBack' },
          },
        },
        /** Near the cap: nothing lies idle, every call is set aside exactly. */
        exact: {
          on: {
            GRANTED: [
              { guard: 'isExact', actions: 'takeGrant' },
              { target: 'ample', actions: 'takeGrant' },
            ],
          },
        },
      },
    },
    /** The money is gone, for this key or its organization, until a cap or a balance changes. */
    exhausted: {
      on: {
        RESERVE: [{ guard: 'covered', actions: 'admit' }, { actions: 'refuseExhausted' }],
        LIMIT_CHANGED: 'open.exact',
        GRANTED: { target: 'open.exact', actions: 'takeGrant' },
      },
    },
    inactive: { on: { RESERVE: { actions: 'refuseInactive' } } },
    suspended: { on: { RESERVE: { actions: 'refuseSuspended' } } },
    revoked: { on: { RESERVE: { actions: 'refuseRevoked' }, STATUS_CHANGED: {}, EXPIRED: {} } },
    expired: { on: { RESERVE: { actions: 'refuseExpired' } } },
  },
});
