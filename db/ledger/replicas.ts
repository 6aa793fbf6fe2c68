import type { TransactionSql } from 'postgres';

/**
 * Declares replicas dead. After this commit, the ledger neither grants money to these replicas nor
 * charges their calls.
 */
export async function declareDead(tx: TransactionSql, ids: readonly string[]): Promise<void> {
  await tx`
    update replica set status = 'dead' where id in (
      select id from replica where id = any(${ids}::text[]) and status = 'alive'
      order by id for update)`;
}

/**
 * Returns the live replicas without locking them. A replica may open a grant while another
 * transaction declares it dead. The reaper's next poll finds that grant, because the reaper looks
 * for open grants of dead replicas.
 */
export async function findLiveReplicas(tx: TransactionSql): Promise<string[]> {
  const rows = await tx<{ id: string }[]>`select id from replica where status = 'alive'`;
  return rows.map((row) => row.id);
}

/**
 * The PostgreSQL notification channels for two hints. A recall requests the return of unused
 * grants. The other hint says that money was freed. A lost hint causes a short wait, but no loss of
 * money.
 */
export const RECALL_CHANNEL = 'weir_recall';
export const MONEY_CHANNEL = 'weir_money';

/** The grants that a recall addresses. */
export interface RecallScope {
  organization_id: string;
  /** The key whose grants are recalled; null = every key of the organization. */
  key_id: string | null;
}

/**
 * Sends a recall to all replicas when the transaction commits, and returns the recall's number. If
 * `earlier` is the number of a recall, the recall is sent with that number again. Otherwise it gets
 * a new number.
 */
export async function sendRecall(
  tx: TransactionSql,
  scope: RecallScope,
  earlier: number | null,
): Promise<number> {
  const rows = await tx<{ seq: number }[]>`
    with recall as (select coalesce(${earlier}::int8, nextval('recall_seq')) as seq)
    select seq, pg_notify(${RECALL_CHANNEL}, json_build_object('seq', seq,
      'organization_id', ${scope.organization_id}::text, 'key_id', ${scope.key_id}::text)::text)
    from recall`;
  return rows[0]?.seq ?? 0;
}

/** Notifies all replicas that money of these organizations was freed, so that waiting calls retry. */
export async function notifyMoney(tx: TransactionSql, organization_ids: string[]): Promise<void> {
  if (organization_ids.length === 0) return;
  await tx`select pg_notify(${MONEY_CHANNEL}, id) from unnest(${organization_ids}::text[]) as id`;
}
