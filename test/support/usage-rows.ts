/** Usage lines and records of calls in large numbers, made inside PostgreSQL. */
import type { Sql } from '../../db/client.ts';
import { firstIdAt } from '../../db/housekeeping.ts';
import { listPartitions } from '../../db/retention/months.ts';

export interface RowsOptions {
  readonly organization_id: string;
  readonly lines: number;
  readonly keys: number;
  readonly days: number;
}

/** A model of the catalogue, as lines name it. */
export interface RowModel {
  readonly id: string;
  readonly owned_by: string;
  readonly scene: string;
}

const BATCH = 500_000;
/** One record of a call without a charge for each so many lines. */
const LINES_A_RECORD = 20;
const INDEXES = ['usage_by_key', 'usage_by_organization', 'usage_by_transaction'];

/** The id of a key by its rank: key 1 has the most lines. */
export const keyOf = (rank: number): string => `key_bench_${rank}`;

/**
 * Fills a database in which no Weir runs. A key uses one protocol and up to three models, as a program
 * does; the shares of models follow Zipf's law (exponent 1), those of keys Zipf's law with exponent
 * 0.5. Dates rise with ids, up to minutes in wrong order, until now. Grants, keys and the organization
 * get the sums of the lines, so that the audit finds no fault. The sums of usage are made by Weir.
 */
export async function fillUsage(
  sql: Sql,
  models: readonly RowModel[],
  options: RowsOptions,
  print: (text: string) => void,
): Promise<void> {
  const { organization_id, lines, keys } = options;
  await splitMonths(sql, options.days);
  await sql`insert into replica (id, status, lease_until) values ('replica_bench', 'dead', now())`;
  await sql`
    insert into api_key (id, organization_id, name, key_hash, key_prefix)
    select 'key_bench_' || n, ${organization_id}, 'Key ' || n, 'hash ' || n, 'sk-'
    from generate_series(1, ${keys}::int4) as n`;
  const definitions: string[] = [];
  for (const name of INDEXES) {
    const [index] = await sql<{ text: string }[]>`
      select pg_get_indexdef(${name}::text::regclass) as text`;
    // Without `only`, the index is made in each partition too.
    definitions.push((index?.text ?? '').replace(' ON ONLY ', ' ON '));
    await sql`drop index ${sql(name)}`;
  }
  const shares = zipf(models.length, 1).slice(0, -1);
  const drawn = sql`1 + width_bucket(random(), ${shares}::float8[])`;
  await sql`
    create table bench_key as select n, 'key_bench_' || n as key_id, gen_random_uuid() as grant_id,
      array[${drawn}, ${drawn}, ${drawn}] as models,
      (array['openai', 'openai', 'anthropic', 'responses', 'gemini'])[1 + n % 5] as protocol
    from generate_series(1, ${keys}::int4) as n`;
  for (let first = 1; first <= lines; first += BATCH) {
    const last = Math.min(lines, first + BATCH - 1);
    await insertLines(sql, models, { ...options, first, last });
    print(`  ${last} lines`);
  }
  await insertRecords(sql, options);
  for (const text of definitions) await sql.unsafe(text);
  await balance(sql, organization_id);
  // As after an update: the first replica sums all older lines, a part at a time.
  await sql`update usage_fold set is_ready = false, next_xid = 0, table_name = 'usage_line',
    organization_id = '', at = '-infinity', row_id = '00000000-0000-0000-0000-000000000000'`;
  await sql.unsafe('vacuum analyze usage_line');
  await sql.unsafe('vacuum analyze call_record');
}

/** Gives each month of the rows a partition, as after months of work. The tables are empty. */
async function splitMonths(sql: Sql, days: number): Promise<void> {
  for (const table of ['usage_line', 'call_record'] as const) {
    const [earlier] = await listPartitions(sql, table);
    if (!earlier) throw new Error(`${table} has no partition`);
    const end = earlier.until;
    await sql.unsafe(`alter table ${table} detach partition ${earlier.name}`);
    const months = Math.ceil(days / 28) + 1;
    const starts = Array.from({ length: months }, (_, at) =>
      Date.UTC(end.getUTCFullYear(), end.getUTCMonth() - months + at, 1),
    );
    const bounds = [...starts, end.getTime()].map((at) => `'${firstIdAt(at)}'`);
    await sql.unsafe(`
      alter table ${table} attach partition ${earlier.name} for values from (minvalue) to (${bounds[0]})`);
    for (const [at, from] of bounds.slice(0, -1).entries()) {
      await sql.unsafe(`
        create table ${table}_bench_${at} partition of ${table} for values from (${from}) to (${bounds[at + 1]})`);
    }
  }
}

/**
 * Inserts some lines of now, as a settlement would. Returns the number of the transaction. Grants, keys and the
 * organization get these charges with `bookMore`.
 */
export async function insertMore(
  sql: Sql,
  models: readonly RowModel[],
  options: RowsOptions,
  count: number,
): Promise<number> {
  return (await sql.begin(async (transaction) => {
    const tx = transaction as unknown as Sql;
    const last = options.lines;
    await insertLines(tx, models, { ...options, first: last - count + 1, last });
    const [row] = await tx<{ xid: number }[]>`select pg_current_xact_id()::text::int8 as xid`;
    return row?.xid ?? 0;
  })) as number;
}

interface Batch extends RowsOptions {
  readonly first: number;
  readonly last: number;
}

/** Returns the upper bounds of shares by Zipf's law: the last is 1. */
function zipf(count: number, exponent: number): number[] {
  const weights = Array.from({ length: count }, (_, at) => (at + 1) ** -exponent);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  let sum = 0;
  return weights.map((weight) => {
    sum += weight / total;
    return sum;
  });
}

async function insertLines(sql: Sql, models: readonly RowModel[], batch: Batch): Promise<void> {
  const { organization_id, keys, days, lines, first, last } = batch;
  const key_shares = zipf(keys, 0.5).slice(0, -1);
  const column = (name: keyof RowModel) => models.map((model) => model[name]);
  await sql`
    insert into usage_line (id, request_id, organization_id, key_id, grant_id, scene,
      access_channel, model, model_vendor, channel_id, outcome, input_tokens, cached_input_tokens,
      cache_write_tokens, output_tokens, estimated, charged_nano_usd, overrun_nano_usd, created_at,
      at, protocol, program, authenticated_us, reserved_us, routed_us, first_token_ms, ended_ms,
      reasoning_tokens, audio_tokens, detail)
    select (hex || '7' || substr(noise, 1, 3) || '8' || substr(noise, 4, 15))::uuid,
      (hex || '7' || substr(noise, 1, 3) || '8' || substr(noise, 4, 15))::uuid,
      ${organization_id}, key_id, grant_id,
      (${column('scene')}::text[])[model], 'platform', (${column('id')}::text[])[model],
      (${column('owned_by')}::text[])[model], 'channel_' || model % 5,
      case when chance < 0.03 then 'partial' else 'completed' end,
      tokens, tokens / 3, 0, tokens / 4, false, tokens * (1 + model) * 37,
      case when chance > 0.999 then 1000 else 0 end, at + interval '2 s', at,
      protocol,
      'OpenAI/JS 7.55.0', 200, 400, 600, (ended / 4)::int4, ended::int4, tokens / 10, 0,
      case when n % 10 = 0 then jsonb_build_object('end_user', 'user ' || n % 1000) end
    from (
      select made.*, key_id, grant_id, protocol, models[rank] as model, md5(made.n::text || random()) as noise,
        lpad(to_hex((extract(epoch from at) * 1000)::int8), 12, '0') as hex,
        (20 + 4000 * power(random(), 3))::int4 as tokens,
        exp(6.5 + 2 * (random() + random() + random() - 1.5)) as ended
      from (
        select n, random() as chance, 1 + width_bucket(random(), array[0.7, 0.9]) as rank,
          1 + width_bucket(random(), ${key_shares}::float8[]) as key,
          date_trunc('milliseconds', now() - interval '1 minute'
            - ${days}::float8 * interval '1 day' * (1 - n / ${lines}::float8)
            - interval '3 minutes' * random()) as at
        from generate_series(${first}::int4, ${last}::int4) as n
      ) as made join bench_key on bench_key.n = made.key
    ) as drawn`;
}

/** A program's refused calls name the same models as its others, or one that is unknown. */
async function insertRecords(sql: Sql, { organization_id }: RowsOptions): Promise<void> {
  await sql`
    insert into call_record (id, organization_id, key_id, scene, model, model_vendor, channel_id,
      outcome, status, error_code, fault, created_at, at, protocol, program, ended_ms)
    select (lpad(to_hex((extract(epoch from at) * 1000)::int8), 12, '0') || '7'
        || substr(replace(gen_random_uuid()::text, '-', ''), 14))::uuid,
      ${organization_id}, key_id, scene,
      case when n % 7 = 0 then 'unknown-' || n else model end,
      case when n % 7 = 0 then '' else model_vendor end, '',
      (array['refused', 'failed', 'canceled', 'free'])[1 + n % 4], 400,
      'invalid_request_error', (array['caller', 'provider'])[1 + n % 2], at, at, protocol, program, 5
    from (
      select row_number() over () as n, key_id, scene, model, model_vendor, at, protocol, program
      from usage_line where get_byte(uuid_send(id), 15) < ${Math.round(256 / LINES_A_RECORD)}
    ) as sampled`;
}

/** Adds the charges of all lines since a transaction to grants, keys and the organization. */
export async function bookMore(
  sql: Sql,
  organization_id: string,
  first_xid: number,
): Promise<void> {
  await sql`
    with new as (
      select key_id, grant_id, sum(charged_nano_usd)::int8 as charged from usage_line
      where xid >= ${first_xid} group by 1, 2
    ), total as (select coalesce(sum(charged), 0)::int8 as charged from new), granted as (
      update quota_grant set granted_nano_usd = granted_nano_usd + charged,
        settled_nano_usd = settled_nano_usd + charged, posted_nano_usd = posted_nano_usd + charged
      from new where id = new.grant_id
    ), used as (
      update api_key set used_nano_usd = used_nano_usd + charged from new where id = new.key_id
    ), paid as (
      insert into deposit (id, organization_id, amount_nano_usd)
      select gen_random_uuid(), ${organization_id}, charged from total where charged > 0)
    update organization set deposited_nano_usd = deposited_nano_usd + charged,
      settled_nano_usd = settled_nano_usd + charged from total where id = ${organization_id}`;
}

/** Gives grants, keys and the organization the sums of the lines. */
async function balance(sql: Sql, organization_id: string): Promise<void> {
  await sql`
    create table bench_sum as
    select key_id, grant_id, sum(charged_nano_usd)::int8 as charged from usage_line group by 1, 2`;
  await sql`
    insert into quota_grant (id, key_id, organization_id, replica_id, status, granted_nano_usd,
      settled_nano_usd, posted_nano_usd, closed_at)
    select grant_id, key_id, ${organization_id}, 'replica_bench', 'closed', charged, charged,
      charged, now() from bench_sum`;
  await sql`
    update api_key set used_nano_usd = charged from bench_sum where api_key.id = bench_sum.key_id`;
  await sql`
    with total as (select coalesce(sum(charged), 0)::int8 as charged from bench_sum), paid as (
      insert into deposit (id, organization_id, amount_nano_usd)
      select gen_random_uuid(), ${organization_id}, charged from total where charged > 0)
    update organization set deposited_nano_usd = deposited_nano_usd + charged,
      settled_nano_usd = settled_nano_usd + charged from total where id = ${organization_id}`;
  await sql`drop table bench_sum`;
}
