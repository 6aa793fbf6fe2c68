import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../api/client.ts';
import type { List } from '../api/types.ts';
import type { Query } from '../api/url.ts';

interface CalmListOptions<Item> {
  /** The query's key. Its first element is what an event says that changed. */
  readonly key: readonly unknown[];
  readonly path: string;
  readonly query?: Query;
  readonly idOf: (item: Item) => string;
  /** How often the list is read again, ms; false: only when an event says so. */
  readonly refresh_ms?: (items: readonly Item[]) => number | false;
}

/** A list of the API that stays live and calm. */
export interface CalmList<Item> {
  /** For `Loaded`. */
  readonly query: {
    readonly data: readonly Item[] | undefined;
    readonly error: Error | null;
    readonly dataUpdatedAt: number;
    readonly refetch: () => unknown;
  };
  /** How many rows arrived at the top since the reader last looked. */
  readonly waiting: number;
  /** Shows them. */
  readonly showWaiting: () => void;
  /** Reads the next page; undefined if there is none. */
  readonly more: (() => void) | undefined;
  readonly isReadingMore: boolean;
}

/**
 * Reads a list page by page, the newest rows first. Rows that the reader sees change in place. Rows that
 * arrive at the top wait until the reader asks for them, so nothing moves under the pointer.
 */
export function useCalmList<Item>(options: CalmListOptions<Item>): CalmList<Item> {
  const { key, path, query = {}, idOf, refresh_ms } = options;
  const pages = useInfiniteQuery({
    queryKey: key,
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      api.get<List<Item>>(path, { ...query, cursor: pageParam }, signal),
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
    refetchInterval: ({ state: { data } }) =>
      refresh_ms?.(data?.pages.flatMap((page) => page.data) ?? []) ?? false,
  });
  const all = pages.data?.pages.flatMap((page) => page.data);
  const name = JSON.stringify(key);
  /** The newest row that is shown, of the list with this name. */
  const [top, setTop] = useState<{ name: string; id: string | undefined }>();
  const at = all?.findIndex((item) => idOf(item) === top?.id) ?? 0;
  // A new list, or one whose newest row has left it, e.g. because its state no longer fits a filter.
  if (all && (top?.name !== name || (at < 0 && all[0]))) {
    setTop({ name, id: all[0] ? idOf(all[0]) : undefined });
  }
  const waiting = Math.max(0, at);
  return {
    query: {
      data: all?.slice(waiting),
      ...{ error: pages.error, dataUpdatedAt: pages.dataUpdatedAt, refetch: pages.refetch },
    },
    waiting,
    showWaiting: () => setTop({ name, id: all?.[0] ? idOf(all[0]) : undefined }),
    more: pages.hasNextPage ? () => pages.fetchNextPage() : undefined,
    isReadingMore: pages.isFetchingNextPage,
  };
}
