import type { Recall } from '../../src/actors/money/money-hints.ts';
import type { Quotas } from '../../src/actors/money/quotas.ts';

/** A message of the bus on its way from one replica to the others. */
export type Hint<Replica> = { readonly from: Replica } & (
  | { readonly type: 'recall'; readonly recall: Recall }
  | { readonly type: 'money'; readonly organization_id: string }
  /** The sender does not know which money its transaction freed. */
  | { readonly type: 'unknown_money' }
  /** Messages are missing. */
  | { readonly type: 'gap' }
);

/** Does what the subscribers of a replica do. `last_recall`: the number that a gap reads. */
export function applyHints(quotas: Quotas, hint: Hint<unknown>, last_recall = 0): void {
  switch (hint.type) {
    case 'recall':
      quotas.onRecall(hint.recall.seq, hint.recall);
      break;
    case 'money':
      quotas.onMoneyReturned(hint.organization_id);
      break;
    default:
      for (const quota of quotas.all()) quota.onMoneyReturned();
      quotas.onRecallsMissed(last_recall);
  }
}
