/** The tags of calls that budgets limit: pairs of a name and a value of the client's `metadata`. */

/** Tags by their names. */
export type Tags = Readonly<Record<string, string>>;

/** What a budget limits. */
export interface BudgetScope {
  readonly organization_id: string;
  /** The key that the budget limits; null = all keys of the organization. */
  readonly key_id: string | null;
  /** The tag whose calls the budget limits; null = calls with any tags or none. */
  readonly tag_name: string | null;
  readonly tag_value: string | null;
}

/** Returns the tag that a budget limits; null = none. */
export function tagOf({
  tag_name: name,
  tag_value: value,
}: Pick<BudgetScope, 'tag_name' | 'tag_value'>): { name: string; value: string } | null {
  return name === null || value === null ? null : { name, value };
}

/** Money that was set aside for calls of a key. */
export interface TaggedMoney {
  readonly organization_id: string;
  readonly key_id: string;
  /** The tags of its calls that had a budget when it was set aside; null = none. */
  readonly tags: Tags | null;
}

/** True if a budget limits this money. */
export function isLimitedBy(budget: BudgetScope, money: TaggedMoney): boolean {
  if (budget.organization_id !== money.organization_id) return false;
  if (budget.tag_name !== null) return hasTag(money.tags, budget.tag_name, budget.tag_value);
  return budget.key_id === null || budget.key_id === money.key_id;
}

/** True if `tags` have the tag. */
export function hasTag(tags: Tags | null, name: string, value: string | null): boolean {
  return tags !== null && Object.hasOwn(tags, name) && tags[name] === value;
}
