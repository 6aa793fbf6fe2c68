/** The soft budgets that a quota actor knows to be exceeded. */
import type { ReachedBudget } from './ledger-commands.ts';
import { NONE_REACHED } from './reservation.ts';

/** A soft budget that is exceeded. */
export interface KnownBudget extends Omit<ReachedBudget, 'resets_in_ms'> {
  /** When its next window begins, by the clock of the actor, ms. */
  readonly resets_at_ms: number;
}

/** Nearly all keys reach no soft budget, so they share one list. */
export const NONE_KNOWN: readonly KnownBudget[] = [];

/** Returns the budgets of an answer of the ledger. The request for it was sent at `sent_at_ms`. */
export function knownBudgets(
  reached: readonly ReachedBudget[] | undefined,
  sent_at_ms: number,
): readonly KnownBudget[] {
  if (!reached) return NONE_KNOWN;
  return reached.map(({ resets_in_ms, ...budget }) => ({
    ...{ ...budget, resets_at_ms: sent_at_ms + resets_in_ms },
  }));
}

/** Returns the budgets as they are now. */
export function reachedAt(
  known: readonly KnownBudget[],
  now: () => number,
): readonly ReachedBudget[] {
  if (known.length === 0) return NONE_REACHED;
  const now_ms = now();
  return known.map(({ resets_at_ms, ...budget }) => ({
    ...{ ...budget, resets_in_ms: Math.max(0, resets_at_ms - now_ms) },
  }));
}
