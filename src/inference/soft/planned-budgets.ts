/** Soft budgets in plans of calls that are not sent. */
import type { ShownBudget } from '../../../db/budgets/rows.ts';
import { isLimitedBy, type TaggedMoney, tagOf } from '../../../db/budgets/tags.ts';
import type { ReachedBudget } from '../../actors/money/ledger-commands.ts';

/**
 * Returns the soft budgets that a call of `amount` nano-USD would exceed if it were admitted alone: what was used
 * counts, and money that calls in flight hold does not, because a part of it returns.
 */
export function budgetsReachedBy(
  budgets: readonly ShownBudget[],
  money: TaggedMoney,
  amount: number,
  now_ms: number,
): ReachedBudget[] {
  return budgets.flatMap((budget) => {
    const { id, period, key_id, when_reached, move_to, resets_at } = budget;
    if (when_reached === 'refuse' || !isLimitedBy(budget, money)) return [];
    const free = budget.limit_nano_usd - budget.used_nano_usd;
    if (free >= amount) return [];
    const resets_in_ms = Math.max(0, resets_at.getTime() - now_ms);
    return [
      {
        ...{ id, period, key_id, when_reached, move_to, resets_in_ms },
        ...{ tag: tagOf(budget), is_spent: free <= 0 },
      },
    ];
  });
}
