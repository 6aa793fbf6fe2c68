import { api } from '../api/client.ts';
import { ApiError } from '../api/error.ts';
import type { Budget } from '../api/types.ts';
import { Amount } from '../parts/amount.ts';
import { isSameChoice, type WhenReached } from './choice.ts';
import { budgetPath } from './data.ts';
import { amountOf } from './limit-field.tsx';

/** What a person can change in a budget. */
export interface BudgetForm {
  /** USD, as a person types it. */
  readonly limit: string;
  readonly choice: WhenReached;
}

/** The form of a budget, as it is. */
export const formOf = ({ limit_amount, when_reached }: Budget): BudgetForm => ({
  limit: Amount.ofUsd(limit_amount).exact.replace(/[$,]/g, ''),
  choice: when_reached,
});

/** Returns the fields that differ. */
export const changesOf = (before: BudgetForm, after: BudgetForm): Partial<BudgetForm> => ({
  ...(after.limit === before.limit ? {} : { limit: after.limit }),
  ...(isSameChoice(after.choice, before.choice) ? {} : { choice: after.choice }),
});

export const hasChanges = (changes: Partial<BudgetForm>): boolean =>
  Object.keys(changes).length > 0;

/** Returns the form with the fields that the person changed, and all others as they are now. */
export const rebased = (before: BudgetForm, form: BudgetForm, now: BudgetForm): BudgetForm => ({
  ...now,
  ...changesOf(before, form),
});

/** The body of a PATCH. */
export const bodyOf = ({ limit, choice }: Partial<BudgetForm>): object => ({
  ...(limit === undefined ? {} : { limit_amount: amountOf(limit) }),
  ...(choice === undefined ? {} : { when_reached: choice }),
});

/** The budget after `changeBudget`. */
interface Changed {
  readonly value: Budget;
  readonly etag: string | undefined;
  /** False if somebody else changed the budget, so that it was not changed again. */
  readonly isChanged: boolean;
}

/**
 * Changes a budget if its settings still are those of `seen`. The list of budgets has no ETags, so the budget is
 * read first, and the change carries its ETag.
 */
export async function changeBudget(seen: Budget, body: object): Promise<Changed> {
  const path = budgetPath(seen.id);
  const now = await api.getTagged<Budget>(path);
  if (hasChanges(changesOf(formOf(seen), formOf(now.value)))) return { ...now, isChanged: false };
  try {
    return { ...(await api.patchTagged<Budget>(path, body, now.etag)), isChanged: true };
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 412)) throw error;
    return { ...(await api.getTagged<Budget>(path)), isChanged: false };
  }
}
