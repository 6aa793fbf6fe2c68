import type { TransactionSql } from 'postgres';

/** Money of one organization that is set aside and not yet charged. */
export interface OpenMoney {
  organization_id: string;
  key_id: string;
  /** The row of the grant or hold. */
  id: string;
  /** False for a durable hold: nobody can be asked to give that back. */
  recallable: boolean;
  /** Idle or reserved for calls in flight: only its replica knows which. Nano-USD. */
  open_nano_usd: number;
  recall_acked: number;
}

/** All of it for these organizations, to tell money in flight from money that is gone. */
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
