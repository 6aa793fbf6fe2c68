import type { UsageQuery } from '../../api/types.ts';

/** What the cache did for one model. */
export interface ModelRow {
  /** Null for all models that are not shown one by one. */
  readonly model: string | null;
  readonly lookups: number;
  readonly hits: number;
  /** USD. */
  readonly saved: number;
}

/** The three figures of the cache, by model and day. */
export interface CacheFigures {
  readonly lookups: UsageQuery;
  readonly hits: UsageQuery;
  readonly saved: UsageQuery;
}

/** Returns the models that were looked up, those that saved the most first. The last row is that of the others. */
export function rowsOf({ lookups, hits, saved }: CacheFigures): ModelRow[] {
  const [hitsOf, savedOf] = [hits, saved].map(
    ({ series }) => new Map(series.map(({ group, value }) => [group, value ?? 0])),
  );
  const rows = lookups.series
    .filter(({ value }) => (value ?? 0) > 0)
    .map(({ group, value }) => ({
      ...{ model: group ?? 'none', lookups: value ?? 0 },
      ...{ hits: hitsOf?.get(group) ?? 0, saved: savedOf?.get(group) ?? 0 },
    }))
    .sort((a, b) => b.saved - a.saved || b.lookups - a.lookups);
  const rest = lookups.other?.value ?? 0;
  if (rest === 0) return rows;
  const left = (of: UsageQuery, own: (row: ModelRow) => number) =>
    rows.reduce((sum, row) => sum - own(row), of.total.value ?? 0);
  return [
    ...rows,
    {
      model: null,
      lookups: rest,
      hits: left(hits, (row) => row.hits),
      saved: left(saved, (row) => row.saved),
    },
  ];
}

/** The share of look-ups that were hits; null without look-ups. */
export const rateOf = (hits: number, lookups: number): number | null =>
  lookups === 0 ? null : hits / lookups;

/** Returns the hit rate of each day. */
export function ratesByDay({ lookups, hits }: CacheFigures): (number | null)[] {
  return lookups.total.values.map((value, day) => rateOf(hits.total.values[day] ?? 0, value ?? 0));
}
