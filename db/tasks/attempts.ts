import type { Fragment, Sql, TransactionSql } from 'postgres';

/** A task keeps at most this many attempts: the first ones, and the latest. */
const MAX_RECORDED_ATTEMPTS = 20;
/** The largest value of the columns of records. */
const MAX_INT4 = 2_147_483_647;

/**
 * Returns an expression for a task's row: the time since its create request arrived, ms. The time
 * from there to the reservation was measured by the replica of the request; the rest is the time of
 * the database.
 */
export function sinceArrival(sql: Sql | TransactionSql) {
  return sql`least(${MAX_INT4}::int8, round(
    coalesce((task.record ->> 'reserved_us')::float8, 0) / 1000
    + extract(epoch from weir_now() - task.created_at) * 1000)::int8)`;
}

/** Returns the `record` of a task's row with one more attempt, which begins now. */
export function beganAttempt(sql: Sql | TransactionSql, channel_id: string) {
  return sql`jsonb_set(record, '{attempts}',
    case when jsonb_array_length(record -> 'attempts') < ${MAX_RECORDED_ATTEMPTS}
      then record -> 'attempts' else (record -> 'attempts') - -1 end
    || jsonb_build_array(jsonb_build_object('channel_id', ${channel_id}::text,
      'started_ms', ${sinceArrival(sql)}, 'ended_ms', null, 'failure', null, 'fault', null)))`;
}

/**
 * Returns the `record` of a task's row with the end of its latest attempt, if that still runs.
 * `failure` and `fault` are texts of SQL, as they are in a `RecordedAttempt`.
 */
export function endedAttempt(
  sql: Sql | TransactionSql,
  { failure, fault }: { readonly failure: Fragment; readonly fault: Fragment },
) {
  return sql`case when record #> '{attempts,-1,ended_ms}' = 'null'
    then jsonb_set(record, '{attempts,-1}', (record #> '{attempts,-1}') || jsonb_build_object(
      'ended_ms', ${sinceArrival(sql)}, 'failure', ${failure}::text, 'fault', ${fault}::text))
    else record end`;
}
