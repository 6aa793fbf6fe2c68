/** Rows of usage that several open transactions write, and sums that are made of all rows, one by one. */
import type { ReservedSql } from 'postgres';
import type { Sql } from '../../../db/client.ts';
import type { AsOf } from '../../../db/usage/as-of.ts';
import type { Group, SumsRequest } from '../../../db/usage/roll-ups/request.ts';

/** What a row says. `charged` is null for a call without a charge. */
export interface UsageEntry {
  readonly organization_id: string;
  readonly key_id: string;
  readonly at: Date;
  readonly scene: string;
  readonly model: string;
  readonly protocol: string;
  readonly charged: number | null;
  readonly overrun: number;
  readonly tokens: number;
  readonly ended_ms: number | null;
  readonly first_token_ms: number | null;
  readonly outcome: string;
  readonly end_user: string | null;
  readonly task: boolean;
  /** True if the call was looked up in the cache. */
  readonly looked_up?: boolean;
  /** What an answer from the cache saved, nano-USD. */
  readonly saved?: number;
}

const ORIGIN = '00000000-0000-0000-0000-000000000001';
/** A model that is not in the catalogue has no vendor. */
export const UNKNOWN_MODEL = 'gpt-4o-mni';
const vendorOf = (model: string) => (model === UNKNOWN_MODEL ? '' : `vendor of ${model}`);

/** Writes one row in the transaction of a connection. */
export async function writeEntry(sql: Sql | ReservedSql, entry: UsageEntry): Promise<void> {
  const { organization_id, key_id, at, scene, model, protocol, outcome, ended_ms } = entry;
  const { end_user, looked_up = false, saved } = entry;
  const facts = {
    ...(end_user === null ? {} : { end_user }),
    ...(saved === undefined ? {} : { saved_nano_usd: saved }),
  };
  const detail = Object.keys(facts).length === 0 ? null : facts;
  const id = crypto.randomUUID();
  if (entry.charged === null) {
    await sql`
      insert into call_record (id, organization_id, key_id, scene, model, model_vendor, channel_id,
        outcome, status, task_id, at, protocol, ended_ms, first_token_ms, looked_up, detail)
      values (${id}, ${organization_id}, ${key_id}, ${scene}, ${model}, ${vendorOf(model)}, '',
        ${outcome}, 400, ${entry.task ? id : null}, ${at}, ${protocol}, ${ended_ms},
        ${entry.first_token_ms}, ${looked_up}, ${detail && JSON.stringify(detail)})`;
    return;
  }
  await sql`
    insert into usage_line (id, request_id, organization_id, key_id, grant_id, scene,
      access_channel, model, model_vendor, channel_id, outcome, input_tokens, cached_input_tokens,
      cache_write_tokens, output_tokens, estimated, charged_nano_usd, overrun_nano_usd, at,
      protocol, ended_ms, first_token_ms, looked_up, detail)
    values (${id}, ${id}, ${organization_id}, ${key_id}, ${ORIGIN}, ${scene}, 'platform', ${model},
      ${vendorOf(model)}, 'c', ${outcome}, ${entry.tokens}, 1, 2, 3, false, ${entry.charged},
      ${entry.overrun}, ${at}, ${protocol}, ${ended_ms}, ${entry.first_token_ms}, ${looked_up},
      ${detail && JSON.stringify(detail)})`;
}

/** The ids of all charges that pass, the newest first. */
export async function listUp(sql: Sql, { filters, as_of }: SumsRequest): Promise<string[]> {
  const rows = await sql<(StoredRow & { id: string })[]>`
    select id, xid, organization_id, key_id, at, scene, model, model_vendor, access_channel,
      protocol, outcome, detail ->> 'end_user' as end_user
    from usage_line order by at desc, id desc`;
  return rows.flatMap((row) => (has(as_of, row.xid) && passes(row, filters) ? [row.id] : []));
}

interface StoredRow {
  readonly kind: 'line' | 'record';
  readonly xid: number;
  readonly organization_id: string;
  readonly key_id: string;
  readonly at: Date;
  readonly scene: string;
  readonly model: string;
  readonly model_vendor: string;
  readonly access_channel: string;
  readonly protocol: string;
  readonly outcome: string;
  readonly task_id: string | null;
  readonly charged: number;
  readonly overrun: number;
  readonly tokens: number;
  readonly ended_ms: number | null;
  readonly first_token_ms: number | null;
  readonly end_user: string | null;
  readonly looked_up: boolean;
  readonly saved: number | null;
}

/** The sums of one group that the tests compare. */
export interface PlainSums {
  requests: number;
  charges: number;
  succeeded: number;
  charged: number;
  list: number;
  tokens: number;
  duration_ms: number;
  first_tokens: number;
  cache_lookups: number;
  cache_hits: number;
  saved: number;
}

const SUCCEEDED = ['completed', 'repeated', 'cached', 'accepted', 'free'];

/** Adds up all rows, one by one. Keys of the result are the group's names and the bucket. */
export async function addUp(
  sql: Sql,
  { filters, as_of, groups, starts }: SumsRequest,
): Promise<Record<string, PlainSums>> {
  const rows = await sql<StoredRow[]>`
    select 'line' as kind, xid, organization_id, key_id, at, scene, model, model_vendor,
      access_channel, protocol, outcome, null::text as task_id, charged_nano_usd as charged,
      overrun_nano_usd as overrun, input_tokens as tokens, ended_ms, first_token_ms,
      detail ->> 'end_user' as end_user, looked_up, (detail ->> 'saved_nano_usd')::int8 as saved
    from usage_line
    union all
    select 'record', xid, organization_id, key_id, at, scene, model, model_vendor, 'platform',
      protocol, outcome, task_id, 0, 0, 0, ended_ms, first_token_ms, detail ->> 'end_user',
      looked_up, (detail ->> 'saved_nano_usd')::int8
    from call_record`;
  const sums: Record<string, PlainSums> = {};
  for (const stored of rows) {
    const isCreation = stored.task_id !== null && stored.outcome === 'accepted';
    if (!has(as_of, stored.xid) || isCreation) continue;
    const isUnknown = stored.kind === 'record' && stored.model_vendor === '';
    const row = isUnknown ? { ...stored, model: '' } : stored;
    if (!passes(row, filters)) continue;
    const quarter = Math.floor(row.at.getTime() / 900_000);
    const bucket =
      starts === 'utc_days'
        ? Math.floor(quarter / 96)
        : starts?.length
          ? starts.findLastIndex((start) => start <= quarter)
          : 0;
    const name = [...groups.map((group: Group) => row[group]), bucket].join('|');
    sums[name] ??= {
      ...{ requests: 0, charges: 0, succeeded: 0, charged: 0, list: 0, tokens: 0 },
      ...{ duration_ms: 0, first_tokens: 0, cache_lookups: 0, cache_hits: 0, saved: 0 },
    };
    const sum = sums[name];
    sum.requests += 1;
    if (row.kind === 'line') sum.charges += 1;
    if (SUCCEEDED.includes(row.outcome)) sum.succeeded += 1;
    sum.charged += row.charged;
    sum.list += row.charged + row.overrun;
    sum.tokens += row.tokens;
    sum.duration_ms += row.ended_ms ?? 0;
    if (row.first_token_ms !== null) sum.first_tokens += 1;
    if (!row.looked_up) continue;
    sum.cache_lookups += 1;
    if (row.outcome !== 'cached') continue;
    sum.cache_hits += 1;
    sum.saved += row.saved ?? 0;
  }
  return sums;
}

function has({ next_xid, open_xids }: AsOf, xid: number): boolean {
  return xid < next_xid && !open_xids.includes(xid);
}

function passes(row: StoredRow, filters: SumsRequest['filters']): boolean {
  const { from, until, outcomes, key_ids, end_user } = filters;
  const equal = [
    'organization_id',
    'key_id',
    'model',
    'model_vendor',
    'scene',
    'protocol',
  ] as const;
  return (
    equal.every((name) => filters[name] === undefined || filters[name] === row[name]) &&
    (from === undefined || row.at >= from) &&
    (until === undefined || row.at < until) &&
    (outcomes === undefined || outcomes.includes(row.outcome)) &&
    (key_ids === undefined || key_ids.includes(row.key_id)) &&
    (end_user === undefined || end_user === row.end_user)
  );
}
