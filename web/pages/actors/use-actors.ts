import { useInfiniteQuery } from '@tanstack/react-query';
import { api } from '../../api/client.ts';
import type { ActorList } from '../../api/types.ts';
import type { Query } from '../../api/url.ts';
import type { Feed } from './feed.ts';

/** How often a list of living actors is read again, ms. */
const REFRESH_MS = 5_000;

/** Reads actors page by page. What changed is read every few seconds, while somebody sees the tab. */
export function useActors(feed: Feed, query: Query) {
  const path = `${feed.path}/actors`;
  const pages = useInfiniteQuery({
    queryKey: ['actors', 'list', path, query],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      api.get<ActorList>(path, { ...query, cursor: pageParam }, signal),
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
    refetchInterval: REFRESH_MS,
  });
  const [first] = pages.data?.pages ?? [];
  return {
    query: {
      data: pages.data?.pages.flatMap(({ data }) => data),
      ...{ error: pages.error, dataUpdatedAt: pages.dataUpdatedAt, refetch: pages.refetch },
    },
    counts: first?.counts ?? [],
    silent_replicas: first?.silent_replicas ?? 0,
    more: pages.hasNextPage ? () => void pages.fetchNextPage() : undefined,
    isReadingMore: pages.isFetchingNextPage,
  };
}
