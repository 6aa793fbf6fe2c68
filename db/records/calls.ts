import type { Sql } from 'postgres';
import { isUniqueViolation } from '../unique-violation.ts';
import type { CallFacts } from './record.ts';
import { isOfClosedMonth, readLowestKept } from './refusal.ts';
import { SharedValues } from './shared-values.ts';

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
    await insertNew(sql, calls);
  } catch (error) {
    if (!isOfClosedMonth(error)) throw error;
    const first_id = await readLowestKept(sql, 'call_record');
    await insertNew(
      sql,
      calls.filter(({ id }) => id >= (first_id ?? '')),
    );
  }
}

/** Records are rarely repeated, and an insert that skips such records costs a fifth more (see `settle.ts`). */
async function insertNew(sql: Sql, calls: readonly FreeCall[]): Promise<void> {
  try {
    await insert(sql, calls, { skip_repeated: false });
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    await insert(sql, calls, { skip_repeated: true });
  }
}

/** Columns that usually have the same values in many records of one statement. */
const COMMON = [
  ...['organization_id', 'key_id', 'scene', 'model', 'model_vendor', 'channel_id', 'outcome'],
  ...['status', 'error_code', 'fault', 'protocol', 'program', 'looked_up'],
] as const satisfies readonly (keyof FreeCall)[];

/** Sent for a time that a record lacks. The statement stores null instead. */
const UNKNOWN = -1;

/**
 * Hits of the cache are on record here, so this runs as often as a settlement. Values that many records share
 * are sent once, and each record has their numbers. Otherwise PostgreSQL reads a kilobyte of JSON for
 * each record, which takes longer than to store it.
 *
 * `place` is for the planner, which reckons with 10 rows of an array that it does not know yet, and with 1,000 of
 * a series. So it hashes the few shared values, not all records.
 */
async function insert(
  sql: Sql,
  calls: readonly FreeCall[],
  { skip_repeated }: { skip_repeated: boolean },
): Promise<void> {
  if (calls.length === 0) return;
  const common = new SharedValues(haveSameCommon, commonOf);
  const rare = new SharedValues(haveSameRare, rareOf);
  const column = (value: (call: FreeCall) => number | string) => `{${calls.map(value).join()}}`;
  await sql`
    insert into call_record (
      id, organization_id, key_id, scene, model, model_vendor, channel_id, outcome, status,
      error_code, fault, task_id, at, protocol, program, authenticated_us, reserved_us, routed_us,
      first_token_ms, ended_ms, looked_up, detail, created_at, xid)
    select id, organization_id, key_id, scene, model, model_vendor, channel_id, outcome, status,
      error_code, fault, task_id, to_timestamp(at_ms / 1000), protocol, program,
      nullif(authenticated_us, -1), nullif(reserved_us, -1), nullif(routed_us, -1),
      nullif(first_token_ms, -1), nullif(ended_ms, -1), coalesce(looked_up, false), detail,
      (select weir_now()), (select pg_current_xact_id()::text::int8)
    from (select
      generate_series(1, ${calls.length}::text::int) as place,
      unnest(${column((call) => common.numberOf(call))}::text::int[]) as common,
      unnest(${column((call) => rare.numberOf(call))}::text::int[]) as rare,
      unnest(${column(({ id }) => id)}::text::uuid[]) as id,
      unnest(${column(({ at_ms }) => at_ms)}::text::float8[]) as at_ms,
      unnest(${column((call) => call.authenticated_us ?? UNKNOWN)}::text::int[]) as authenticated_us,
      unnest(${column((call) => call.reserved_us ?? UNKNOWN)}::text::int[]) as reserved_us,
      unnest(${column((call) => call.routed_us ?? UNKNOWN)}::text::int[]) as routed_us,
      unnest(${column((call) => call.first_token_ms ?? UNKNOWN)}::text::int[]) as first_token_ms,
      unnest(${column((call) => call.ended_ms ?? UNKNOWN)}::text::int[]) as ended_ms
    ) as call
    join json_to_recordset(${common.json()}::text::json) as shared(
      number int, organization_id text, key_id text, scene text, model text, model_vendor text,
      channel_id text, outcome text, status int, error_code text, fault text, protocol text,
      program text, looked_up bool) on shared.number = common
    left join json_to_recordset(${rare.json()}::text::json) as few(
      number int, task_id text, detail jsonb) on few.number = rare
    ${skip_repeated ? sql`on conflict do nothing` : sql``}`;
}

/** Compares the columns of `COMMON`. It runs for every record, and a loop over names is slower. */
function haveSameCommon(a: FreeCall, b: FreeCall): boolean {
  return (
    a.key_id === b.key_id &&
    a.model === b.model &&
    a.outcome === b.outcome &&
    a.status === b.status &&
    a.protocol === b.protocol &&
    a.program === b.program &&
    a.looked_up === b.looked_up &&
    a.error_code === b.error_code &&
    a.fault === b.fault &&
    a.scene === b.scene &&
    a.channel_id === b.channel_id &&
    a.model_vendor === b.model_vendor &&
    a.organization_id === b.organization_id
  );
}

const commonOf = (call: FreeCall) => Object.fromEntries(COMMON.map((name) => [name, call[name]]));

const haveSameRare = (a: FreeCall, b: FreeCall) => a.detail === b.detail && a.task_id === b.task_id;

const rareOf = ({ task_id, detail }: FreeCall) =>
  task_id === null && detail === undefined ? undefined : { task_id, detail };
