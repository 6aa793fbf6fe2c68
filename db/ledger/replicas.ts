import type { TransactionSql } from 'postgres';

/** Fences replicas: from this commit on nothing of theirs is granted or charged. */
export async function declareDead(tx: TransactionSql, ids: readonly string[]): Promise<void> {
  await tx`
    update replica set status = 'dead' where id in (
      select id from replica where id = any(${ids}::text[]) and status = 'alive'
      order by id for update)`;
}

/**
 * The replicas that are alive. Not locked: a grant that a replica opens while it is being declared
 * dead is found by the reaper's next look, which asks for open grants of the dead.
 */
export async function findLiveReplicas(tx: TransactionSql): Promise<string[]> {
  const rows = await tx<{ id: string }[]>`select id from replica where status = 'alive'`;
  return rows.map((row) => row.id);
}

/** PostgreSQL channels that carry hints. Losing one costs a short wait, never money. */
export const RECALL_CHANNEL = 'weir_recall';
export const MONEY_CHANNEL = 'weir_money';

export interface RecallScope {
  organization_id: string;
  /** null = every key of the organization. */
  key_id: string | null;
}

/** Asks all replicas to give idle money of a key or an organization back; repeats an earlier ask. */
export async function nextRecall(
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

/** Tells waiting calls that money of these organizations came back. */
export async function notifyMoney(tx: TransactionSql, organization_ids: string[]): Promise<void> {
  if (organization_ids.length === 0) return;
  await tx`select pg_notify(${MONEY_CHANNEL}, id) from unnest(${organization_ids}::text[]) as id`;
}
