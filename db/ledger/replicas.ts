import type { Sql, TransactionSql } from 'postgres';

/**
 * Declares replicas dead. After this commit, the ledger neither grants money to these replicas nor
 * charges their calls.
 */
export async function declareDead(tx: TransactionSql, ids: readonly string[]): Promise<void> {
  await tx`
    update replica set status = 'dead' where id in (
      select id from replica where id = any(${ids}::text[]) and status = 'alive'
      order by id for no key update)`;
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

/** The grants that a recall addresses. */
export interface RecallScope {
  organization_id: string;
  /** The key whose grants are recalled; null = every key of the organization. */
  key_id: string | null;
  /** The tag whose grants are recalled. Missing: grants with any tags or none. */
  tag?: { readonly name: string; readonly value: string };
}

/** Returns the number of a new recall. Recalls of all organizations share one sequence. */
export async function nextRecall(tx: TransactionSql): Promise<number> {
  const rows = await tx<{ seq: number }[]>`select nextval('recall_seq') as seq`;
  return rows[0]?.seq ?? 0;
}

/** Returns the number of the latest recall of any organization, or 0 if there was none. */
export async function readLastRecall(sql: Sql): Promise<number> {
  const rows = await sql<{ seq: number }[]>`
    select case when is_called then last_value else 0 end as seq from recall_seq`;
  return rows[0]?.seq ?? 0;
}
