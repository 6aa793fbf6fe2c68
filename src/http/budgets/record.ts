import type { ShownBudget } from '../../../db/budgets/rows.ts';
import { tagOf } from '../../../db/budgets/tags.ts';
import type { WhenReached } from '../../../db/when-reached.ts';
import { usd } from '../../json/usd.ts';

/** Returns what an organization chose for a budget, i.e. what `PATCH` changes. */
export function budgetSettings(budget: ShownBudget) {
  return { limit_amount: usd(budget.limit_nano_usd), when_reached: choiceOf(budget) };
}

/** Returns what happens to a call beyond a budget, as the organization chose it. */
export function choiceOf({
  when_reached,
  move_to,
}: Pick<ShownBudget, 'when_reached' | 'move_to'>): WhenReached {
  return when_reached === 'move' ? { move_to: move_to ?? '' } : when_reached;
}

/** Returns the columns of a choice. */
export function columnsOf(choice: WhenReached): Pick<ShownBudget, 'when_reached' | 'move_to'> {
  return typeof choice === 'string'
    ? { when_reached: choice, move_to: null }
    : { when_reached: 'move', move_to: choice.move_to };
}

/** Returns what the audit log says of a budget. */
export function auditedBudget(budget: ShownBudget) {
  const { key_id: api_key_id, period } = budget;
  const tag = tagOf(budget);
  // A computed name makes a member also of `__proto__`.
  return {
    ...{ api_key_id, tag: tag && { [tag.name]: tag.value }, period },
    ...budgetSettings(budget),
  };
}

/** Returns a budget with its present window, as its organization sees it. */
export function budgetRecord(budget: ShownBudget) {
  const { id, limit_nano_usd, used_nano_usd, held_nano_usd, starts_on, time_zone } = budget;
  return {
    ...{ object: 'budget', id, ...auditedBudget(budget) },
    used_amount: usd(used_nano_usd),
    held_amount: usd(held_nano_usd),
    free_amount: usd(Math.max(0, limit_nano_usd - used_nano_usd - held_nano_usd)),
    window: { starts_on, resets_at: budget.resets_at.toISOString(), time_zone },
    created_at: budget.created_at.toISOString(),
  };
}
