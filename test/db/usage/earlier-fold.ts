/** A fold as a version does that has no sums of keys by model, and none of the cache. */
import type { Sql } from 'postgres';
import { fold } from '../../../db/usage/roll-ups/fold.ts';

const TABLES = [
  ...(['usage_quarter', 'usage_name_quarter', 'usage_key_quarter'] as const).map(
    (name) => [name, 'quarter'] as const,
  ),
  ...(['usage_day', 'usage_name_day', 'usage_key_day', 'usage_key_name_day'] as const).map(
    (name) => [name, 'day'] as const,
  ),
];
const OF_KEY_MODELS = ['usage_key_model_day', 'usage_key_model_week'];
const OF_CACHE = ['cache_lookups', 'cache_hits', 'saved_nano_usd'];

interface Noted {
  readonly is_ready: boolean;
  readonly key_models_of: string;
  readonly key_model_weeks_of: string;
  readonly cache_next_xid: number;
  readonly cache_open_xids: readonly number[];
}

/**
 * Folds, and changes neither those sums nor what is noted of them. The sums of keys by model were last made anew more
 * than a minute ago. The first rows of a database are never folded by a version without sums of the cache.
 */
export async function foldAsBefore(sql: Sql): Promise<void> {
  const [noted] = await sql<Noted[]>`
    select is_ready, key_models_of, key_model_weeks_of, cache_next_xid, cache_open_xids from usage_fold`;
  if (!noted) throw new Error('no fold is noted');
  for (const table of OF_KEY_MODELS) {
    await sql.unsafe(`create table before_${table} as select * from ${table}`);
  }
  for (const [table, span] of TABLES) {
    await sql.unsafe(`create table before_${table} as
      select series_id, ${span}, ${OF_CACHE.join(', ')} from ${table}`);
  }
  await fold(sql);
  const { is_ready, key_models_of, key_model_weeks_of, cache_next_xid, cache_open_xids } = noted;
  for (const table of OF_KEY_MODELS) {
    await sql.unsafe(`truncate ${table}`);
    await sql.unsafe(`insert into ${table} select * from before_${table}`);
    await sql.unsafe(`drop table before_${table}`);
  }
  for (const [table, span] of TABLES) {
    const earlier = OF_CACHE.map(
      (name) => `${name} = coalesce((select ${name} from before_${table} as before
        where before.series_id = now.series_id and before.${span} = now.${span}), 0)`,
    );
    if (is_ready) await sql.unsafe(`update ${table} as now set ${earlier.join(', ')}`);
    await sql.unsafe(`drop table before_${table}`);
  }
  await sql`
    update usage_fold set key_models_of = ${key_models_of},
      key_model_weeks_of = ${key_model_weeks_of}, key_models_at = '-infinity'`;
  if (!is_ready) return;
  await sql`
    update usage_fold set cache_next_xid = ${cache_next_xid},
      cache_open_xids = ${[...cache_open_xids]}::int8[]`;
}
