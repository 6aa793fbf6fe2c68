import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { api } from '../../../api/client.ts';
import type { CallsInFlight } from '../../../api/types.ts';
import { useFeed } from '../feed.ts';

/** How often running calls are read while the page is in sight, ms. */
const READ_EVERY_MS = 1_000;

/** Reads the calls of an instant; those that run now, again and again, if `at` is undefined. */
export function useFleet(at: string | undefined, isPaused: boolean) {
  const { path } = useFeed();
  return useQuery({
    queryKey: ['actors', 'fleet', path, at ?? 'now'],
    queryFn: ({ signal }) => api.get<CallsInFlight>(`${path}/calls`, { at }, signal),
    refetchInterval: at === undefined && !isPaused ? READ_EVERY_MS : false,
    staleTime: at === undefined ? 0 : Number.POSITIVE_INFINITY,
    // The river does not blink while the reader moves through time.
    placeholderData: keepPreviousData,
  });
}
