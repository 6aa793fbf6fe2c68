/** The statements that add the grouped entries of a fold to the tables of sums. */
import { COUNTERS, summed, TOOK_COLUMNS } from './counters.ts';
import { QUARTERS_A_DAY } from './entries.ts';
import { NARROW_SCOPES, SUM_TABLES } from './scopes.ts';
import { weekOf } from './weeks.ts';

type SumTable = keyof typeof SUM_TABLES;

/** The tables with a column for the organization. */
const OWNED: readonly string[] = [
  SUM_TABLES.key.day,
  SUM_TABLES.key_model.day,
  SUM_TABLES.key_model.week,
];
const DAY = `floor(quarter / ${QUARTERS_A_DAY}.0)::int4`;
/** What the rows of a table are of, as SQL expressions. */
const SPANS = { quarter: 'quarter', day: DAY, week: weekOf(DAY) } as const;

/**
 * The statements of the tables of some scopes. They never change, so each text is made once. The value `$1` of all is
 * `scopes`, an array literal.
 */
export const ADDITIONS = (Object.keys(SUM_TABLES) as SumTable[]).map((scope) => {
  const { quarter, day, week } = SUM_TABLES[scope];
  const scopes = scope === 'few_names' ? NARROW_SCOPES.map(([name]) => name) : [scope];
  return {
    scope,
    scopes: `{${scopes.join()}}`,
    texts: [
      ...(quarter ? [textOf(quarter, 'quarter')] : []),
      textOf(day, 'day'),
      ...(week ? [textOf(week, 'week')] : []),
    ],
  };
});

/** Returns the statement that adds the sums of some scopes to a table. */
function textOf(table: string, column: keyof typeof SPANS): string {
  const names = column === 'week' ? COUNTERS : [...COUNTERS, ...TOOK_COLUMNS];
  const changed = names.map((name) => `${name} = ${changedSum(table, name)}`).join(', ');
  const from = 'from pg_temp.usage_sum where scope = any($1::text::text[])';
  const owner = OWNED.includes(table) ? 'owner_id, ' : '';
  const rows =
    column === 'quarter'
      ? `select series_id, quarter, ${names.join(', ')} ${from}`
      : `select series_id, ${SPANS[column]}, ${owner} ${names.map(summed).join(', ')} ${from}
         group by ${owner} 1, 2`;
  return `
    insert into ${table} (series_id, ${column}, ${owner} ${names.join(', ')}) ${rows}
    on conflict (series_id, ${column}) do update set ${changed}`;
}

/** A class of durations that has no requests is null. */
function changedSum(table: string, name: string): string {
  const [old, added] = [`${table}.${name}`, `excluded.${name}`];
  return name.startsWith('took_')
    ? `coalesce(${old} + ${added}, ${old}, ${added})`
    : `${old} + ${added}`;
}
