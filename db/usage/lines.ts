import type { Sql } from 'postgres';
import type { CallDetail } from '../records/record.ts';
import { type AsOf, isIn } from './as-of.ts';
import { conditions, type UsageFilters } from './filters.ts';

/** A charge, or money that a task in flight holds. Amounts are in nano-USD. */
export interface UsageRow {
  /** The UUID of the billing transaction; null while the money is held. */
  readonly billing_id: string | null;
  readonly request_id: string;
  readonly key_id: string;
  readonly at: Date;
  /** When the charge was committed; null while the money is held. */
  readonly settled_at: Date | null;
  readonly outcome: 'completed' | 'partial' | 'held';
  readonly scene: string;
  readonly model: string;
  readonly model_vendor: string;
  readonly access_channel: 'platform' | 'byok';
  readonly protocol: string;
  readonly program: string;
  readonly task_id: string | null;
  readonly input_tokens: number;
  readonly cached_input_tokens: number;
  readonly cache_write_tokens: number;
  readonly output_tokens: number;
  readonly reasoning_tokens: number;
  readonly audio_tokens: number;
  readonly estimated: boolean;
  readonly charged_nano_usd: number;
  readonly overrun_nano_usd: number;
  readonly held_nano_usd: number;
  readonly first_token_ms: number | null;
  readonly ended_ms: number | null;
  readonly detail: CallDetail | null;
}

/** A page of the lines, the newest first. */
export interface LinesPage {
  readonly rows: readonly UsageRow[];
  /** The number of lines on all pages. */
  readonly total: number;
}

/** Lists charges and the money that tasks hold, as they were in one committed state. */
export async function listLines(
  sql: Sql,
  filters: UsageFilters,
  as_of: AsOf,
  { offset, limit }: { readonly offset: number; readonly limit: number },
): Promise<LinesPage> {
  const [rows, counts] = await Promise.all([
    sql<UsageRow[]>`
      select * from (${charges(sql, filters, as_of)} union all ${holds(sql, filters, as_of)}) as line
      order by at desc, sort_id desc limit ${limit} offset ${offset}`,
    sql<{ total: number }[]>`
      select (select count(*) from usage_line where ${isCharge(sql, filters, as_of)})
        + (select count(*) from (${holds(sql, filters, as_of)}) as held) as total`,
  ]);
  return { rows, total: counts[0]?.total ?? 0 };
}

function isCharge(sql: Sql, filters: UsageFilters, as_of: AsOf) {
  return sql`${conditions(sql, filters, 'usage_line')} and ${isIn(sql, as_of, 'usage_line')}`;
}

function charges(sql: Sql, filters: UsageFilters, as_of: AsOf) {
  return sql`
    select ${chargeColumns(sql)} from usage_line where ${isCharge(sql, filters, as_of)}`;
}

/** The columns of a `UsageRow` of a charge. */
export function chargeColumns(sql: Sql) {
  return sql`
    id as sort_id, id as billing_id, request_id, key_id, at, created_at as settled_at, outcome, scene,
    model, model_vendor, access_channel, protocol, program, null::text as task_id, input_tokens,
    cached_input_tokens, cache_write_tokens, output_tokens, reasoning_tokens, audio_tokens, estimated,
    charged_nano_usd, overrun_nano_usd, 0::int8 as held_nano_usd, first_token_ms, ended_ms, detail`;
}

/**
 * The money that tasks held. The caller knows the vendors of the models. A task that has ended since `as_of` still held its money then, so that
 * a later page neither repeats nor skips its line.
 */
function holds(sql: Sql, filters: UsageFilters, as_of: AsOf) {
  return sql`
    select task.hold_id as sort_id, null::uuid as billing_id, task.request_id, task.key_id,
      date_trunc('milliseconds', hold.created_at) as at, null::timestamptz as settled_at, 'held'::text as outcome, task.scene,
      task.model, ''::text as model_vendor, 'platform'::text as access_channel, ''::text as protocol,
      ''::text as program, task.id as task_id, 0 as input_tokens, 0 as cached_input_tokens,
      0 as cache_write_tokens, 0 as output_tokens, 0 as reasoning_tokens, 0 as audio_tokens,
      true as estimated, 0::int8 as charged_nano_usd, 0::int8 as overrun_nano_usd,
      hold.amount_nano_usd as held_nano_usd, null::int4 as first_token_ms, null::int4 as ended_ms,
      null::jsonb as detail
    from task join hold on hold.id = task.hold_id
    where ${taskConditions(sql, filters)} and hold.created_at <= ${as_of.at}
      and (task.ended_at is null or task.ended_at > ${as_of.at})
      and not exists (select from usage_line
        where usage_line.id = task.billing_id and ${isIn(sql, as_of, 'usage_line')})`;
}

function taskConditions(
  sql: Sql,
  { organization_id, key_id, model, scene, from, until, ...rest }: UsageFilters,
) {
  // A running task has no usage line, which would have these facts.
  const asksMore = rest.protocol ?? rest.end_user;
  return sql`
    task.organization_id = ${organization_id}
    ${asksMore !== undefined || rest.access_channel === 'byok' ? sql`and false` : sql``}
    ${rest.vendor_models ? sql`and task.model = any(${rest.vendor_models as string[]})` : sql``}
    ${key_id === undefined ? sql`` : sql`and task.key_id = ${key_id}`}
    ${model === undefined ? sql`` : sql`and task.model = ${model}`}
    ${scene === undefined ? sql`` : sql`and task.scene = ${scene}`}
    ${from === undefined ? sql`` : sql`and hold.created_at >= ${from}`}
    ${until === undefined ? sql`` : sql`and hold.created_at < ${until}`}`;
}
