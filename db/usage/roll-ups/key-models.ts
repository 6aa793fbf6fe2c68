/**
 * The sums of keys by model, of days and of weeks. A replica of a version that does not know them may fold too, while
 * versions are replaced. So `usage_fold` says which state they have. If that is not the state of the fold, nobody reads
 * them, and a later fold makes them anew from the sums of keys by all names.
 */
import type { Fragment, Sql } from 'postgres';
import { COUNTERS, TOOK_COLUMNS } from './counters.ts';
import { DIMENSIONS } from './entries.ts';
import { KEY_MODEL_NAMES } from './scopes.ts';
import { weekOf } from './weeks.ts';

/** The state of a fold as text: all that each fold of rows changes. */
const STATE = `concat_ws(' ', next_xid, open_xids, is_ready, table_name, organization_id,
  extract(epoch from at), row_id)`;
/** Making the sums anew reads all days, so folds of two versions in turn must not do it each time. */
const REBUILD_EVERY = "interval '1 minute'";

/** The condition on `usage_fold` that the sums of keys by model have the state of the fold. */
export function hasKeyModels(tx: Sql): Fragment {
  return tx.unsafe(`key_model_weeks_of = ${STATE}`) as unknown as Fragment;
}

/** The condition on `usage_fold` that these sums were not made anew in the last minute. */
export function mayRebuild(tx: Sql): Fragment {
  return tx.unsafe(`key_models_at < now() - ${REBUILD_EVERY}`) as unknown as Fragment;
}

/** Notes, at the end of a fold, that the sums have the state of the fold. */
export async function noteKeyModels(tx: Sql): Promise<void> {
  const state = tx.unsafe(STATE);
  await tx`update usage_fold set key_models_of = ${state}, key_model_weeks_of = ${state}`;
}

/** Makes the sums anew, in the transaction of a fold. */
export async function rebuildKeyModels(tx: Sql): Promise<void> {
  const names = tx.unsafe(
    DIMENSIONS.map((name) =>
      KEY_MODEL_NAMES.includes(name) ? `wide.${name}` : `'' as ${name}`,
    ).join(', '),
  );
  const same = ['organization_id', 'key_id', ...KEY_MODEL_NAMES]
    .map((name) => `narrow.${name} = wide.${name}`)
    .join(' and ');
  const sums = [...COUNTERS, ...TOOK_COLUMNS];
  const columnsOf = (all: readonly string[]) => tx.unsafe(all.join(', '));
  const summedOf = (all: readonly string[]) =>
    tx.unsafe(all.map((name) => `sum(day.${name})`).join(', '));
  await tx`delete from usage_key_model_day`;
  await tx`
    insert into usage_series (organization_id, scope, key_id, ${tx.unsafe(DIMENSIONS.join(', '))})
    select distinct wide.organization_id, 'key_model', wide.key_id, ${names}
    from usage_series as wide where wide.scope = 'key' on conflict do nothing`;
  await tx`
    insert into usage_key_model_day (series_id, day, owner_id, ${columnsOf(sums)})
    select narrow.id, day.day, day.owner_id, ${summedOf(sums)}
    from usage_key_name_day as day
    join usage_series as wide on wide.id = day.series_id
    join usage_series as narrow on narrow.scope = 'key_model' and ${tx.unsafe(same)}
    group by 1, 2, 3`;
  await tx`delete from usage_key_model_week`;
  await tx`
    insert into usage_key_model_week (series_id, week, owner_id, ${columnsOf(COUNTERS)})
    select day.series_id, ${tx.unsafe(weekOf('day.day'))}, day.owner_id, ${summedOf(COUNTERS)}
    from usage_key_model_day as day group by 1, 2, 3`;
  await tx`update usage_fold set key_models_at = now()`;
}
