import {
  type InfiniteData,
  infiniteQueryOptions,
  keepPreviousData,
  useInfiniteQuery,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { api } from '../../../api/client.ts';
import type { Call, List } from '../../../api/types.ts';
import { useRefresh } from '../../../live/refresh.ts';
import { PAGE_ROWS, requestOf } from '../reads.ts';
import type { UsageSearch } from '../search.ts';

/** A list that was left for longer is read anew, so that it begins with the newest calls, ms. */
const KEPT_MS = 10_000;

/** A page of the list of requests. */
type CallPage = List<Call> & {
  readonly as_of: string;
  /** From when on the list is complete, if retention removed a part of it. */
  readonly lines_since?: string;
  readonly records_since?: string;
};

/** A list of calls that stands still, and the calls that wait to get into it. */
export interface CallList {
  readonly query: ReturnType<typeof useCallPages>;
  readonly calls: readonly Call[];
  /** The state that the list shows. */
  readonly as_of: string | undefined;
  /** The calls that came after the list was read: at most a page of them. */
  readonly waiting: readonly Call[];
  /** True if more calls may be waiting. */
  readonly hasMoreWaiting: boolean;
  /** True if nobody knows whether calls wait. */
  readonly isWaitingUnknown: boolean;
  /** Puts the waiting calls on top. */
  readonly showWaiting: () => void;
  /** The ids of the calls that were put on top last. */
  readonly shown_last: ReadonlySet<string>;
}

/** The read of the pages of a list. */
export const callPages = (search: UsageSearch) =>
  infiniteQueryOptions({
    queryKey: keyOf(search),
    initialPageParam: undefined as { cursor: string; as_of: string } | undefined,
    queryFn: ({ pageParam, signal }) => {
      const held = pageParam ? { ...search, as_of: pageParam.as_of } : search;
      const query = { ...requestOf(held, Date.now()), cursor: pageParam?.cursor };
      return api.get<CallPage>('/v1/management/requests', query, signal);
    },
    getNextPageParam: ({ next_cursor, as_of }) =>
      next_cursor ? { cursor: next_cursor, as_of } : undefined,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: KEPT_MS,
  });

const useCallPages = (search: UsageSearch) =>
  useInfiniteQuery({ ...callPages(search), placeholderData: keepPreviousData });

/** Not among the queries that an event makes old: the list must not move under the pointer. */
const keyOf = (search: UsageSearch) => ['request-list', search] as const;

/** The calls of a search, page by page, with the calls that arrived since. */
export function useCallList(search: UsageSearch): CallList {
  const queries = useQueryClient();
  const query = useCallPages(search);
  const [shown_last, setShownLast] = useState<ReadonlySet<string>>(new Set());
  const { as_of: _, ...live } = search;
  const head = useQuery({
    queryKey: ['newest-requests', live],
    queryFn: ({ signal }) =>
      api.get<CallPage>('/v1/management/requests', requestOf(live, Date.now()), signal),
    enabled: query.data !== undefined && !query.isPlaceholderData,
  });
  useRefresh({ name: 'newest-requests', every_ms: 1_000 });
  const isHeld = search.as_of !== undefined;
  const calls = useMemo(
    () => withChanges(query.data?.pages ?? [], isHeld ? [] : (head.data?.data ?? [])),
    [query.data, head.data, isHeld],
  );
  const waiting = useMemo(
    () => newIn(head.data?.data ?? [], calls, query.hasNextPage),
    [head.data, calls, query.hasNextPage],
  );
  const showWaiting = () => {
    if (!head.data) return;
    const page: CallPage = head.data;
    setShownLast(new Set(waiting.map(({ request_id }) => request_id)));
    queries.setQueryData<InfiniteData<CallPage>>(keyOf(live), {
      pages: [page],
      pageParams: [undefined],
    });
  };
  return {
    query,
    calls,
    as_of: query.data?.pages[0]?.as_of,
    waiting,
    hasMoreWaiting: waiting.length >= PAGE_ROWS,
    isWaitingUnknown: head.isError,
    showWaiting,
    shown_last,
  };
}

/** Keeps what a list shows under the address of its picture, so that a freeze moves nothing. */
export function useKeepPicture() {
  const queries = useQueryClient();
  return (search: UsageSearch, as_of: string) => {
    const data = queries.getQueryData(keyOf(search));
    if (data) queries.setQueryData(keyOf({ ...search, as_of }), data);
  };
}

/** The rows of the pages. A call that has ended since is shown as it ended, in its place. */
function withChanges(pages: readonly CallPage[], newest: readonly Call[]): Call[] {
  const now = new Map(newest.map((call) => [call.request_id, call]));
  return pages.flatMap(({ data }) => data).map((call) => now.get(call.request_id) ?? call);
}

/** The newest calls that a list lacks. Those behind its last row belong to a page that is not read yet. */
function newIn(newest: readonly Call[], calls: readonly Call[], hasMore: boolean): Call[] {
  const listed = new Set(calls.map(({ request_id }) => request_id));
  const last = calls.at(-1);
  const isInReach = ({ date }: Call) => !hasMore || last === undefined || date > last.date;
  return newest.filter((call) => !listed.has(call.request_id) && isInReach(call));
}
