/** The budget that is the cap of a simulated run, and the tags of its calls. */
import type { Sql } from 'postgres';
import { readBudgetedTags } from '../../db/budgets/rows.ts';
import { BudgetedTags } from '../../src/actors/money/budgeted-tags.ts';
import { makeBudget } from '../support/budgets.ts';
import type { Random } from './random.ts';

const TAG = ['team', 'blue'] as const;
const SECOND_TAG = ['env', 'prod'] as const;

/** What the budget limits. With a tag, each replica has two actors that share the budget. */
export type SimulatedBudget = 'organization' | 'tag';

/** Makes the budget of a run. Returns the budgeted tags, as each replica knows them. */
export async function makeCap(
  sql: Sql,
  organization_id: string,
  budget: SimulatedBudget | undefined,
  cap: number,
): Promise<BudgetedTags> {
  const owner = { organization_id, key_id: null };
  const tags = new BudgetedTags();
  if (budget === 'organization') await makeBudget(sql, owner, 'month', cap);
  if (budget === 'tag') {
    await makeBudget(sql, { ...owner, tag: TAG }, 'month', cap);
    await makeBudget(sql, { ...owner, tag: SECOND_TAG }, 'week', cap * 2);
    tags.replaceAll(await readBudgetedTags(sql, organization_id));
  }
  return tags;
}

/** Returns the tags of a call: all have the budgeted tag and one without a budget, some a second budgeted one. */
export function tagsOfCall(random: Random, budget: SimulatedBudget | undefined, name: string) {
  const second = budget === 'tag' && random.chance(0.5) ? [SECOND_TAG] : [];
  return Object.fromEntries([...second, TAG, ['unknown', name]]);
}
