import type { UsageQuery } from '../../../api/types.ts';

/** Returns the first instant of the bucket of `from`, and the last one of the bucket of `to`. */
export function wholeBuckets(
  { buckets, until }: Pick<UsageQuery, 'buckets' | 'until'>,
  from: number,
  to: number,
): [start: string, end: string] {
  const starts = buckets.map((bucket) => Date.parse(bucket));
  const first = starts.findLastIndex((start) => start <= from);
  const after = starts.find((start) => start > to) ?? Date.parse(until);
  const start = buckets[Math.max(first, 0)] ?? until;
  return [start, new Date(after - 1).toISOString()];
}
