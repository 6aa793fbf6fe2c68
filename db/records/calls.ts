import type { Sql } from 'postgres';
import type { CallFacts } from './record.ts';
import { isOfClosedMonth, readLowestKept } from './refusal.ts';

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

/**
 * Writes records of calls. A repeated record changes nothing. Records of a month that retention
 * removed are left out.
 */
export async function insertCallRecords(sql: Sql, calls: readonly FreeCall[]): Promise<void> {
  try {
    await insert(sql, calls);
  } catch (error) {
    if (!isOfClosedMonth(error)) throw error;
    const first_id = await readLowestKept(sql, 'call_record');
    await insert(
      sql,
      calls.filter(({ id }) => id >= (first_id ?? '')),
    );
  }
}

async function insert(sql: Sql, calls: readonly FreeCall[]): Promise<void> {
  if (calls.length === 0) return;
  await sql`
    insert into call_record (
      id, organization_id, key_id, scene, model, model_vendor, channel_id, outcome, status,
      error_code, fault, task_id, at, protocol, program, authenticated_us, reserved_us, routed_us,
      first_token_ms, ended_ms, looked_up, detail, created_at)
    select id, organization_id, key_id, scene, model, model_vendor, channel_id, outcome, status,
      error_code, fault, task_id, to_timestamp(at_ms / 1000), protocol, program, authenticated_us,
      reserved_us, routed_us, first_token_ms, ended_ms, coalesce(looked_up, false), detail, weir_now()
    from json_to_recordset(${JSON.stringify(calls)}::text::json) as call(
      id uuid, organization_id text, key_id text, scene text, model text, model_vendor text,
      channel_id text, outcome text, status int, error_code text, fault text, task_id text,
      at_ms float8, protocol text, program text, authenticated_us int, reserved_us int,
      routed_us int, first_token_ms int, ended_ms int, looked_up bool, detail jsonb)
    on conflict do nothing`;
}
