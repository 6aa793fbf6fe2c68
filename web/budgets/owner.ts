import type { Budget } from '../api/types.ts';

/** Whose spend a new budget limits. A tag is named in the form. */
export type NewOwner = 'organization' | 'tag' | { readonly api_key_id: string };

/** The tag of a budget in words, e.g. `team = search`; undefined if the budget is of no tag. */
export function tagOf({ tag }: Budget): string | undefined {
  const [named] = Object.entries(tag ?? {});
  return named?.join(' = ');
}

/** True if a budget is of the whole organization. */
export const isOfAll = (budget: Budget): boolean =>
  budget.api_key_id === null && tagOf(budget) === undefined;

/**
 * The name of a budget in a sentence, e.g. `budget of each week for team = search`. `owner` is missing where
 * the page shows the budgets of one owner.
 */
export const nameOf = ({ period }: Budget, owner?: string): string =>
  `budget of each ${period}${owner === undefined ? '' : ` for ${owner}`}`;
