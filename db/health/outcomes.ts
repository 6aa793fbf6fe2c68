import type { Sql, TransactionSql } from 'postgres';

/**
 * Successes and failures of a model on a channel. A replica counts them and adds them to the stored
 * counts at intervals. The scene is what the model makes, e.g. `chat` or `image`.
 */
export interface OutcomeCounts {
  readonly channel_id: string;
  readonly model: string;
  readonly scene: string;
  readonly succeeded: number;
  readonly failed: number;
}

/** Hours of outcomes that a ranking counts (spec: `success_rate_24h`). */
const WINDOW_HOURS = 24;

/**
 * Adds outcomes to the current minute of the database's clock. The rows are sorted, which prevents
 * deadlocks.
 */
export async function addOutcomes(
  sql: Sql | TransactionSql,
  outcomes: readonly OutcomeCounts[],
): Promise<void> {
  if (outcomes.length === 0) return;
  await sql`
    insert into outcome_minute (channel_id, model, scene, minute, succeeded, failed)
    select channel_id, model, scene, date_trunc('minute', weir_now()), succeeded, failed
    from json_to_recordset(${JSON.stringify(outcomes)}::text::json) as input(
      channel_id text, model text, scene text, succeeded int, failed int)
    order by model, channel_id
    on conflict (model, channel_id, minute) do update set
      succeeded = outcome_minute.succeeded + excluded.succeeded,
      failed = outcome_minute.failed + excluded.failed`;
}

/**
 * Counts ended tasks for the ranking: a completed task is a success, and a task that failed with an
 * error of the provider is a failure. Must run in the transaction that ends the tasks.
 */
export async function addTaskOutcomes(tx: TransactionSql, ids: readonly string[]): Promise<void> {
  await tx`
    insert into outcome_minute (channel_id, model, scene, minute, succeeded, failed)
    select channel_id, model, scene, date_trunc('minute', weir_now()),
      count(*) filter (where status = 'completed'), count(*) filter (where status = 'failed')
    from task
    where id = any(${[...ids]}) and channel_id is not null and (
      status = 'completed'
      or status = 'failed' and error_code = any(${PROVIDER_ERRORS}))
    group by channel_id, model, scene
    order by model, channel_id
    on conflict (model, channel_id, minute) do update set
      succeeded = outcome_minute.succeeded + excluded.succeeded,
      failed = outcome_minute.failed + excluded.failed`;
}

/** Error codes of tasks that count as failures of the provider. */
const PROVIDER_ERRORS = [
  ...['upstream_error', 'timeout_error', 'all_channels_failed', 'rate_limit_exceeded'],
];

/** The outcomes of a model in the last 24 hours, summed over all channels. */
export interface ModelOutcomes {
  readonly model: string;
  readonly succeeded: number;
  readonly failed: number;
}

/** Returns the outcomes of the last 1,440 minutes, including the present minute. */
export async function readOutcomes(sql: Sql | TransactionSql): Promise<ModelOutcomes[]> {
  const rows = await sql<ModelOutcomes[]>`
    select model, sum(succeeded)::int8 as succeeded, sum(failed)::int8 as failed
    from outcome_minute
    where minute > date_trunc('minute', weir_now()) - ${WINDOW_HOURS} * interval '1 hour'
      and minute <= weir_now()
    group by model`;
  return [...rows];
}

/**
 * Deletes at most `limit` rows that are older than 48 hours. Returns the number of deleted rows.
 */
export async function deleteOldOutcomes(sql: Sql, limit: number): Promise<number> {
  const { count } = await sql`
    delete from outcome_minute where ctid in (
      select ctid from outcome_minute
      where minute < weir_now() - ${2 * WINDOW_HOURS} * interval '1 hour'
      order by minute limit ${limit})`;
  return count;
}
