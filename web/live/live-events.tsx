import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { followShared } from './shared-stream.ts';
import type { LiveEvent } from './stream.ts';

/** How long events are collected before what they change is read again, ms. */
const COLLECT_MS = 250;
/**
 * The shortest time between two such reads, ms. With many calls a second, events come all the time, and
 * each open page would ask for its sums all the time.
 */
const REST_MS = 5_000;
/** A page is late if the stream is broken for longer, ms. A replaced replica takes less. */
const LATE_MS = 4_000;

/** The first part of the keys of queries that an event makes old. */
const CHANGED: Readonly<Record<string, readonly string[]>> = {
  usage: ['usage', 'requests', 'billing', 'calls'],
  tasks: ['tasks', 'batches'],
  keys: ['keys'],
  balance: ['balance'],
  reset: [
    'usage',
    'requests',
    'billing',
    'calls',
    'tasks',
    'batches',
    'keys',
    'balance',
    'notices',
  ],
};

const listeners = new Set<(event: LiveEvent) => void>();

/** Calls `listener` with each event of the organization while the component is shown. */
export function useLiveEvents(listener: (event: LiveEvent) => void): void {
  useEffect(() => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }, [listener]);
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
    let timer: ReturnType<typeof setTimeout> | undefined;
    let late: ReturnType<typeof setTimeout> | undefined;
    let refreshed_ms = 0;
    const refresh = () => {
      timer = undefined;
      refreshed_ms = performance.now();
      const names = new Set(changed);
      changed.clear();
      queries.invalidateQueries({ predicate: ({ queryKey }) => names.has(String(queryKey[0])) });
    };
    const unfollow = followShared(organization_id, {
      onEvent: (event) => {
        for (const listener of listeners) listener(event);
        for (const name of CHANGED[event.type] ?? []) changed.add(name);
        const rest = refreshed_ms + REST_MS - performance.now();
        timer ??= setTimeout(refresh, refreshed_ms === 0 ? COLLECT_MS : Math.max(COLLECT_MS, rest));
      },
      onState: (isLive) => {
        clearTimeout(late);
        if (isLive) setLate(false);
        else late = setTimeout(() => setLate(true), LATE_MS);
      },
    });
    return () => {
      clearTimeout(timer);
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
