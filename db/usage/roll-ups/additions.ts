/** How a fold sums new entries and adds them to the sums of all scopes. */
import type { Fragment, Sql } from 'postgres';
import { ADDITIONS } from './add-statements.ts';
import { COUNTERS, summed, TOOK_COLUMNS } from './counters.ts';
import { DIMENSIONS } from './entries.ts';
import { withoutPlans } from './plans.ts';
import { KEY_MODEL_NAMES, NARROW_SCOPES } from './scopes.ts';

const NAMES = `organization_id, scope, key_id, ${DIMENSIONS.join(', ')}`;
const ADDED = [...COUNTERS, ...TOOK_COLUMNS];
const GROUPED = `organization_id, key_id, ${DIMENSIONS.join(', ')}, quarter`;
const TOTALS = COUNTERS.map(summed).join(', ');
const SPREAD = TOOK_COLUMNS.map(
  (name, at) => `sum(durations) filter (where took = ${at})::int4 as ${name}`,
).join(', ');
const SUMS = ADDED.map(summed).join(', ');

/** Fills a temporary table of the connection. The first use creates it. Returns the number of rows. */
async function fillTemporary(tx: Sql, name: string, rows: Fragment): Promise<number> {
  const [found] = await tx<{ table: string | null }[]>`
    select to_regclass(${`pg_temp.${name}`})::text as table`;
  if (!found?.table) {
    await tx`create temporary table ${tx(name)} on commit delete rows as ${rows} with no data`;
  }
  const { count } = await tx`insert into ${tx.unsafe(`pg_temp.${name}`)} ${rows}`;
  return count;
}

/**
 * Sums entries of the same names, quarter and class into the temporary table `usage_entry`.
 * Most rows have much in common, so all sums after this read few rows. Returns the number of entries.
 *
 * The planner does not know that, and would sort the rows, partly on disk. That costs as much as all else
 * of a fold together, so it must hash them.
 */
export function groupEntries(tx: Sql, entries: Fragment): Promise<number> {
  const by = tx.unsafe(`${GROUPED}, took`);
  const grouped = tx`select ${by}, ${tx.unsafe(TOTALS)} from (${entries}) as entry group by ${by}`;
  return withoutPlans(tx, ['enable_sort'], () => fillTemporary(tx, 'usage_entry', grouped));
}

/** Empties the temporary tables, so that a fold can group entries again. */
export async function forgetEntries(tx: Sql): Promise<void> {
  await tx`delete from pg_temp.usage_entry`;
  await tx`delete from pg_temp.usage_sum`;
}

/** The names that a scope shows, and '' for the others. */
const shown = (tx: Sql, names: readonly string[]) =>
  tx.unsafe(
    DIMENSIONS.map((name) => (names.includes(name) ? name : `''::text as ${name}`)).join(', '),
  );

const SCOPES_OF_ALL_KEYS = [...NARROW_SCOPES, ['organization', DIMENSIONS] as const];

/** Adds the series that the grouped entries need and that are new. */
async function addSeries(tx: Sql): Promise<void> {
  const wide = SCOPES_OF_ALL_KEYS.map(
    ([scope, names]) => tx`
      union
      select organization_id, ${tx.unsafe(`'${scope}'`)}, '', ${shown(tx, names)} from named`,
  );
  await tx`
    with named as materialized (
      select distinct organization_id, key_id, ${shown(tx, DIMENSIONS)} from pg_temp.usage_entry
    ), wanted as (
      select organization_id, 'key'::text as scope, key_id, ${shown(tx, DIMENSIONS)} from named
      union
      select organization_id, 'key_model', key_id, ${shown(tx, KEY_MODEL_NAMES)} from named
      union
      select organization_id, 'key_total', key_id, ${shown(tx, [])} from named
      ${wide.reduce((all, each) => tx`${all} ${each}`, tx``)}
    )
    insert into usage_series (${tx.unsafe(NAMES)})
    select ${tx.unsafe(NAMES)} from wanted
    where not exists (select from usage_series as known
      where (${tx.unsafe(qualified('known'))}) = (${tx.unsafe(qualified('wanted'))}))
    on conflict do nothing`;
}

/**
 * Sums the grouped entries for each series and 15 minutes into the temporary table `usage_sum`. Scopes
 * with few names are summed from scopes with more. Returns false if a series does not exist yet.
 */
async function groupScopes(tx: Sql): Promise<boolean> {
  const [all, added, sums] = [shown(tx, DIMENSIONS), tx.unsafe(ADDED.join(', ')), tx.unsafe(SUMS)];
  const narrow = NARROW_SCOPES.map(([scope, names]) => {
    const by = tx.unsafe(['organization_id', ...names, 'quarter'].join(', '));
    return tx`
      union all
      select organization_id, ${tx.unsafe(`'${scope}'`)}, '', ${shown(tx, names)}, quarter, ${sums}
      from wide group by ${by}`;
  });
  await fillTemporary(
    tx,
    'usage_sum',
    tx`
      with keyed as materialized (
        select ${tx.unsafe(GROUPED)}, ${tx.unsafe(TOTALS)}, ${tx.unsafe(SPREAD)}
        from pg_temp.usage_entry group by ${tx.unsafe(GROUPED)}
      ), wide as materialized (
        select organization_id, ${all}, quarter, ${sums} from keyed
        group by organization_id, ${all}, quarter
      ), scoped as (
        select organization_id, 'key'::text as scope, key_id, ${all}, quarter, ${added} from keyed
        union all
        select organization_id, 'key_model', key_id, ${shown(tx, KEY_MODEL_NAMES)}, quarter, ${sums}
        from keyed
        group by organization_id, key_id, ${tx.unsafe(KEY_MODEL_NAMES.join(', '))}, quarter
        union all
        select organization_id, 'key_total', key_id, ${shown(tx, [])}, quarter, ${sums} from keyed
        group by organization_id, key_id, quarter
        union all
        select organization_id, 'organization', '', ${all}, quarter, ${added} from wide
        ${narrow.reduce((joined, each) => tx`${joined} ${each}`, tx``)}
      )
      select usage_series.id as series_id, owner.id as owner_id, scoped.scope, quarter, ${added}
      from scoped left join usage_series
        on (${tx.unsafe(qualified('usage_series'))}) = (${tx.unsafe(qualified('scoped'))})
      left join usage_series as owner
        on owner.organization_id = scoped.organization_id and owner.scope = 'total'`,
  );
  const lacking = await tx`select from pg_temp.usage_sum where series_id is null limit 1`;
  return lacking.length === 0;
}

/** Up to so many entries, an index finds their series faster than a read of all series. */
const MAX_SOUGHT_ENTRIES = 5_000;

/** Adds the grouped entries to all sums; to those of keys by model only if `has_key_models`. */
export async function addToSums(tx: Sql, entries: number, has_key_models: boolean): Promise<void> {
  const joins = entries <= MAX_SOUGHT_ENTRIES ? ['enable_hashjoin', 'enable_mergejoin'] : [];
  await withoutPlans(tx, joins, async () => {
    // Few entries have a new name. To look for new series each time would cost as much as to sum. Among many older
    // entries there are always new names.
    if (entries <= MAX_SOUGHT_ENTRIES) {
      if (await groupScopes(tx)) return;
      await tx`delete from pg_temp.usage_sum`;
    }
    await addSeries(tx);
    await groupScopes(tx);
  });
  for (const { scope, scopes, texts } of ADDITIONS) {
    if (scope === 'key_model' && !has_key_models) continue;
    for (const text of texts) await tx.unsafe(text, [scopes], { prepare: true });
  }
}

function qualified(alias: string): string {
  return NAMES.split(', ')
    .map((name) => `${alias}.${name}`)
    .join(', ');
}
