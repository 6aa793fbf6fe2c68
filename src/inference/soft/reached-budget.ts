import type { ReachedLimit } from '../../../db/records/record.ts';
import type { ReachedBudget } from '../../actors/money/ledger-commands.ts';

/** Returns the facts about an exceeded budget. */
export function reachedBudget(budget: ReachedBudget): ReachedLimit {
  const { id, period, key_id, tag, resets_in_ms } = budget;
  const ownerOfAll = key_id === null ? 'organization' : 'api_key';
  const owner = tag ? 'tag' : ownerOfAll;
  const frees_in_s = Math.max(1, Math.ceil(resets_in_ms / 1_000));
  return { type: 'budget', budget_id: id, period, owner, frees_in_s };
}
