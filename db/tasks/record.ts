import type { TransactionSql } from 'postgres';
import { sinceArrival } from './attempts.ts';

/** How the call of a failed task ended, as the record of the call says it. */
export interface TaskEnd {
  readonly outcome: 'refused' | 'failed' | 'canceled';
  readonly status: number;
  readonly error_code: string;
  readonly fault: string;
}

/** The members of `TaskFacts` that are columns of a record. */
const COLUMNS = ['vendor', 'protocol', 'program', 'authenticated_us', 'reserved_us'];

/**
 * Writes the records of calls whose tasks failed. Must run in the transaction that ends the tasks.
 * The date of a record is the instant of its reservation. If each attempt failed by a fault of the
 * operator's account, the failure is a fault of the account. A task of an earlier version has a record
 * of its create call already, which stays.
 */
export async function insertTaskRecords(
  tx: TransactionSql,
  ends: readonly (TaskEnd & { readonly id: string })[],
): Promise<void> {
  if (ends.length === 0) return;
  await tx`
    insert into call_record (
      id, organization_id, key_id, scene, model, model_vendor, channel_id, outcome, status,
      error_code, fault, task_id, at, protocol, program, authenticated_us, reserved_us, routed_us,
      ended_ms, detail, created_at)
    select task.request_id, task.organization_id, task.key_id, task.scene, task.model,
      coalesce(record ->> 'vendor', ''), coalesce(task.channel_id, ''), ended.outcome,
      ended.status, ended.error_code,
      case when ended.fault = 'provider' and has.attempts and not has.others then 'account'
        else ended.fault end,
      task.id, date_trunc('milliseconds', hold.created_at), coalesce(record ->> 'protocol', ''),
      coalesce(record ->> 'program', ''), (record ->> 'authenticated_us')::int4,
      (record ->> 'reserved_us')::int4,
      least(2147483647, (record #>> '{attempts,-1,started_ms}')::int8 * 1000)::int4,
      ${sinceArrival(tx)}::int4, record - ${COLUMNS}::text[],
      weir_now()
    from json_to_recordset(${JSON.stringify(ends)}::text::json) as ended(
      id text, outcome text, status int, error_code text, fault text)
    join task on task.id = ended.id
    join hold on hold.id = task.hold_id
    cross join lateral (
      select coalesce(jsonb_array_length(record -> 'attempts'), 0) > 0 as attempts,
        record -> 'attempts' @? '$[*] ? (@.fault != "account")' as others) as has
    on conflict (id) do nothing`;
}
