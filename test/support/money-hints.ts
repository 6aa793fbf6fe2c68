/** Publishers of money hints for tests without a bus. */
import type { MoneyHintPublisher } from '../../src/actors/money/money-hints.ts';
import type { Quotas } from '../../src/actors/money/quotas.ts';

/** Loses every hint, so that calls learn about freed money only by their own retries. */
export const noHints: MoneyHintPublisher = {
  publish: () => undefined,
  publishUnknown: () => undefined,
};

/** Passes all hints to the quota actors of this process at once, as the bus does. */
export function hintsTo(quotas: () => Iterable<Quotas>): MoneyHintPublisher {
  return {
    publish({ recalls, organization_ids }) {
      for (const each of quotas()) {
        for (const recall of recalls) each.onRecall(recall.seq, recall);
        for (const organization_id of organization_ids) each.onMoneyReturned(organization_id);
      }
    },
    publishUnknown() {
      for (const each of quotas()) {
        for (const quota of each.all()) quota.onMoneyReturned();
      }
    },
  };
}
