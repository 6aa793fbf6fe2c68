import type { Sql, TransactionSql } from 'postgres';

/** The hours after which a batch expires (Anthropic docs: Batch processing). */
const BATCH_LIFE_HOURS = 24;

/** How many items of a batch have each result. */
export interface BatchCounts {
  readonly succeeded: number;
  readonly errored: number;
  readonly canceled: number;
  readonly expired: number;
}

export type BatchStatus = 'in_progress' | 'canceling' | 'ended';

/** A batch as clients see it. */
export interface BatchRow {
  readonly id: string;
  readonly status: BatchStatus;
  readonly total: number;
  /** Null until the batch has ended. */
  readonly counts: BatchCounts | null;
  readonly created_at: Date;
  readonly expires_at: Date;
  readonly cancel_initiated_at: Date | null;
  readonly ended_at: Date | null;
  readonly archived_at: Date | null;
}

const columns = (sql: Sql) => sql`
  id, status, total, counts, created_at, expires_at, cancel_initiated_at, ended_at, archived_at`;

/** Finds a batch by its id. A batch of another organization is not found (P6). */
export async function findBatch(
  sql: Sql,
  id: string,
  organization_id: string,
): Promise<BatchRow | undefined> {
  const [row] = await sql<BatchRow[]>`
    select ${columns(sql)} from message_batch
    where id = ${id} and organization_id = ${organization_id} and status <> 'received'`;
  return row;
}

/**
 * Selects a page of the list of batches: those older than the batch `after`, or newer than the
 * batch `before`. If both are set, `before` counts.
 */
export interface BatchPage {
  readonly limit: number;
  readonly after?: string | undefined;
  readonly before?: string | undefined;
}

/**
 * With `before`, returns newer batches, the oldest first. Otherwise returns batches older than
 * `after`, the newest first. Returns `limit + 1` rows if there is another page.
 */
export async function listBatches(
  sql: Sql,
  organization_id: string,
  { limit, after, before }: BatchPage,
): Promise<BatchRow[]> {
  const boundary =
    before !== undefined
      ? sql`and id > ${before}`
      : after !== undefined
        ? sql`and id < ${after}`
        : sql``;
  const rows = await sql<BatchRow[]>`
    select ${columns(sql)} from message_batch
    where organization_id = ${organization_id} and status <> 'received' ${boundary}
    order by id ${before !== undefined ? sql`asc` : sql`desc`} limit ${limit + 1}`;
  return [...rows];
}

/** Inserts a batch before its items. The batch stays hidden until `openBatch`. */
export async function insertBatch(
  sql: Sql | TransactionSql,
  batch: {
    id: string;
    organization_id: string;
    key_id: string;
    headers: object;
    /** The program of the client. */
    program: string;
  },
): Promise<void> {
  await sql`
    insert into message_batch (id, organization_id, key_id, headers, program, charged_nano_usd,
      created_at, expires_at)
    values (${batch.id}, ${batch.organization_id}, ${batch.key_id},
      ${sql.json(batch.headers as never)}, ${batch.program}, 0, weir_now(),
      weir_now() + ${BATCH_LIFE_HOURS} * interval '1 hour')`;
}

/** Makes a batch visible after all its items were inserted. */
export async function openBatch(tx: TransactionSql, id: string, total: number): Promise<void> {
  await tx`
    update message_batch set status = 'in_progress', total = ${total}
    where id = ${id} and status = 'received'`;
}

/** Writes the state of a batch's machine to the row of the batch. */
export async function writeBatch(
  tx: TransactionSql,
  { id, status, counts }: { id: string; status: BatchStatus; counts: BatchCounts | null },
): Promise<void> {
  const isEnded = status === 'ended';
  await tx`
    update message_batch set
      status = ${status},
      counts = ${isEnded ? tx.json(counts as never) : null},
      cancel_initiated_at = case when ${status === 'canceling'}
        then coalesce(cancel_initiated_at, weir_now()) else cancel_initiated_at end,
      ended_at = ${isEnded ? tx`coalesce(ended_at, weir_now())` : null}
    where id = ${id}`;
}

/** Deletes an ended batch with its items. Returns false if there is no ended batch with this id. */
export async function deleteBatch(sql: Sql, id: string, organization_id: string): Promise<boolean> {
  const { count } = await sql`
    delete from message_batch
    where id = ${id} and organization_id = ${organization_id} and status = 'ended'`;
  return count > 0;
}

/** Deletes a batch that was never opened, with its items. */
export async function deleteUnopenedBatch(sql: Sql, id: string): Promise<void> {
  await sql`delete from message_batch where id = ${id} and status = 'received'`;
}

/** Deletes batches that were created over `age_hours` ago and never opened, e.g. after a crash. */
export async function deleteUnopenedBatches(sql: Sql, age_hours: number): Promise<void> {
  await sql`
    delete from message_batch
    where status = 'received' and created_at < weir_now() - ${age_hours} * interval '1 hour'`;
}

/**
 * Deletes the items of one batch that ended more than `age_days` ago. The row of the batch stays.
 * Returns true if there was such a batch.
 */
export async function archiveBatch(sql: Sql, age_days: number): Promise<boolean> {
  const { count } = await sql`
    with old as (
      select id from message_batch
      where archived_at is null and ended_at < weir_now() - ${age_days} * interval '1 day'
      order by ended_at limit 1
    ), emptied as (
      delete from batch_item where batch_id in (select id from old)
    )
    update message_batch set archived_at = weir_now() where id in (select id from old)`;
  return count > 0;
}
