import type { Fragment, Sql } from 'postgres';
import { type AsOf, isIn } from '../as-of.ts';
import { DURATION_CLASS } from './counters.ts';

/** By what usage is grouped and filtered. Series have these columns. */
export const DIMENSIONS = [
  'scene',
  'model',
  'model_vendor',
  'access_channel',
  'protocol',
  'outcome',
] as const;

export type Dimension = (typeof DIMENSIONS)[number];

type Snapshot = Pick<AsOf, 'next_xid' | 'open_xids'>;

/** Seconds in 15 minutes. */
export const QUARTER_S = 900;
export const QUARTERS_A_DAY = 96;
const QUARTER = `floor(date_part('epoch', at) / ${QUARTER_S})::int4`;

/** The tables whose rows are summed. */
export type EntryTable = 'usage_line' | 'call_record';

/** What a row adds to the sums of the cache. */
const OF_CACHE = `looked_up::int4 as cache_lookups, (looked_up and outcome = 'cached')::int4 as cache_hits,
  case when looked_up and outcome = 'cached' then coalesce((detail ->> 'saved_nano_usd')::int8, 0) else 0::int8 end
    as saved_nano_usd`;

const SELECTED: Record<EntryTable, string> = {
  usage_line: `id, xid, organization_id, key_id, at, ${QUARTER} as quarter, scene, model, model_vendor,
    access_channel, protocol, outcome, 1 as requests, 1 as charges,
    (outcome in ('completed', 'cached'))::int4 as succeeded, charged_nano_usd,
    coalesce(list_nano_usd, charged_nano_usd + overrun_nano_usd) as list_nano_usd, input_tokens, cached_input_tokens,
    cache_write_tokens, output_tokens, reasoning_tokens, audio_tokens,
    coalesce(ended_ms, 0) as duration_ms, (ended_ms is not null)::int4 as durations,
    coalesce(first_token_ms, 0) as first_token_ms,
    (first_token_ms is not null)::int4 as first_tokens, ${OF_CACHE}, ${DURATION_CLASS} as took`,
  // The text that a client sent as its model must not make a new series.
  call_record: `id, xid, organization_id, key_id, at, ${QUARTER} as quarter, scene,
    case when model_vendor = '' then '' else model end as model, model_vendor,
    'platform'::text as access_channel, protocol, outcome, 1 as requests, 0 as charges,
    (outcome in ('repeated', 'cached', 'accepted', 'free'))::int4 as succeeded, 0::int8 as charged_nano_usd,
    0::int8 as list_nano_usd, 0 as input_tokens, 0 as cached_input_tokens, 0 as cache_write_tokens,
    0 as output_tokens, 0 as reasoning_tokens, 0 as audio_tokens,
    coalesce(ended_ms, 0) as duration_ms, (ended_ms is not null)::int4 as durations,
    coalesce(first_token_ms, 0) as first_token_ms,
    (first_token_ms is not null)::int4 as first_tokens, ${OF_CACHE}, ${DURATION_CLASS} as took`,
};

/**
 * Returns a query for the rows of a table that meet `where`, each with what it adds to the sums. A
 * call that created a task adds nothing, because the end of the task does. Earlier versions wrote a
 * record of such a call. With `partition`, the rows of this partition only.
 */
export function entriesOf(
  sql: Sql,
  table: EntryTable,
  where: Fragment,
  partition: string = table,
): Fragment {
  const more =
    table === 'call_record' ? sql`and (task_id is null or outcome <> 'accepted')` : sql``;
  return sql`select ${sql.unsafe(SELECTED[table])} from ${sql(partition)} as ${sql(table)}
    where ${where} ${more}`;
}

/**
 * The condition that a row is in a later state and not in an earlier one. Its first part lets the index
 * on `xid` skip old pages.
 */
export function isNew(tx: Sql, last: Snapshot, next: Snapshot, table: EntryTable): Fragment {
  return tx`xid >= ${Math.min(last.next_xid, ...last.open_xids)}
    and (xid >= ${last.next_xid} or xid = any(${[...last.open_xids]}::int8[]))
    and ${isIn(tx, { ...next, at: new Date(0) }, table)}`;
}
