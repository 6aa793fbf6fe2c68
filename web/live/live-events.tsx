import { type QueryClient, type QueryKey, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { Collected } from './collected.ts';
import { followShared } from './shared-stream.ts';
import type { LiveEvent } from './stream.ts';

/**
 * The shortest time between two reads of what events changed, ms. With many calls a second, events come all the time, and
 * each open page would ask for its sums all the time.
 */
const REST_MS = 5_000;
/** A page is late if the stream is broken for longer, ms. A replaced replica takes less. */
const LATE_MS = 4_000;

/** The first part of the keys of queries that an event makes old. */
const CHANGED: Readonly<Record<string, readonly string[]>> = {
  usage: ['usage', 'requests', 'billing', 'calls', 'budgets'],
  tasks: ['tasks', 'batches'],
  keys: ['keys', 'budgets'],
  reset: [
    'usage',
    'requests',
    'billing',
    'calls',
    'tasks',
    'batches',
    'keys',
    'budgets',
    'balance',
    'notices',
  ],
};

/**
 * The first part of the keys of queries that some events make old, too. Their page reads them again itself, at its own
 * pace. If it is not open, they are read when it is opened again.
 */
const READ_BY_PAGE = 'explore';
const OLD_AFTER: ReadonlySet<string> = new Set(['usage', 'reset']);

/** The key of the number of running calls. */
export const IN_FLIGHT_KEY = ['running-calls', 'count'] as const;

/** The first parts of the keys of queries whose answer an event has. */
const STATES: Readonly<Record<string, QueryKey>> = { balance: ['balance'], calls: IN_FLIGHT_KEY };

const listeners = new Set<(event: LiveEvent) => void>();

/** Calls `listener` with each event of the organization. Returns a function that ends this. */
export function onLiveEvent(listener: (event: LiveEvent) => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** Calls `listener` with each event of the organization while the component is shown. */
export function useLiveEvents(listener: (event: LiveEvent) => void): void {
  useEffect(() => onLiveEvent(listener), [listener]);
}

/**
 * Shows a state that an event has: it is what the API would answer now, so nothing is asked. A read that runs
 * may have begun before the event, and its older answer must not replace the event's.
 */
function showState(queries: QueryClient, queryKey: QueryKey, data: unknown): void {
  queries.cancelQueries({ queryKey });
  queries.setQueriesData({ queryKey }, data);
}

/**
 * Follows the events of an organization. What a page shows is read again when an event says that it
 * changed, so figures move in place. Shows a line while the page is late.
 */
export function LiveEvents({ organization_id }: { organization_id: string }) {
  const queries = useQueryClient();
  const [isLate, setLate] = useState(false);
  useEffect(() => {
    const changed = new Set<string>();
    let late: ReturnType<typeof setTimeout> | undefined;
    const reads = new Collected(() => {
      const names = new Set(changed);
      changed.clear();
      queries.invalidateQueries({ predicate: ({ queryKey }) => names.has(String(queryKey[0])) });
    }, REST_MS);
    const unfollow = followShared(organization_id, {
      onEvent: (event) => {
        for (const listener of listeners) listener(event);
        const shown = STATES[event.type];
        if (shown) showState(queries, shown, event.data);
        for (const name of CHANGED[event.type] ?? []) changed.add(name);
        if (OLD_AFTER.has(event.type)) {
          queries.invalidateQueries({ queryKey: [READ_BY_PAGE], refetchType: 'none' });
        }
        reads.request();
      },
      onState: (isLive) => {
        clearTimeout(late);
        if (isLive) setLate(false);
        else late = setTimeout(() => setLate(true), LATE_MS);
      },
    });
    return () => {
      reads.stop();
      clearTimeout(late);
      unfollow();
    };
  }, [organization_id, queries]);
  if (!isLate) return null;
  return (
    <p
      role="status"
      className="fixed inset-x-0 bottom-0 z-10 border-t border-line bg-warn-soft px-4 py-1.5 text-center text-sm text-warn"
    >
      The connection to Weir is lost. The page shows what it knew, and goes on by itself.
    </p>
  );
}
