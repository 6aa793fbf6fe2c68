import type { TransactionSql } from 'postgres';

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
}

/**
 * Returns the open grants and holds of organizations that have uncharged money. With these rows,
 * the ledger distinguishes money in flight from spent money.
 */
export function findOpenMoney(
  tx: TransactionSql,
  organization_ids: readonly string[],
): Promise<OpenMoney[]> {
  return tx<OpenMoney[]>`
    select organization_id, key_id, id, true as recallable,
      granted_nano_usd - settled_nano_usd as open_nano_usd, recall_acked
    from quota_grant
    where status = 'open' and organization_id = any(${organization_ids}::text[])
      and granted_nano_usd > settled_nano_usd
    union all
    select organization_id, key_id, id, false, amount_nano_usd, 0 from hold
    where status = 'held' and amount_nano_usd > 0 and organization_id = any(${organization_ids}::text[])`;
}
