import type { Budget } from '../api/types.ts';

/** A budget may limit the calls with a tag, e.g. `{"team": "search"}`, instead of a key or the organization. */
type Tagged = Budget & { readonly tag?: Readonly<Record<string, string>> | null };

/** The tag of a budget in words, e.g. `team = search`; undefined if the budget is of no tag. */
export function tagOf({ tag }: Tagged): string | undefined {
  const [named] = Object.entries(tag ?? {});
  return named?.join(' = ');
}

/** True if a budget is of the whole organization. */
export const isOfAll = (budget: Budget): boolean =>
  budget.api_key_id === null && tagOf(budget) === undefined;
