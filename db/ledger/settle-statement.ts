/** The statement that inserts usage lines and adds their charges to the grants. */

/** Which of its forms is needed. */
export interface SettleForm {
  /** True to insert no line that is stored already, instead of an error. */
  readonly skip_repeated: boolean;
  /** True if one of the lines has a value that few lines have. */
  readonly has_rare: boolean;
}

/**
 * Returns the statement. Each form is one text, so a connection prepares it once. Its values:
 *
 * - `$1`: the common values, as JSON;
 * - `$2` to `$6`: for each line the number of its common values, its id, tokens and charge;
 * - `$7` and `$8`: a date, ms since the Unix epoch, and for each line the time after that date;
 * - `$9` to `$13`: for each line the offsets of its call. A shorter array stands for nulls;
 * - `$14`: the values that few lines have, as JSON; only if `has_rare`.
 *
 * It returns the number of new lines (`booked`), and whether a grant was closed (`has_absorbed`).
 */
export function settleStatement({ skip_repeated, has_rare }: SettleForm): string {
  const forms = skip_repeated ? SKIPPING : EXPECTING;
  return has_rare ? forms.rare : forms.plain;
}

/** How the columns are computed that few lines have. */
interface RareColumns {
  readonly request_id: string;
  readonly overrun: string;
  readonly list: string;
  readonly counted: string;
  readonly count: (name: string) => string;
  readonly detail: string;
  /** The column of a line that its rare values name. */
  readonly place: string;
  readonly join: string;
}

/** Most settlements have no rare values, and need no join with them. */
const PLAIN: RareColumns = {
  ...{ request_id: 'id', overrun: '0', list: 'null::int8', counted: 'null::int8' },
  ...{ count: () => '0', detail: 'null::jsonb', place: '', join: '' },
};

const RARE: RareColumns = {
  request_id: 'coalesce(rare.request_id, id)',
  overrun: 'coalesce(rare.overrun_nano_usd, 0)',
  list: 'rare.list_nano_usd',
  counted: 'rare.counted_nano_usd',
  count: (name) => `coalesce(rare.${name}, 0)`,
  detail: 'rare.detail',
  place: ', generate_series(1, array_length($3::text::uuid[], 1)::int8) as place',
  join: `left join json_to_recordset($14::text::json) as rare(
        place int8, request_id uuid, cached_input_tokens int, cache_write_tokens int,
        reasoning_tokens int, audio_tokens int, overrun_nano_usd int8, list_nano_usd int8,
        counted_nano_usd int8, detail jsonb) using (place)`,
};

const EXPECTING = formsOf('');
const SKIPPING = formsOf('on conflict do nothing');

function formsOf(on_repeat: string): Record<'plain' | 'rare', string> {
  return { plain: textOf(PLAIN, on_repeat), rare: textOf(RARE, on_repeat) };
}

function textOf(rare: RareColumns, on_repeat: string): string {
  return `
    with common as (
      select * from json_to_recordset($1::text::json) as common(
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
        authenticated_us, reserved_us, routed_us, first_token_ms, ended_ms, (select weir_now()),
        coalesce(to_timestamp(($7::text::float8 + after_ms) / 1000), (select weir_now())),
        (select pg_current_xact_id()::text::int8),
        ${rare.request_id},
        case when is_open then ${rare.overrun} else ${rare.overrun} + charged_nano_usd end,
        ${rare.list}, case when is_open then ${rare.counted} end,
        ${rare.count('cached_input_tokens')}, ${rare.count('cache_write_tokens')},
        ${rare.count('reasoning_tokens')}, ${rare.count('audio_tokens')}, ${rare.detail}
      from (select
        unnest($2::text::int[]) as number,
        unnest($3::text::uuid[]) as id,
        unnest($4::text::int[]) as input_tokens,
        unnest($5::text::int[]) as output_tokens,
        unnest($6::text::int8[]) as charged_nano_usd,
        unnest($8::text::float8[]) as after_ms,
        unnest($9::text::int[]) as authenticated_us,
        unnest($10::text::int[]) as reserved_us,
        unnest($11::text::int[]) as routed_us,
        unnest($12::text::int[]) as first_token_ms,
        unnest($13::text::int[]) as ended_ms
        ${rare.place}
      ) as line
      join shared using (number)
      ${rare.join}
      ${on_repeat}
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
}
