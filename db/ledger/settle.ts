import type { Sql, TransactionSql } from 'postgres';

/** A settled charge of an inline call: its usage line item (spec: Management, usage). */
export interface UsageLine {
  /** The billing transaction, a UUID; `txn_…` outside. Repeating a line with the same id is harmless. */
  id: string;
  request_id: string;
  organization_id: string;
  key_id: string;
  scene: string;
  access_channel: 'platform' | 'byok';
  model: string;
  model_vendor: string;
  channel_id: string;
  outcome: 'completed' | 'partial';
  input_tokens: number;
  cached_input_tokens: number;
  cache_write_tokens: number;
  output_tokens: number;
  estimated: boolean;
  charged_nano_usd: number;
  overrun_nano_usd: number;
}

export interface InlineLine extends UsageLine {
  grant_id: string;
}

/** What the row says after the commit: the truth about a charge. */
export interface SettledLine {
  id: string;
  charged_nano_usd: number;
  overrun_nano_usd: number;
}

/**
 * Books a batch of inline charges in one statement: the rows, and their sum on the grants.
 *
 * - A line that is there already is answered from its row and charges nothing again.
 * - A line whose grant is closed (its replica was given up) charges nothing: the platform absorbs it.
 * - Grants are locked in id order, as everywhere.
 *
 * One JSON parameter instead of eighteen arrays: measured faster, and the driver needs no array types.
 */
export async function settleInline(
  sql: Sql | TransactionSql,
  lines: readonly InlineLine[],
): Promise<SettledLine[]> {
  const { booked, absorbed } = await bookNew(sql, lines);
  const rows = new Map(lines.map((line) => [line.id, line as SettledLine]));
  for (const row of absorbed) rows.set(row.id, row);
  if (booked < rows.size) {
    // Only a repetition comes here; looking in the same statement would cost every batch a join.
    const ids = [...rows.keys()];
    const before = await sql<SettledLine[]>`
      select id, charged_nano_usd, overrun_nano_usd from usage_line
      where id = any(${ids}::uuid[])`;
    return [...before];
  }
  return [...rows.values()];
}

/** How many lines are new, and those of them that were booked otherwise than asked. */
async function bookNew(
  sql: Sql | TransactionSql,
  lines: readonly InlineLine[],
): Promise<{ booked: number; absorbed: SettledLine[] }> {
  const rows = await sql<{ booked: number; absorbed: SettledLine[] | null }[]>`
    with input as (
      select * from json_to_recordset(${JSON.stringify(lines)}::text::json) as line(
        id uuid, request_id uuid, organization_id text, key_id text, grant_id uuid, scene text,
        access_channel text, model text, model_vendor text, channel_id text, outcome text,
        input_tokens int, cached_input_tokens int, cache_write_tokens int, output_tokens int,
        estimated bool, charged_nano_usd int8, overrun_nano_usd int8)
    ), locked as (
      select id, status from quota_grant
      where id in (select grant_id from input) order by id for update
    ), inserted as (
      insert into usage_line (
        id, request_id, organization_id, key_id, grant_id, scene, access_channel, model,
        model_vendor, channel_id, outcome, input_tokens, cached_input_tokens, cache_write_tokens,
        output_tokens, estimated, charged_nano_usd, overrun_nano_usd, created_at)
      select
        input.id, request_id, organization_id, key_id, grant_id, scene, access_channel, model,
        model_vendor, channel_id, outcome, input_tokens, cached_input_tokens, cache_write_tokens,
        output_tokens, estimated,
        case when locked.status = 'open' then charged_nano_usd else 0 end,
        case when locked.status = 'open' then overrun_nano_usd
             else overrun_nano_usd + charged_nano_usd end,
        (select weir_now())
      from input join locked on locked.id = input.grant_id
      on conflict (id) do nothing
      returning id, grant_id, charged_nano_usd, overrun_nano_usd
    ), charged as (
      update quota_grant set settled_nano_usd = settled_nano_usd + total.nano_usd
      from (
        select grant_id, sum(charged_nano_usd)::int8 as nano_usd from inserted
        group by grant_id having sum(charged_nano_usd) > 0
      ) as total
      where quota_grant.id = total.grant_id
    )
    select count(*)::int4 as booked,
      json_agg(json_build_object('id', inserted.id, 'charged_nano_usd', charged_nano_usd,
        'overrun_nano_usd', overrun_nano_usd)) filter (where locked.status <> 'open') as absorbed
    from inserted join locked on locked.id = inserted.grant_id`;
  return { booked: rows[0]?.booked ?? 0, absorbed: rows[0]?.absorbed ?? [] };
}
