import type { RANGES } from '../usage/search.ts';

/** The ranges that the page offers. */
export const CACHE_RANGES = [
  '7d',
  '30d',
  '90d',
  '12m',
] as const satisfies readonly (keyof typeof RANGES)[];
export type CacheRange = (typeof CACHE_RANGES)[number];

/** What the page shows. Without a range, these are 30 days. */
export interface CacheSearch {
  readonly range?: CacheRange | undefined;
}

/** Returns what an address says of the page. What it does not know is left out. */
export function cacheSearchOf({ range }: Record<string, unknown>): CacheSearch {
  const known = CACHE_RANGES.find((name) => name === range);
  return known === undefined ? {} : { range: known };
}
