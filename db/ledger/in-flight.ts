import type { TransactionSql } from 'postgres';

/** Uncharged money of one open grant or hold. */
export interface OpenMoney {
  organization_id: string;
  key_id: string;
  /** Id of the grant or hold. */
  id: string;
  /** True for a grant. A hold cannot be recalled. */
  recallable: boolean;
  /**
   * Nano-USD that are unused or reserved for calls in flight. Only the replica knows which part is
   * reserved.
   */
  open_nano_usd: number;
  recall_acked: number;
}

/** Returns the open money of organizations, to distinguish money in flight from spent money. */
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
