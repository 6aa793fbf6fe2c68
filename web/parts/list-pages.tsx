import { infiniteQueryOptions, useInfiniteQuery } from '@tanstack/react-query';
import { api } from '../api/client.ts';
import type { List } from '../api/types.ts';
import type { Query } from '../api/url.ts';
import { Button } from './button.tsx';

interface ListPages<Item> {
  /** For `Loaded`: all items that were read. */
  readonly query: {
    readonly data: readonly Item[] | undefined;
    readonly error: Error | null;
    readonly dataUpdatedAt: number;
    readonly refetch: () => unknown;
  };
  /** The button that reads the next page. Nothing if there is none. */
  readonly more: React.ReactNode;
}

/** The read of a list of the API. */
export const listPages = <Item,>(key: readonly unknown[], path: string, query: Query = {}) =>
  infiniteQueryOptions({
    queryKey: key,
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      api.get<List<Item>>(path, { ...query, cursor: pageParam }, signal),
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
  });

/** Reads a list of the API page by page: the first at once, each further one when the reader asks for it. */
export function useListPages<Item>(...list: Parameters<typeof listPages<Item>>): ListPages<Item> {
  const pages = useInfiniteQuery(listPages<Item>(...list));
  const { data, error, dataUpdatedAt, refetch } = pages;
  return {
    query: {
      data: data?.pages.flatMap((page) => page.data),
      ...{ error, dataUpdatedAt, refetch },
    },
    more: pages.hasNextPage ? (
      <Button busy={pages.isFetchingNextPage} onClick={() => pages.fetchNextPage()}>
        Show more
      </Button>
    ) : null,
  };
}
