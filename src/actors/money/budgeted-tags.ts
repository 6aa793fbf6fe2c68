import type { BudgetedTag } from '../../../db/budgets/rows.ts';
import type { Tags } from '../../../db/budgets/tags.ts';

/** The values of each tag name that have a budget, each with the tag alone. */
type ValuesOfNames = ReadonlyMap<string, ReadonlyMap<string, Tags>>;

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
   * organizations have none, and then this is one look-up. All calls with one such tag get the same object.
   */
  of(organization_id: string, tags: Tags | undefined): Tags | undefined {
    const names = this.organizations.get(organization_id);
    if (!names || !tags) return undefined;
    const limited: [name: string, value: string][] = [];
    let alone: Tags | undefined;
    for (const name of Object.keys(tags)) {
      const value = tags[name] as string;
      const found = names.get(name)?.get(value);
      if (!found) continue;
      alone = found;
      limited.push([name, value]);
    }
    if (limited.length <= 1) return alone;
    return Object.fromEntries(limited.toSorted(([a], [b]) => (a < b ? -1 : 1)));
  }
}

function byOrganization(tags: readonly BudgetedTag[]): Map<string, ValuesOfNames> {
  const organizations = new Map<string, Map<string, Map<string, Tags>>>();
  for (const { organization_id, name, value } of tags) {
    const names = organizations.get(organization_id) ?? new Map<string, Map<string, Tags>>();
    const values = names.get(name) ?? new Map<string, Tags>();
    // `fromEntries` also keeps a tag that is named `__proto__`.
    const alone = Object.fromEntries([[name, value]]);
    organizations.set(organization_id, names.set(name, values.set(value, alone)));
  }
  return organizations;
}
