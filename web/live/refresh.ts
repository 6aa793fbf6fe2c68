import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useRef } from 'react';
import { useLiveEvents } from './live-events.tsx';
import type { LiveEvent } from './stream.ts';

/** How long the first event waits for others, ms. */
const COLLECT_MS = 150;

interface RefreshOptions {
  /** The first parts of the keys of the queries. */
  readonly queryKey: readonly unknown[];
  /** The shortest time between two reads, ms. The first event after a quiet time is shown at once. */
  readonly every_ms: number;
  /** False while the page holds one picture. */
  readonly enabled?: boolean;
}

/** Reads queries again when calls were recorded: at once, but not more often than `every_ms`. */
export function useRefresh({ queryKey, every_ms, enabled = true }: RefreshOptions): void {
  const queries = useQueryClient();
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const read_ms = useRef(Number.NEGATIVE_INFINITY);
  const key = useRef(queryKey);
  key.current = queryKey;
  const onEvent = useCallback(
    ({ type }: LiveEvent) => {
      if (!enabled || (type !== 'usage' && type !== 'reset')) return;
      const rest = read_ms.current + every_ms - performance.now();
      timer.current ??= setTimeout(
        () => {
          timer.current = undefined;
          read_ms.current = performance.now();
          queries.invalidateQueries({ queryKey: key.current });
        },
        Math.max(COLLECT_MS, rest),
      );
    },
    [queries, every_ms, enabled],
  );
  useLiveEvents(onEvent);
  useEffect(
    () => () => {
      clearTimeout(timer.current);
      timer.current = undefined;
    },
    [],
  );
}
