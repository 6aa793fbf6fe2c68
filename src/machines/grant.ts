/**
 * A request for free money. The caller of `decideAmount` must have locked the rows of the key and
 * its organization. Amounts are in nano-USD.
 */
export interface GrantRequest {
  /** The amount that the waiting call still needs. */
  need: number;
  /** The amount that the replica requests because of its recent spend. It is at least `need`. */
  want: number;
}

/** The free money and the replicas that share it. */
export interface GrantFunds {
  /** The key's cap minus its used and held money; null = unlimited. */
  key_free: number | null;
  /** The balance of the organization. */
  balance: number;
  /** What is free in the windows of the budgets that limit the key. */
  budgets: readonly { id: string; free: number }[];
  /** The windows of the soft budgets of the key, which refuse nothing. Most keys have none. */
  soft?: readonly SoftFunds[];
  /** The number of live replicas, at least 1. Each of them may need a part of the free money. */
  replicas: number;
}

/** What is free in the window of a soft budget. */
interface SoftFunds {
  id: string;
  /** The limit minus the used and held money. Negative if they are more. */
  free: number;
  /** True if the used money has reached the limit. Then no return of held money makes any of it free. */
  is_spent: boolean;
}

/** The amount that is given, or the limit that is too low. */
export type GrantDecision =
  /**
   * `exact` is true if more than `need` was wanted, but only `need` is given. `crowded_id` is a soft budget that
   * `need` exceeds only because money is held. Then `exact` is always true, so that the replica returns at once
   * what the call does not use.
   */
  | { type: 'given'; amount: number; exact: boolean; crowded_id?: string }
  /**
   * `bound` says whether the key, a budget or the organization has too little money. It decides which 402
   * error the client gets (spec: Errors). `budget_id` is the budget if `bound` is `budget`. `free` is the
   * money that is left.
   */
  | { type: 'short'; bound: MoneyBound; budget_id?: string; free: number };

/** What limits the money of a key. */
type MoneyBound = 'key' | 'budget' | 'organization';

/**
 * Decides how much money is given. If `need` is free, at least `need` is given. More than `need` is
 * given only up to half of a replica's equal share of the free money. So the amounts shrink near
 * the cap, until only `need` is given. A soft budget shrinks the amounts too, but never below `need`.
 */
export function decideAmount(request: GrantRequest, funds: GrantFunds): GrantDecision {
  const tightest = tightestOf(funds);
  const free = Math.max(0, tightest.free);
  if (request.need > free) return { type: 'short', ...tightest, free };
  const { room, crowded_id } = softRoom(request.need, funds.soft ?? []);
  const fairShare = Math.floor(Math.min(free, room) / (2 * funds.replicas));
  const amount = Math.max(request.need, Math.min(request.want, fairShare));
  const exact = amount === request.need && amount < request.want;
  return crowded_id === undefined
    ? { type: 'given', amount, exact }
    : { type: 'given', amount, exact: true, crowded_id };
}

/**
 * Returns how much of the free money may be given beyond `need`. While held money may return to a soft budget,
 * each call gets its exact amount, so that the next call is compared with the limit again. A budget that is spent
 * stays reached, so it shrinks nothing.
 */
function softRoom(need: number, soft: readonly SoftFunds[]) {
  let room = Number.POSITIVE_INFINITY;
  let crowded_id: string | undefined;
  for (const { id, free, is_spent } of soft) {
    if (need <= free) room = Math.min(room, free);
    else if (!is_spent) {
      room = 0;
      crowded_id ??= id;
    }
  }
  return { room, crowded_id };
}

/** Returns what has the least free money. If several have the same, the key comes first, then the budgets. */
function tightestOf({ key_free, balance, budgets }: GrantFunds) {
  let tightest: { bound: MoneyBound; budget_id?: string; free: number } = {
    bound: 'key',
    free: key_free ?? Number.MAX_SAFE_INTEGER,
  };
  for (const { id: budget_id, free } of budgets) {
    if (free < tightest.free) tightest = { bound: 'budget', budget_id, free };
  }
  return balance < tightest.free ? { bound: 'organization' as const, free: balance } : tightest;
}
