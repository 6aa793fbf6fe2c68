import type { TransactionSql } from 'postgres';
import type { Tags } from '../budgets/tags.ts';
import type { LockedRows } from './rows.ts';

/** An open grant or hold that has uncharged money. */
export interface OpenMoney {
  organization_id: string;
  key_id: string;
  /** Id of the grant or hold. */
  id: string;
  /** True for a grant. A recall, i.e. a request to return unused grants, does not reach holds. */
  recallable: boolean;
  /**
   * Uncharged nano-USD. In a grant, one part is unused and the other part is reserved for calls in
   * flight. Only the grant's replica knows the two parts.
   */
  open_nano_usd: number;
  recall_acked: number;
  /** The day of the grant or hold; null if an earlier version made it. */
  day: string | null;
  /** Its tags that have budgets; null = none. */
  tags: Tags | null;
}

/**
 * Returns the open grants and holds of organizations that have uncharged money: it is unused, or the cap of a
 * key counts it and nobody posted that yet. With these rows,
 * the ledger distinguishes money in flight from spent money.
 */
export function findOpenMoney(
  tx: TransactionSql,
  organization_ids: readonly string[],
): Promise<OpenMoney[]> {
  return tx<OpenMoney[]>`
    select organization_id, key_id, id, true as recallable,
      granted_nano_usd - settled_nano_usd + uncharged_nano_usd - uncharged_posted_nano_usd
        as open_nano_usd, recall_acked, day::text, tags
    from quota_grant
    where status = 'open' and organization_id = any(${organization_ids}::text[])
      and (granted_nano_usd > settled_nano_usd or uncharged_nano_usd > uncharged_posted_nano_usd)
    union all
    select organization_id, key_id, id, false, amount_nano_usd, 0, day::text, tags from hold
    where status = 'held' and amount_nano_usd > 0 and organization_id = any(${organization_ids}::text[])`;
}

/**
 * Returns the open grants and holds among the locked rows that have uncharged money. The amounts are
 * those in memory, which this transaction may not have written yet.
 */
export function openMoneyOf({ grants, holds }: LockedRows): OpenMoney[] {
  const open = [...grants.values()].map((grant) => ({
    ...grant,
    recallable: true,
    open_nano_usd:
      grant.granted_nano_usd -
      grant.settled_nano_usd +
      (grant.uncharged_nano_usd - grant.uncharged_posted_nano_usd),
  }));
  const held = [...holds.values()].filter(({ status }) => status === 'held');
  return [
    ...open,
    ...held.map((hold) => ({
      ...hold,
      recallable: false,
      open_nano_usd: hold.amount_nano_usd,
      recall_acked: 0,
    })),
  ].filter((each) => each.open_nano_usd > 0);
}
