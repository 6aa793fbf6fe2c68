import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { Collected } from './collected.ts';
import { onLiveEvent } from './live-events.tsx';

interface RefreshOptions {
  /** The first part of the keys of the queries. */
  readonly name: string;
  /** The shortest time between two reads, ms. The first event after a quiet time is shown at once. */
  readonly every_ms: number;
  /** False while the page holds one picture. */
  readonly enabled?: boolean;
}

/** Reads queries again when calls were recorded: at once, but not more often than `every_ms`. */
export function useRefresh({ name, every_ms, enabled = true }: RefreshOptions): void {
  const queries = useQueryClient();
  useEffect(() => {
    if (!enabled) return;
    const reads = new Collected(
      () => void queries.invalidateQueries({ queryKey: [name] }),
      every_ms,
    );
    const unlisten = onLiveEvent(({ type }) => {
      if (type === 'usage' || type === 'reset') reads.request();
    });
    return () => {
      reads.stop();
      unlisten();
    };
  }, [queries, name, every_ms, enabled]);
}
