import type { Sql, TransactionSql } from 'postgres';
import type { JsonValue } from '../actors/store.ts';
import type { BatchCounts } from './batches.ts';

type ItemResult = 'succeeded' | 'errored' | 'canceled' | 'expired';

/** One item of a batch before it is stored. */
export interface NewItem {
  readonly position: number;
  readonly custom_id: string;
  readonly params: string;
  /** The UUID of the item's call. */
  readonly request_id: string;
}

/** Inserts the items of a batch. */
export async function insertItems(
  sql: Sql | TransactionSql,
  batch_id: string,
  items: readonly NewItem[],
): Promise<void> {
  await sql`
    insert into batch_item (batch_id, position, custom_id, params, request_id)
    select ${batch_id}, * from unnest(
      ${items.map(({ position }) => position)}::int[],
      ${items.map(({ custom_id }) => custom_id)}::text[],
      ${items.map(({ params }) => params)}::text[],
      ${items.map(({ request_id }) => request_id)}::uuid[])`;
}

/** The columns of a batch that its worker needs. */
export interface BatchWork {
  readonly organization_id: string;
  readonly key_id: string;
  readonly headers: Record<string, string>;
  /** The program of the client that created the batch. */
  readonly program: string;
  /** False if the batch was canceled or has expired. If false, no further item is started. */
  readonly open: boolean;
}

/** Finds a batch for its worker. */
export async function findBatchWork(sql: Sql, batch_id: string): Promise<BatchWork | undefined> {
  const [row] = await sql<BatchWork[]>`
    select organization_id, key_id, headers, program,
      status = 'in_progress' and expires_at > weir_now() as open
    from message_batch where id = ${batch_id}`;
  return row;
}

/** Returns the positions of due items after position `after`. Returns at most `limit` positions. */
export async function findDueItems(
  sql: Sql,
  batch_id: string,
  after: number,
  limit: number,
): Promise<number[]> {
  const rows = await sql<{ position: number }[]>`
    select position from batch_item
    where batch_id = ${batch_id} and result is null and position > ${after}
      and next_attempt_at <= weir_now()
    order by position limit ${limit}`;
  return rows.map(({ position }) => position);
}

/** Returns the milliseconds until the next item is due; undefined if all items have ended. */
export async function nextDueMs(sql: Sql, batch_id: string): Promise<number | undefined> {
  const [row] = await sql<{ wait_ms: number | null }[]>`
    select ceil(extract(epoch from min(next_attempt_at) - weir_now()) * 1000)::float8 as wait_ms
    from batch_item where batch_id = ${batch_id} and result is null`;
  return row?.wait_ms ?? undefined;
}

/** The columns of an item that its call needs. */
export interface ItemWork {
  readonly batch_id: string;
  readonly position: number;
  readonly params: string;
  readonly request_id: string;
  readonly attempts: number;
  /** The answer that an earlier attempt of the item stored; null = none. */
  readonly answer: string | null;
  /** The charge of `answer`, as `draftItem` stored it; null = none. */
  readonly draft: JsonValue;
  /** True if the charge of `answer` is committed. */
  readonly charged: boolean;
}

/** Finds an item that has not ended. */
export async function findItem(
  sql: Sql,
  batch_id: string,
  position: number,
): Promise<ItemWork | undefined> {
  const [row] = await sql<ItemWork[]>`
    select batch_id, position, params, item.request_id, attempts, answer, draft,
      exists (select 1 from usage_line where usage_line.id = item.request_id) as charged
    from batch_item as item
    where batch_id = ${batch_id} and position = ${position} and result is null`;
  return row;
}

/**
 * Stores the answer of an item together with its charge, before the charge is committed. After a
 * crash, Weir charges the stored answer and does not call the model again.
 */
export async function draftItem(
  sql: Sql,
  { batch_id, position }: Pick<ItemWork, 'batch_id' | 'position'>,
  answer: string,
  draft: object,
): Promise<void> {
  await sql`
    update batch_item set answer = ${answer}, draft = ${sql.json(draft as never)}
    where batch_id = ${batch_id} and position = ${position} and result is null`;
}

/**
 * Ends an item, and counts its result and its charge in the row of the batch. An item that has ended
 * stays unchanged. If `error` is given, it becomes the item's answer. Otherwise the item keeps the
 * answer that `draftItem` stored.
 */
export async function endItem(
  sql: Sql,
  { batch_id, position }: Pick<ItemWork, 'batch_id' | 'position'>,
  result: 'succeeded' | 'errored',
  error?: string,
): Promise<void> {
  await sql`
    with ended as (
      update batch_item set result = ${result}, answer = coalesce(${error ?? null}, answer),
        draft = null, params = ''
      where batch_id = ${batch_id} and position = ${position} and result is null
      returning request_id
    )
    update message_batch set
      succeeded = succeeded + ${result === 'succeeded' ? 1 : 0},
      errored = errored + ${result === 'errored' ? 1 : 0},
      charged_nano_usd = message_batch.charged_nano_usd + coalesce(
        (select usage_line.charged_nano_usd from usage_line
          where usage_line.id = ended.request_id), 0)
    from ended where message_batch.id = ${batch_id}`;
}

/** Postpones the next attempt of an item by `delay_ms`. */
export async function postponeItem(
  sql: Sql,
  { batch_id, position }: Pick<ItemWork, 'batch_id' | 'position'>,
  delay_ms: number,
): Promise<void> {
  await sql`
    update batch_item set attempts = attempts + 1,
      next_attempt_at = weir_now() + ${delay_ms} * interval '1 millisecond'
    where batch_id = ${batch_id} and position = ${position} and result is null`;
}

/**
 * Ends all items that have not ended, with `result`. Returns how many items of the batch have each
 * result. Also counts the items and their charges in the row of the batch again, because a replica
 * of an earlier version of Weir does not count them. A second call changes nothing.
 */
export async function endRemainingItems(
  sql: Sql,
  batch_id: string,
  result: 'canceled' | 'expired',
): Promise<BatchCounts> {
  await sql`
    update batch_item set result = ${result}, answer = null, draft = null, params = ''
    where batch_id = ${batch_id} and result is null`;
  const [counts] = await sql<BatchCounts[]>`
    select
      (count(*) filter (where result = 'succeeded'))::int4 as succeeded,
      (count(*) filter (where result = 'errored'))::int4 as errored,
      (count(*) filter (where result = 'canceled'))::int4 as canceled,
      (count(*) filter (where result = 'expired'))::int4 as expired
    from batch_item where batch_id = ${batch_id}`;
  await sql`
    update message_batch set succeeded = ${counts?.succeeded ?? 0}, errored = ${counts?.errored ?? 0},
      charged_nano_usd = (
        select coalesce(sum(usage_line.charged_nano_usd), 0) from batch_item
          join usage_line on usage_line.id = batch_item.request_id
        where batch_item.batch_id = ${batch_id})
    where id = ${batch_id}`;
  return counts as BatchCounts;
}

/** How one request of a message batch ended. */
export interface ItemEnd {
  readonly position: number;
  readonly custom_id: string;
  readonly result: ItemResult;
  readonly answer: string | null;
}

/** Returns the results of the items after position `after`, in the order of the requests. */
export async function listResults(
  sql: Sql,
  batch_id: string,
  after: number,
  limit: number,
): Promise<ItemEnd[]> {
  const rows = await sql<ItemEnd[]>`
    select position, custom_id, result, answer from batch_item
    where batch_id = ${batch_id} and position > ${after}
    order by position limit ${limit}`;
  return [...rows];
}
