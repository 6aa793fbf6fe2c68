import { readBudgetedTags } from '../../db/budgets/rows.ts';
import type { Sql } from '../../db/client.ts';
import { BudgetedTags } from '../actors/money/budgeted-tags.ts';

/** The tags that budgets limit, as this replica knows them. */
export interface RunningBudgetedTags {
  readonly tags: BudgetedTags;
  /** Reads the committed tags of one organization, or of all, and applies them. */
  readonly read: (organization_id?: string) => Promise<void>;
}

/** Opens the budgeted tags of organizations. The caller reads them first. */
export function openBudgetedTags(sql: Sql): RunningBudgetedTags {
  const tags = new BudgetedTags();
  let last: Promise<unknown> = Promise.resolve();
  const apply = async (organization_id: string | undefined) => {
    const rows = await readBudgetedTags(sql, organization_id);
    if (organization_id === undefined) tags.replaceAll(rows);
    else tags.replace(organization_id, rows);
  };
  return {
    tags,
    read(organization_id) {
      // One read runs at a time, so an older result never replaces a newer one.
      const read = last.catch(() => undefined).then(() => apply(organization_id));
      last = read;
      return read;
    },
  };
}
