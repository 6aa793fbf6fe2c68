import type { Sql } from 'postgres';
import type { AsOf } from './as-of.ts';
import type { UsageFilters } from './filters.ts';
import { addCounts, type Counter, type Counts, noCounts } from './roll-ups/counters.ts';
import { removedFrom } from './roll-ups/cover.ts';
import { readSums } from './roll-ups/snapshot.ts';
import { readUsage } from './roll-ups/sums.ts';

/** By what a breakdown groups, beside days of UTC. */
const NAMES = ['model', 'model_vendor', 'scene', 'access_channel'] as const;

export type BreakdownGroup = (typeof NAMES)[number] | 'day';
export const BREAKDOWN_GROUPS: readonly BreakdownGroup[] = ['day', ...NAMES];

/** The sums of all usage lines, and those of each group by its name, in the order of the names. */
export interface Breakdown {
  readonly total: Counts;
  readonly groups: Readonly<Record<BreakdownGroup, ReadonlyMap<string, Counts>>>;
  /** Set if usage is missing that only removed rows had: all later usage is there. */
  readonly lines_since: Date | undefined;
}

const DAY_MS = 86_400_000;
/** What a bill shows. */
const SUMMED: readonly Counter[] = [
  ...(['charges', 'charged_nano_usd', 'list_nano_usd', 'input_tokens'] as const),
  ...(['cached_input_tokens', 'cache_write_tokens', 'output_tokens'] as const),
];

/** Returns the sums of usage lines, and by each group, as they were in one committed state. */
export function breakDown(sql: Sql, filters: UsageFilters, as_of: AsOf): Promise<Breakdown> {
  return readSums(sql, async (reader) => {
    const request = { filters, as_of, counters: SUMMED };
    const rows = await readUsage(reader, { ...request, groups: NAMES });
    const days = await readUsage(reader, { ...request, groups: [], starts: 'utc_days' });
    const sums = (named: readonly (readonly [name: string | undefined, counts: Counts])[]) => {
      const found = new Map<string, Counts>();
      for (const [name = '', counts] of named) {
        // Calls without a charge are no part of a bill.
        if (counts.charges === 0) continue;
        found.set(name, addCounts(found.get(name) ?? noCounts(), counts));
      }
      return new Map([...found].sort(([a], [b]) => (a < b ? -1 : 1)));
    };
    const by = (name: (typeof NAMES)[number]) => sums(rows.map((row) => [row[name], row.counts]));
    return {
      lines_since: removedFrom(reader, { ...request, groups: NAMES }),
      total: rows.reduce((total, { counts }) => addCounts(total, counts), noCounts()),
      groups: {
        day: sums(
          days.map(({ bucket, counts }) => [
            new Date(bucket * DAY_MS).toISOString().slice(0, 10),
            counts,
          ]),
        ),
        model: by('model'),
        model_vendor: by('model_vendor'),
        scene: by('scene'),
        access_channel: by('access_channel'),
      },
    };
  });
}
