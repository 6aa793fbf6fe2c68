import type { Sql, TransactionSql } from 'postgres';
import { isUniqueViolation } from '../unique-violation.ts';
import { groupByCommon, rareOf } from './line-values.ts';
import type { InlineLine } from './usage-line.ts';

/**
 * The amounts that are stored in a usage line. They may differ from the amounts that were sent, e.g.
 * if the line is repeated.
 */
export interface SettledLine {
  charged_nano_usd: number;
  overrun_nano_usd: number;
  /**
   * `settled_nano_usd` of the line's grant after this settlement. It is set only on the last line
   * of each grant, and only if a line was repeated or its grant was closed or missing. In this case
   * the sender's own sum is wrong, and the sender must use this sum instead.
   */
  grant_settled_nano_usd?: number;
}

/**
 * Inserts usage lines and adds their charges to the grants, in one statement.
 *
 * - A repeated line charges nothing; the amounts of its stored row are returned. That row may belong
 *   to the grant of another replica.
 * - If the line's grant is closed, because the grant's replica is dead, the line charges nothing.
 *   The platform absorbs the amount: it is added to `overrun_nano_usd`.
 * - A line with an id below `first_id` is a repeat whose row retention removed. It charges nothing,
 *   and its own amounts are returned. Without `first_id`, the database refuses such a line.
 * - Grants are locked in id order (see `lockMoney`).
 *
 * Returns the amounts in the order of the lines. An amount is undefined if there is no such grant;
 * then nothing was charged.
 *
 * Values that many lines share are sent once, as JSON. The other values are sent as arrays
 * (decisions: bulk-settlement).
 */
export async function settleInline(
  sql: Sql | TransactionSql,
  lines: readonly InlineLine[],
  first_id = '',
): Promise<(SettledLine | undefined)[]> {
  const kept = first_id === '' ? lines : lines.filter(({ id }) => id >= first_id);
  const { booked, has_absorbed } = await insertNewLines(sql, kept);
  if (booked === lines.length && !has_absorbed) return [...lines];
  return readSettled(sql, lines, first_id);
}

/**
 * Reads the amounts of the lines and the sums of their grants. Needed only if a line is repeated,
 * or if its grant is closed or does not exist. This is rare, so these are separate queries. They do
 * not slow down the statement that inserts the lines.
 */
async function readSettled(
  sql: Sql | TransactionSql,
  lines: readonly InlineLine[],
  first_id: string,
): Promise<(SettledLine | undefined)[]> {
  const ids = lines.map(({ id }) => id);
  const stored = await sql<(SettledLine & { id: string })[]>`
    select id, charged_nano_usd, overrun_nano_usd from usage_line where id = any(${ids}::uuid[])`;
  const grant_ids = [...new Set(lines.map(({ grant_id }) => grant_id))];
  const grants = await sql<{ id: string; settled_nano_usd: number }[]>`
    select id, settled_nano_usd from quota_grant where id = any(${grant_ids}::uuid[])`;
  const line_of = new Map(stored.map((row) => [row.id, row]));
  const settled_of = new Map(grants.map((row) => [row.id, row.settled_nano_usd]));
  const answers = lines.map((line): SettledLine | undefined => {
    const row = line_of.get(line.id) ?? (line.id < first_id ? line : undefined);
    if (!row) return undefined;
    const { charged_nano_usd, overrun_nano_usd } = row;
    return { charged_nano_usd, overrun_nano_usd };
  });
  for (const grant_id of grant_ids) {
    const last = answers.findLast((answer, at) => answer && lines[at]?.grant_id === grant_id);
    if (last) last.grant_settled_nano_usd = settled_of.get(grant_id) ?? 0;
  }
  return answers;
}

/** The number of new lines, and whether a grant was closed. */
interface Inserted {
  readonly booked: number;
  readonly has_absorbed: boolean;
}

/**
 * Inserts the lines that are not stored yet. Lines are rarely repeated, and an insert that skips such
 * lines costs a tenth more. So the first attempt expects none, unless an error would end a transaction.
 * `on conflict` names no column: with a name, each statement looks up the index in the catalogue of
 * each partition.
 */
async function insertNewLines(
  sql: Sql | TransactionSql,
  lines: readonly InlineLine[],
): Promise<Inserted> {
  if ('savepoint' in sql) return insertLines(sql, lines, { skip_repeated: true });
  try {
    return await insertLines(sql, lines, { skip_repeated: false });
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    return insertLines(sql, lines, { skip_repeated: true });
  }
}

async function insertLines(
  sql: Sql | TransactionSql,
  lines: readonly InlineLine[],
  { skip_repeated }: { skip_repeated: boolean },
): Promise<Inserted> {
  const { common, common_of } = groupByCommon(lines);
  const column = (value: (line: InlineLine) => number | string) => arrayOf(lines.map(value));
  const offset = (name: Offset) => column(({ record }) => record?.[name] ?? UNKNOWN);
  const [row] = await sql<Inserted[]>`
    with common as (
      select * from json_to_recordset(${JSON.stringify(common)}::text::json) as common(
        number int, organization_id text, key_id text, grant_id uuid, scene text,
        access_channel text, model text, model_vendor text, channel_id text, outcome text,
        estimated bool, protocol text, program text, looked_up bool)
    ), locked as (
      select id, status = 'open' as is_open from quota_grant
      where id in (select grant_id from common) order by id for no key update
    ), shared as (
      select common.*, is_open from common join locked on locked.id = common.grant_id
    ), inserted as (
      insert into usage_line (
        organization_id, key_id, grant_id, scene, access_channel, model, model_vendor, channel_id,
        outcome, estimated, protocol, program, looked_up, id, input_tokens, output_tokens, charged_nano_usd,
        authenticated_us, reserved_us, routed_us, first_token_ms, ended_ms, created_at, at, xid,
        request_id, overrun_nano_usd, list_nano_usd, counted_nano_usd, cached_input_tokens,
        cache_write_tokens, reasoning_tokens, audio_tokens, detail)
      select
        organization_id, key_id, grant_id, scene, access_channel, model, model_vendor, channel_id,
        outcome, estimated, protocol, program, looked_up, id, input_tokens, output_tokens,
        case when is_open then charged_nano_usd else 0 end,
        nullif(authenticated_us, -1), nullif(reserved_us, -1), nullif(routed_us, -1),
        nullif(first_token_ms, -1), nullif(ended_ms, -1), (select weir_now()),
        case when at_ms = -1 then (select weir_now()) else to_timestamp(at_ms / 1000) end,
        (select pg_current_xact_id()::text::int8),
        coalesce(rare.request_id, id),
        case when is_open then coalesce(rare.overrun_nano_usd, 0)
             else coalesce(rare.overrun_nano_usd, 0) + charged_nano_usd end,
        rare.list_nano_usd, case when is_open then rare.counted_nano_usd end,
        coalesce(rare.cached_input_tokens, 0), coalesce(rare.cache_write_tokens, 0),
        coalesce(rare.reasoning_tokens, 0), coalesce(rare.audio_tokens, 0), rare.detail
      from (select
        unnest(${arrayOf(common_of)}::text::int[]) as number,
        unnest(${column(({ id }) => id)}::text::uuid[]) as id,
        unnest(${column(({ input_tokens }) => input_tokens)}::text::int[]) as input_tokens,
        unnest(${column(({ output_tokens }) => output_tokens)}::text::int[]) as output_tokens,
        unnest(${column(({ charged_nano_usd }) => charged_nano_usd)}::text::int8[])
          as charged_nano_usd,
        unnest(${column(({ record }) => record?.at_ms ?? UNKNOWN)}::text::float8[]) as at_ms,
        unnest(${offset('authenticated_us')}::text::int[]) as authenticated_us,
        unnest(${offset('reserved_us')}::text::int[]) as reserved_us,
        unnest(${offset('routed_us')}::text::int[]) as routed_us,
        unnest(${offset('first_token_ms')}::text::int[]) as first_token_ms,
        unnest(${offset('ended_ms')}::text::int[]) as ended_ms,
        generate_series(1, ${lines.length}::int8) as place
      ) as line
      join shared using (number)
      left join json_to_recordset(${JSON.stringify(lines.flatMap(rareOf))}::text::json) as rare(
        place int8, request_id uuid, cached_input_tokens int, cache_write_tokens int,
        reasoning_tokens int, audio_tokens int, overrun_nano_usd int8, list_nano_usd int8,
        counted_nano_usd int8, detail jsonb) using (place)
      ${skip_repeated ? sql`on conflict do nothing` : sql``}
      returning grant_id, charged_nano_usd, counted_nano_usd
    ), total as (
      select grant_id, count(*) as lines,
        sum(coalesce(counted_nano_usd, charged_nano_usd))::int8 as nano_usd,
        sum(coalesce(counted_nano_usd - charged_nano_usd, 0))::int8 as uncharged_nano_usd
      from inserted group by grant_id
    ), charged as (
      update quota_grant set settled_nano_usd = settled_nano_usd + total.nano_usd,
        uncharged_nano_usd = quota_grant.uncharged_nano_usd + total.uncharged_nano_usd
      from total where quota_grant.id = total.grant_id and total.nano_usd > 0
    )
    select coalesce(sum(lines), 0)::int4 as booked, coalesce(bool_or(not is_open), false) as has_absorbed
    from total join locked on locked.id = total.grant_id`;
  return row ?? { booked: 0, has_absorbed: false };
}

/** Sent for a time that the record lacks. The statement stores null instead. */
const UNKNOWN = -1;

/** The offsets of a record. */
type Offset = 'authenticated_us' | 'reserved_us' | 'routed_us' | 'first_token_ms' | 'ended_ms';

/** Returns numbers or UUIDs as an array literal of PostgreSQL. In such a literal, they need no quotes. */
function arrayOf(values: readonly (number | string)[]): string {
  return `{${values.join()}}`;
}
