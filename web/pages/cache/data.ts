import { keepPreviousData, type QueryClient, queryOptions, useQuery } from '@tanstack/react-query';
import { api } from '../../api/client.ts';
import type { UsageQuery } from '../../api/types.ts';
import type { Query } from '../../api/url.ts';
import { instantsOf, ZONE } from '../usage/search.ts';
import type { CacheRange } from './search.ts';

export const CACHE_PATH = '/v1/management/usage/query';
/** The most models that are shown one by one: the API gives no more. */
const TOP = 50;

/** Returns the request for one figure of the cache by model and day. */
export const cacheQuery = (
  metric: string,
  range: CacheRange,
  now_ms: number,
  as_of?: string,
): Query => ({
  ...{ metric, group: 'logical_model', bucket: 'day', timeZone: ZONE, top: TOP },
  ...instantsOf({ range }, now_ms),
  as_of,
});

const figureOf = (metric: string, range: CacheRange, as_of?: string) =>
  queryOptions({
    // A figure of a past instant never changes, so it has a name of its own.
    queryKey: [as_of === undefined ? 'cache' : 'cache then', metric, range, as_of ?? null],
    queryFn: ({ signal }) =>
      api.get<UsageQuery>(CACHE_PATH, cacheQuery(metric, range, Date.now(), as_of), signal),
    ...(as_of === undefined ? {} : { staleTime: Number.POSITIVE_INFINITY, gcTime: 0 }),
  });

/** The read of the look-ups. The other figures are of its instant. */
const lookupsOf = (range: CacheRange) => figureOf('cache_lookups', range);

/** Begins to read what the page reads first. */
export function beginCache(queries: QueryClient, range: CacheRange): void {
  queries.prefetchQuery(lookupsOf(range));
}

/** Reads look-ups, hits and savings by model and day, all of the same instant. */
export function useCache(range: CacheRange) {
  const lookups = useQuery({ ...lookupsOf(range), placeholderData: keepPreviousData });
  const as_of = lookups.data?.as_of;
  const enabled = as_of !== undefined;
  const hits = useQuery({
    ...{ ...figureOf('cache_hits', range, as_of), enabled, placeholderData: keepPreviousData },
  });
  const saved = useQuery({
    ...{ ...figureOf('saved', range, as_of), enabled, placeholderData: keepPreviousData },
  });
  return { lookups, hits, saved };
}
