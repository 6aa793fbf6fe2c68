import type { Sql, TransactionSql } from 'postgres';

export type DeliveryStatus = 'pending' | 'delivered' | 'failed';

/** A webhook; see the table `webhook_delivery`. */
export interface Delivery {
  task_id: string;
  organization_id: string;
  url: string;
  status: DeliveryStatus;
  attempts: number;
  last_status: number | null;
  created_at: Date;
  ended_at: Date | null;
}

/**
 * Creates the webhook that announces the end of a task, unless the task has one already. In both
 * cases, returns the task's organization. Returns undefined if the task has no webhook address.
 */
export async function createDelivery(
  sql: Sql,
  task_id: string,
): Promise<{ organization_id: string } | undefined> {
  await sql`
    insert into webhook_delivery (task_id, organization_id, url, created_at)
    select id, organization_id, webhook_url, weir_now() from task
    where id = ${task_id} and webhook_url is not null
    on conflict (task_id) do nothing`;
  const rows = await sql<{ organization_id: string }[]>`
    select organization_id from webhook_delivery where task_id = ${task_id}`;
  return rows[0];
}

/** Finds the webhook of a task. */
export async function findDelivery(sql: Sql, task_id: string): Promise<Delivery | undefined> {
  const rows = await sql<Delivery[]>`select * from webhook_delivery where task_id = ${task_id}`;
  return rows[0];
}

/** The state of a webhook machine that `writeDeliveries` writes. */
export interface DeliveryChange {
  task_id: string;
  status: DeliveryStatus;
  /** The attempts of this machine. Those of earlier machines of the webhook come in addition. */
  attempts: number;
  last_status: number | null;
}

/** Writes the states of webhook machines to their rows. */
export async function writeDeliveries(
  tx: TransactionSql,
  changes: readonly DeliveryChange[],
): Promise<void> {
  if (changes.length === 0) return;
  await tx`
    update webhook_delivery set status = input.status,
      attempts = earlier_attempts + input.attempts,
      last_status = coalesce(input.last_status, webhook_delivery.last_status),
      ended_at = case when input.status = 'pending' then null else weir_now() end
    from json_to_recordset(${JSON.stringify(changes)}::text::json) as input(
      task_id text, status text, attempts int, last_status int)
    where webhook_delivery.task_id = input.task_id`;
}

/**
 * Returns the encrypted secret of an organization. If the organization has no secret, stores and
 * returns `candidate`, which must be encrypted.
 */
export async function readOrCreateSecret(
  sql: Sql,
  organization_id: string,
  candidate: string,
): Promise<string> {
  await sql`
    insert into webhook_secret (organization_id, sealed) values (${organization_id}, ${candidate})
    on conflict (organization_id) do nothing`;
  const [row] = await sql<{ sealed: string }[]>`
    select sealed from webhook_secret where organization_id = ${organization_id}`;
  return row?.sealed ?? candidate;
}

/** Stores a new encrypted secret of an organization. */
export async function replaceSecret(
  sql: Sql | TransactionSql,
  organization_id: string,
  sealed: string,
): Promise<void> {
  await sql`
    insert into webhook_secret (organization_id, sealed) values (${organization_id}, ${sealed})
    on conflict (organization_id) do update set sealed = excluded.sealed, created_at = weir_now()`;
}
