import type { BudgetedTag } from '../../../db/budgets/rows.ts';
import type { Tags } from '../../../db/budgets/tags.ts';

/** The values of each tag name that have a budget. */
type ValuesOfNames = ReadonlyMap<string, ReadonlySet<string>>;

/**
 * The tags that budgets limit, of all organizations. Tags are texts of clients: only those in here make any state.
 */
export class BudgetedTags {
  private organizations: ReadonlyMap<string, ValuesOfNames> = new Map();

  /** Replaces the tags of all organizations. */
  replaceAll(tags: readonly BudgetedTag[]): void {
    this.organizations = byOrganization(tags);
  }

  /** Replaces the tags of one organization. */
  replace(organization_id: string, tags: readonly BudgetedTag[]): void {
    const organizations = new Map(this.organizations);
    organizations.delete(organization_id);
    for (const [id, names] of byOrganization(tags)) organizations.set(id, names);
    this.organizations = organizations;
  }

  /**
   * Returns the tags of a call that have a budget, in the order of their names; undefined if there are none. Most
   * organizations have none, and then this is one look-up.
   */
  of(organization_id: string, tags: Tags | undefined): Tags | undefined {
    const names = this.organizations.get(organization_id);
    if (!names || !tags) return undefined;
    const limited = Object.entries(tags).filter(([name, value]) => names.get(name)?.has(value));
    if (limited.length === 0) return undefined;
    // `fromEntries` also keeps a tag that is named `__proto__`.
    return Object.fromEntries(limited.toSorted(([a], [b]) => (a < b ? -1 : 1)));
  }
}

function byOrganization(tags: readonly BudgetedTag[]): Map<string, ValuesOfNames> {
  const organizations = new Map<string, Map<string, Set<string>>>();
  for (const { organization_id, name, value } of tags) {
    const names = organizations.get(organization_id) ?? new Map<string, Set<string>>();
    const values = names.get(name) ?? new Set();
    organizations.set(organization_id, names.set(name, values.add(value)));
  }
  return organizations;
}
