import { queryOptions } from '@tanstack/react-query';
import { api } from '../../../api/client.ts';
import type { UsageQuery } from '../../../api/types.ts';
import type { Beginning } from '../../../shell/begin.ts';
import { EXPLORE_PATH, type ExploreSearch, exploreQuery, exploreSearchOf } from './search.ts';

/** What was read before the page was drawn is not read again when it is, ms. */
const FRESH_MS = 2_000;

/** The read of what a search explores. */
export const explored = (search: ExploreSearch) =>
  queryOptions({
    queryKey: ['explore', search],
    queryFn: ({ signal }) =>
      api.get<UsageQuery>(EXPLORE_PATH, exploreQuery(search, Date.now()), signal),
    staleTime: search.as_of === undefined ? FRESH_MS : Number.POSITIVE_INFINITY,
  });

/** Begins the read that takes longest. */
export function beginExplored({ queries, search }: Beginning): void {
  queries.prefetchQuery(explored(exploreSearchOf(search)));
}
