import type { Sql, TransactionSql } from 'postgres';

/** What a model's calls came to on a channel since the last time that it was said. */
export interface OutcomeCounts {
  readonly channel_id: string;
  readonly model: string;
  readonly scene: string;
  readonly succeeded: number;
  readonly failed: number;
}

/** Hours that a ranking looks back (spec: `success_rate_24h`). */
const WINDOW_HOURS = 24;

/** Adds to the bucket of this minute, by the database's clock. Rows in one order: nobody deadlocks. */
export async function addOutcomes(
  sql: Sql | TransactionSql,
  outcomes: readonly OutcomeCounts[],
): Promise<void> {
  if (outcomes.length === 0) return;
  await sql`
    insert into outcome_minute (channel_id, model, scene, minute, succeeded, failed)
    select channel_id, model, scene, date_trunc('minute', weir_now()), succeeded, failed
    from json_to_recordset(${JSON.stringify(outcomes)}::text::json) as said(
      channel_id text, model text, scene text, succeeded int, failed int)
    order by model, channel_id
    on conflict (model, channel_id, minute) do update set
      succeeded = outcome_minute.succeeded + excluded.succeeded,
      failed = outcome_minute.failed + excluded.failed`;
}

/** How tasks ended that clients did nothing wrong with; in the transaction that ends them. */
export async function addTaskOutcomes(tx: TransactionSql, ids: readonly string[]): Promise<void> {
  await tx`
    insert into outcome_minute (channel_id, model, scene, minute, succeeded, failed)
    select channel_id, model, scene, date_trunc('minute', weir_now()),
      count(*) filter (where status = 'completed'), count(*) filter (where status = 'failed')
    from task
    where id = any(${[...ids]}) and channel_id is not null and (
      status = 'completed'
      or status = 'failed' and error_code = any(${PROVIDERS_ERRORS}))
    group by channel_id, model, scene
    order by model, channel_id
    on conflict (model, channel_id, minute) do update set
      succeeded = outcome_minute.succeeded + excluded.succeeded,
      failed = outcome_minute.failed + excluded.failed`;
}

/** Ends of a task that are the provider's doing. */
const PROVIDERS_ERRORS = [
  ...['upstream_error', 'timeout_error', 'all_channels_failed', 'rate_limit_exceeded'],
];

/** Outcomes of a model in the window, all channels together. */
export interface ModelOutcomes {
  readonly model: string;
  readonly succeeded: number;
  readonly failed: number;
}

/** The last 24 hours: whole minutes, this one included, the one 24 hours ago not any more. */
export async function readOutcomes(sql: Sql | TransactionSql): Promise<ModelOutcomes[]> {
  const rows = await sql<ModelOutcomes[]>`
    select model, sum(succeeded)::int8 as succeeded, sum(failed)::int8 as failed
    from outcome_minute
    where minute > date_trunc('minute', weir_now()) - ${WINDOW_HOURS} * interval '1 hour'
      and minute <= weir_now()
    group by model`;
  return [...rows];
}

/** Forgets what is older than any window; how many buckets, at most so many. */
export async function deleteOldOutcomes(sql: Sql, most: number): Promise<number> {
  const { count } = await sql`
    delete from outcome_minute where ctid in (
      select ctid from outcome_minute
      where minute < weir_now() - ${2 * WINDOW_HOURS} * interval '1 hour'
      order by minute limit ${most})`;
  return count;
}
