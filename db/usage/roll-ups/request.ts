import type { AsOf } from '../as-of.ts';
import type { UsageFilters } from '../filters.ts';
import type { Counter } from './counters.ts';
import type { Dimension } from './entries.ts';

/** By what sums are grouped. */
export type Group = Dimension | 'key_id';

/** Which rows are summed. */
export interface SumFilters extends UsageFilters {
  readonly outcomes?: readonly string[] | undefined;
  /** Only these keys. */
  readonly key_ids?: readonly string[] | undefined;
}

/** Which sums are wanted. */
export interface SumsRequest {
  readonly filters: SumFilters;
  readonly as_of: AsOf;
  readonly groups: readonly Group[];
  /**
   * The first quarters of the buckets, ascending; one bucket without it. `utc_days`: the bucket is the
   * number of the day since the Unix epoch.
   */
  readonly starts?: readonly number[] | 'utc_days' | undefined;
  /** True if the classes of durations are wanted. */
  readonly took?: boolean;
  /** Which sums are wanted; all without it. The others are 0, and `requests` are always summed. */
  readonly counters?: readonly Counter[];
  /** Only these groups, each with a name for each of `groups`. */
  readonly among?: readonly (readonly string[])[];
}
