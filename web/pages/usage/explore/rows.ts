import type { UsageQuery } from '../../../api/types.ts';
import { SERIES_COLORS, type Series } from '../../../plots/time-plot.tsx';
import { type Figures, runningSums } from './figures.ts';

/** The most layers of a plot: each has a colour of its own. The last is that of all others. */
const MOST_LAYERS = SERIES_COLORS.length;

type ApiSeries = UsageQuery['series'][number];

/** A series of an answer with a name that no other series has. */
export interface Row {
  readonly name: string;
  readonly series: ApiSeries;
}

type Names = ReadonlyMap<string, string> | undefined;

/** Returns the series with their names. Two keys may have the same name, so their ids are added. */
export function labelled({ series, group, subgroup }: UsageQuery, names: Names): Row[] {
  const label = (kind: string | null, value: string | null) =>
    value === null ? 'none' : kind === 'api_key_id' ? (names?.get(value) ?? value) : value;
  const rows = series.map((each) => ({
    series: each,
    name: [
      label(group, each.group),
      ...(subgroup === null ? [] : [label(subgroup, each.subgroup)]),
    ].join(' · '),
  }));
  const times = new Map<string, number>();
  for (const { name } of rows) times.set(name, (times.get(name) ?? 0) + 1);
  return rows.map(({ name, series: each }) => {
    if (times.get(name) === 1) return { name, series: each };
    const id = group === 'api_key_id' ? each.group : each.subgroup;
    return { name: `${name} (${id?.slice(-6) ?? ''})`, series: each };
  });
}

/** What a plot shows. */
interface Plot {
  readonly times: readonly number[];
  readonly series: readonly Series[];
  readonly isStacked: boolean;
}

/** Returns the layers of a plot: the largest series, and all others as one. */
export function plotOf(
  answer: UsageQuery,
  rows: readonly Row[],
  figures: Figures,
  isCumulative: boolean,
): Plot {
  const shown = (values: readonly (number | null)[]) => {
    const own = values.map(figures.of);
    return isCumulative ? runningSums(own) : own;
  };
  const times = answer.buckets.map((bucket) => Date.parse(bucket));
  if (answer.group === null) {
    const now: Series = { name: 'Now', values: shown(answer.total.values) };
    if (answer.total.previous === null) {
      return { times, series: [{ ...now, name: 'All' }], isStacked: false };
    }
    // Spans of months may have different lengths.
    const earlier = shown(answer.total.previous.values);
    const before = { name: 'Before', values: times.map((_, index) => earlier[index] ?? null) };
    return { times, series: [now, before], isStacked: false };
  }
  const isMany = rows.length + (answer.other ? 1 : 0) > MOST_LAYERS;
  const own = isMany ? rows.slice(0, MOST_LAYERS - 1) : rows;
  const layers = own.map(({ name, series }) => ({ name, values: shown(series.values) }));
  const rest = [...rows.slice(own.length).map(({ series }) => series), answer.other ?? []].flat();
  // A share or a time of several series is not made of theirs.
  if (rest.length > 0 && figures.isSum) {
    const sums = times.map((_, index) =>
      rest.reduce((sum, { values }) => sum + (values[index] ?? 0), 0),
    );
    layers.push({ name: 'Other', values: shown(sums) });
  }
  return { times, series: layers, isStacked: true };
}
