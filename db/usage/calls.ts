import type { Sql } from 'postgres';
import type { CallDetail } from '../records/record.ts';
import { type AsOf, isIn, readAsOf } from './as-of.ts';
import { conditions, type UsageFilters } from './filters.ts';
import { isRunningIn } from './running-tasks.ts';

/** One call, as its row says it. Amounts are in nano-USD. */
export interface CallRow {
  readonly id: string;
  /** Calls with the same date are ordered by it. */
  readonly sort_id: string;
  readonly key_id: string;
  readonly at: Date;
  readonly settled_at: Date | null;
  /** The UUID of the billing transaction; null if nothing was charged. */
  readonly billing_id: string | null;
  readonly outcome: string;
  readonly status: number;
  readonly error_code: string | null;
  readonly fault: string | null;
  readonly task_id: string | null;
  readonly scene: string;
  readonly model: string;
  readonly model_vendor: string;
  readonly access_channel: string;
  /** Internal: only operators may see it (P5). */
  readonly channel_id: string;
  readonly protocol: string;
  readonly program: string;
  /** True if the call looked for its answer in the cache. */
  readonly looked_up: boolean;
  readonly input_tokens: number;
  readonly cached_input_tokens: number;
  readonly cache_write_tokens: number;
  readonly output_tokens: number;
  readonly reasoning_tokens: number;
  readonly audio_tokens: number;
  readonly estimated: boolean;
  readonly charged_nano_usd: number;
  readonly overrun_nano_usd: number;
  /** The price in the catalogue. On an own key it differs from the charge. */
  readonly list_nano_usd: number;
  /** What the cap of the key counted. */
  readonly counted_nano_usd: number;
  readonly authenticated_us: number | null;
  readonly reserved_us: number | null;
  readonly routed_us: number | null;
  readonly first_token_ms: number | null;
  readonly ended_ms: number | null;
  readonly detail: CallDetail | null;
}

/** Filters that only calls have. */
export interface CallFilters extends UsageFilters {
  /** The UUID of one request, or of its billing transaction. */
  readonly request_id?: string | undefined;
  readonly outcomes?: readonly string[] | undefined;
  readonly error_code?: string | undefined;
  readonly faults?: readonly string[] | undefined;
  /** False: without tasks that run. Their calls count in sums when the tasks end. */
  readonly running?: boolean | undefined;
}

/** The place after which a page begins: the date and id of the last call of the page before. */
export interface CallCursor {
  readonly at: Date;
  readonly id: string;
}

/** The outcomes of usage lines. All others, and answers from the cache that were free, are those of records. */
const CHARGED_OUTCOMES: ReadonlySet<string> = new Set(['completed', 'partial', 'cached']);

/**
 * Lists calls, the newest first, as they were in one committed state. A call that created a task is
 * listed once: while the task runs as accepted, and then as the task ended.
 */
export function listCalls(
  sql: Sql,
  filters: CallFilters,
  as_of: AsOf,
  { after, limit }: { readonly after: CallCursor | undefined; readonly limit: number },
): Promise<CallRow[]> {
  const place = (alias: string) =>
    after === undefined
      ? sql``
      : sql`and (${sql(`${alias}.at`)}, ${sql(`${alias}.id`)}) < (${after.at}, ${after.id}::uuid)`;
  const { request_id, outcomes, error_code, faults, running: withRunning = true } = filters;
  const of_records = { ...filters, access_channel: undefined };
  const named = faults && sql`any(${[...faults]}::text[])`;
  // The line of a task has an id of its own.
  const isOneLine =
    request_id === undefined
      ? sql``
      : sql`and usage_line.id in (select ${request_id}::uuid union all select billing_id from task
          where task.request_id = ${request_id} and organization_id = ${filters.organization_id})`;
  const isOne = (alias: string) =>
    request_id === undefined ? sql`` : sql`and ${sql(alias)}.id = ${request_id}`;
  const isOutcome = outcomes ? sql`and outcome = any(${outcomes as string[]})` : sql``;
  // Otherwise all lines would be read to find none.
  const isOfCharges = outcomes?.some((outcome) => CHARGED_OUTCOMES.has(outcome)) ?? true;
  const charged = sql`
    select ${chargedColumns(sql)} from usage_line
    where ${isOfCharges ? sql`true` : sql`false`} and ${conditions(sql, filters, 'usage_line')} and ${isIn(sql, as_of, 'usage_line')}
      ${isOneLine} ${isOutcome} ${place('usage_line')}
      ${error_code === undefined ? sql`` : sql`and detail ->> 'error_code' = ${error_code}`}
      ${named === undefined ? sql`` : sql`and detail ->> 'fault' = ${named}`}
    order by usage_line.at desc, usage_line.id desc limit ${limit}`;
  const free = sql`
    select ${freeColumns(sql)} from call_record
    where ${conditions(sql, of_records, 'call_record')}
      and ${isIn(sql, as_of, 'call_record')}
      ${isOne('call_record')} ${isOutcome} ${place('call_record')}
      ${error_code === undefined ? sql`` : sql`and error_code = ${error_code}`}
      ${named === undefined ? sql`` : sql`and fault = ${named}`}
      ${withRunning ? sql`` : sql`and (task_id is null or outcome <> 'accepted')`}
      and (outcome <> 'accepted' or not exists (
        select from task join usage_line on usage_line.id = task.billing_id
        where task.id = call_record.task_id and ${isIn(sql, as_of, 'usage_line')}))
    order by call_record.at desc, call_record.id desc limit ${limit}`;
  const hasRunning =
    withRunning && error_code === undefined && !faults && (outcomes?.includes('accepted') ?? true);
  const running = sql`
    select ${freeColumns(sql)} from (${runningTasks(sql, as_of)}) as running
    where ${hasRunning ? sql`true` : sql`false`} and ${conditions(sql, of_records, 'running')}
      ${isOne('running')} ${place('running')}
    order by running.at desc, running.id desc limit ${limit}`;
  return sql<CallRow[]>`
    select * from ((${charged}) union all (${free}) union all (${running})) as call
    order by at desc, sort_id desc limit ${limit}`;
}

/**
 * Returns a query for the tasks that ran in a state, with the columns of a `call_record`. A task that
 * an earlier version created has such a record.
 */
function runningTasks(sql: Sql, as_of: AsOf) {
  return sql`
    select task.request_id as id, task.organization_id, task.key_id,
      date_trunc('milliseconds', hold.created_at) as at, 'accepted'::text as outcome, 200 as status,
      null::text as error_code, null::text as fault, task.id as task_id, task.scene, task.model,
      coalesce(record ->> 'vendor', '') as model_vendor,
      coalesce(task.channel_id, '') as channel_id, coalesce(record ->> 'protocol', '') as protocol,
      coalesce(record ->> 'program', '') as program, false as looked_up,
      (record ->> 'authenticated_us')::int4 as authenticated_us,
      (record ->> 'reserved_us')::int4 as reserved_us, null::int4 as routed_us,
      null::int4 as first_token_ms, null::int4 as ended_ms, record as detail
    from task join hold on hold.id = task.hold_id
    where ${isRunningIn(sql, as_of)} and not exists (select from call_record
      where call_record.id = task.request_id and ${isIn(sql, as_of, 'call_record')})`;
}

/** Finds a call of an organization by the UUID of its request or of its billing transaction. */
export async function findCall(
  sql: Sql,
  organization_id: string,
  id: string,
): Promise<CallRow | undefined> {
  const [call] = await sql<CallRow[]>`
    select ${chargedColumns(sql)} from usage_line
    where usage_line.id = ${id} and organization_id = ${organization_id}
    union all
    select ${chargedColumns(sql)} from task join usage_line on usage_line.id = task.billing_id
    where task.request_id = ${id} and task.organization_id = ${organization_id}
      and usage_line.organization_id = ${organization_id}
    union all
    select ${freeColumns(sql)} from call_record
    where id = ${id} and organization_id = ${organization_id}
    union all
    select ${freeColumns(sql)} from (${runningTasks(sql, await readAsOf(sql))}) as running
    where id = ${id} and organization_id = ${organization_id}
    limit 1`;
  return call;
}

/** A task is created within this time after its request arrived. */
const TASK_WITHIN = '1 day';

/** Returns the organization of a call; undefined if there is no such call. */
export async function organizationOfCall(sql: Sql, id: string): Promise<string | undefined> {
  const [row] = await sql<{ organization_id: string }[]>`
    select organization_id from usage_line where id = ${id}
    union all
    select organization_id from call_record where id = ${id}
    union all
    -- An index has the times of tasks. The id of a request begins with its time (UUID version 7).
    select organization_id from task where request_id = ${id}
      and created_at between ${timeOf(id)}::timestamptz - ${TASK_WITHIN}::interval
        and ${timeOf(id)}::timestamptz + ${TASK_WITHIN}::interval
    limit 1`;
  return row?.organization_id;
}

/** Returns the time in a UUID of version 7. */
function timeOf(id: string): Date {
  return new Date(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16));
}

/** The columns of a `CallRow`: of a usage line, and of the record of a call without a charge. */
export function callColumns(sql: Sql) {
  return { charged: chargedColumns(sql), free: freeColumns(sql) };
}

const SHARED = `scene, model, model_vendor, channel_id, protocol, program, looked_up, authenticated_us, reserved_us,
  routed_us, first_token_ms, ended_ms, detail`;

function chargedColumns(sql: Sql) {
  return sql.unsafe(`usage_line.id as sort_id, usage_line.request_id as id, usage_line.key_id,
    usage_line.at, usage_line.created_at as settled_at, usage_line.id as billing_id, outcome,
    case when outcome in ('completed', 'partial', 'cached') then 200 end as status,
    detail ->> 'error_code' as error_code, detail ->> 'fault' as fault, detail ->> 'task_id' as task_id,
    ${SHARED.replace('scene, model,', 'usage_line.scene, usage_line.model,').replace('channel_id', 'usage_line.channel_id')},
    access_channel, input_tokens, cached_input_tokens, cache_write_tokens, output_tokens,
    reasoning_tokens, audio_tokens, estimated, charged_nano_usd, overrun_nano_usd,
    coalesce(list_nano_usd, charged_nano_usd + overrun_nano_usd) as list_nano_usd,
    coalesce(counted_nano_usd, charged_nano_usd) as counted_nano_usd`);
}

function freeColumns(sql: Sql) {
  return sql.unsafe(`id as sort_id, id, key_id, at, null::timestamptz as settled_at,
    null::uuid as billing_id, outcome, status, error_code, fault, task_id, ${SHARED},
    'platform'::text as access_channel, 0 as input_tokens, 0 as cached_input_tokens,
    0 as cache_write_tokens, 0 as output_tokens, 0 as reasoning_tokens, 0 as audio_tokens,
    false as estimated, 0::int8 as charged_nano_usd, 0::int8 as overrun_nano_usd,
    0::int8 as list_nano_usd, 0::int8 as counted_nano_usd`);
}
