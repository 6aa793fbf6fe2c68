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

/** Columns that usually have the same values in many records of one statement. */
const COMMON = [
  ...['organization_id', 'key_id', 'scene', 'model', 'model_vendor', 'channel_id', 'outcome'],
  ...['status', 'error_code', 'fault', 'protocol', 'program', 'looked_up'],
] as const satisfies readonly (keyof FreeCall)[];

/** Sent for a time that a record lacks. The statement stores null instead. */
const UNKNOWN = -1;

/**
 * Hits of the cache are on record here, so this runs as often as a settlement. Values that many records share
 * are sent once, and those that few have for these only. Otherwise PostgreSQL reads a kilobyte of JSON for
 * each record, which takes longer than to store it.
 */
async function insert(sql: Sql, calls: readonly FreeCall[]): Promise<void> {
  if (calls.length === 0) return;
  const { common, common_of } = groupByCommon(calls);
  const column = (value: (call: FreeCall) => number | string) => `{${calls.map(value).join()}}`;
  const rare = calls.flatMap(({ task_id, detail }, at) =>
    task_id === null && detail === undefined ? [] : [{ place: at + 1, task_id, detail }],
  );
  await sql`
    with common as (
      select * from json_to_recordset(${JSON.stringify(common)}::text::json) as common(
        number int, organization_id text, key_id text, scene text, model text, model_vendor text,
        channel_id text, outcome text, status int, error_code text, fault text, protocol text,
        program text, looked_up bool))
    insert into call_record (
      id, organization_id, key_id, scene, model, model_vendor, channel_id, outcome, status,
      error_code, fault, task_id, at, protocol, program, authenticated_us, reserved_us, routed_us,
      first_token_ms, ended_ms, looked_up, detail, created_at)
    select id, organization_id, key_id, scene, model, model_vendor, channel_id, outcome, status,
      error_code, fault, task_id, to_timestamp(at_ms / 1000), protocol, program,
      nullif(authenticated_us, -1), nullif(reserved_us, -1), nullif(routed_us, -1),
      nullif(first_token_ms, -1), nullif(ended_ms, -1), coalesce(looked_up, false), detail,
      (select weir_now())
    from (select
      unnest(${`{${common_of.join()}}`}::text::int[]) as number,
      unnest(${column(({ id }) => id)}::text::uuid[]) as id,
      unnest(${column(({ at_ms }) => at_ms)}::text::float8[]) as at_ms,
      unnest(${column((call) => call.authenticated_us ?? UNKNOWN)}::text::int[]) as authenticated_us,
      unnest(${column((call) => call.reserved_us ?? UNKNOWN)}::text::int[]) as reserved_us,
      unnest(${column((call) => call.routed_us ?? UNKNOWN)}::text::int[]) as routed_us,
      unnest(${column((call) => call.first_token_ms ?? UNKNOWN)}::text::int[]) as first_token_ms,
      unnest(${column((call) => call.ended_ms ?? UNKNOWN)}::text::int[]) as ended_ms,
      generate_series(1, ${calls.length}::int8) as place
    ) as call
    join common using (number)
    left join json_to_recordset(${JSON.stringify(rare)}::text::json) as rare(
      place int8, task_id text, detail jsonb) using (place)
    on conflict do nothing`;
}

type Common = Pick<FreeCall, (typeof COMMON)[number]> & { readonly number: number };

/** Returns each combination of common values once, and for each record the index of its combination. */
function groupByCommon(calls: readonly FreeCall[]): { common: Common[]; common_of: number[] } {
  const common: Common[] = [];
  const numbers = new Map<string, number>();
  let number = -1;
  const common_of = calls.map((call) => {
    // In most cases the record has the combination of the previous one.
    const last = common[number];
    if (last && COMMON.every((name) => call[name] === last[name])) return number;
    const text = JSON.stringify(COMMON.map((name) => call[name]));
    number = numbers.get(text) ?? common.length;
    if (number === common.length) {
      numbers.set(text, number);
      const members = Object.fromEntries(COMMON.map((name) => [name, call[name]]));
      common.push({ ...members, number } as unknown as Common);
    }
    return number;
  });
  return { common, common_of };
}
