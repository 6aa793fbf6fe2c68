import type { Sql } from 'postgres';
import { firstIdAt } from '../housekeeping.ts';
import type { CallFacts } from './record.ts';

/** The record of a call without a usage line. */
export interface FreeCall extends CallFacts {
  readonly id: string;
  readonly organization_id: string;
  readonly key_id: string;
  readonly scene: string;
  readonly model: string;
  readonly model_vendor: string;
  readonly channel_id: string;
  readonly outcome: string;
  readonly status: number;
  readonly error_code: string | null;
  readonly fault: string | null;
  readonly task_id: string | null;
}

/** Writes records of calls. A repeated record changes nothing. */
export async function insertCallRecords(sql: Sql, calls: readonly FreeCall[]): Promise<void> {
  if (calls.length === 0) return;
  await sql`
    insert into call_record (
      id, organization_id, key_id, scene, model, model_vendor, channel_id, outcome, status,
      error_code, fault, task_id, at, protocol, program, authenticated_us, reserved_us, routed_us,
      first_token_ms, ended_ms, detail, created_at)
    select id, organization_id, key_id, scene, model, model_vendor, channel_id, outcome, status,
      error_code, fault, task_id, to_timestamp(at_ms / 1000), protocol, program, authenticated_us,
      reserved_us, routed_us, first_token_ms, ended_ms, detail, weir_now()
    from json_to_recordset(${JSON.stringify(calls)}::text::json) as call(
      id uuid, organization_id text, key_id text, scene text, model text, model_vendor text,
      channel_id text, outcome text, status int, error_code text, fault text, task_id text,
      at_ms float8, protocol text, program text, authenticated_us int, reserved_us int,
      routed_us int, first_token_ms int, ended_ms int, detail jsonb)
    on conflict (id) do nothing`;
}

const DAY_MS = 24 * 3_600_000;

/**
 * Deletes at most `limit` records of calls without a charge that are older than `days`. Ids are
 * ordered by time, so the primary key is the only index needed. The record of a running task's create
 * call stays: it knows who created the task. Returns the number of deleted rows.
 */
export async function deleteOldCallRecords(
  sql: Sql,
  now_ms: number,
  days: number,
  limit: number,
): Promise<number> {
  const rows = await sql`
    delete from call_record where id in (
      select id from call_record where id < ${firstIdAt(now_ms - days * DAY_MS)}
        and not exists (select from task
          where task.id = call_record.task_id and task.status in ('pending', 'processing'))
      order by id limit ${limit})
    returning 1`;
  return rows.length;
}
