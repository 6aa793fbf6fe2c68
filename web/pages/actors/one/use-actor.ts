import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useMemo, useState, useSyncExternalStore } from 'react';
import type { Recording } from '../../../../src/replay/recording.ts';
import { api } from '../../../api/client.ts';
import type { InspectedActor } from '../../../api/types.ts';
import { urlOf } from '../../../api/url.ts';
import { Collected } from '../../../live/collected.ts';
import { followEvents } from '../../../live/stream.ts';
import { type ActorAddress, actorPath, type Feed } from '../feed.ts';
import { historyOf } from './history.ts';

/** The shortest time between two reads of an actor to which events come, ms. */
const REST_MS = 500;
/** How often the actor is read while its events cannot be followed, ms. */
const POLL_MS = 5_000;
/** The page says so if events cannot be followed for longer, ms. */
const LATE_MS = 4_000;

/** How a page follows an actor. */
export type Following = 'opening' | 'live' | 'late';

/** Reads an actor and its past, and reads them again with each of its events. */
export function useActor(feed: Feed, address: ActorAddress) {
  const { kind, id, replica } = address;
  const path = actorPath(feed, address);
  const key = ['actors', 'one', path, replica ?? ''];
  const [following, setFollowing] = useState<Following>('opening');
  const refetchInterval = following === 'late' ? POLL_MS : false;
  const detail = useQuery({
    queryKey: [...key, 'detail'],
    queryFn: ({ signal }) => api.get<InspectedActor>(path, { replica }, signal),
    refetchInterval: ({ state: { data } }) => (data?.live === false ? false : refetchInterval),
  });
  const recording = useQuery({
    queryKey: [...key, 'recording'],
    queryFn: ({ signal }) => api.get<Recording>(`${path}/recording`, { replica }, signal),
    refetchInterval: ({ state: { data } }) => {
      if (detail.data?.live !== false) return refetchInterval;
      // The actor may have been read after its end, and its past before it.
      return lastSeq(data) < detail.data.seq ? POLL_MS : false;
    },
  });
  useStream({
    path: urlOf(`${feed.path}/events`, { kind, id, definitions: 'false' }),
    // An ended actor gets no more events.
    enabled: detail.data?.live === true,
    ...{ key, setFollowing },
  });
  const actor = recording.data?.actors[0];
  const history = useMemo(() => actor && historyOf(actor), [actor]);
  return { detail, recording, actor, history, following };
}

const lastSeq = (recording: Recording | undefined): number =>
  recording?.actors[0]?.events.at(-1)?.seq ?? 0;

interface StreamOptions {
  readonly path: string;
  readonly enabled: boolean;
  readonly key: readonly unknown[];
  readonly setFollowing: (following: Following) => void;
}

/**
 * Follows the events of an actor while somebody sees the tab: a browser opens only six connections to a
 * server, and nothing is published while nobody watches.
 */
function useStream({ path, enabled, key, setFollowing }: StreamOptions): void {
  const queries = useQueryClient();
  const isVisible = useSyncExternalStore(
    (notify) => {
      document.addEventListener('visibilitychange', notify);
      return () => document.removeEventListener('visibilitychange', notify);
    },
    () => document.visibilityState === 'visible',
  );
  const name = JSON.stringify(key);
  useEffect(() => {
    if (!enabled || !isVisible) return;
    const end = new AbortController();
    const reads = new Collected(
      () => void queries.invalidateQueries({ queryKey: JSON.parse(name) as unknown[] }),
      REST_MS,
    );
    let late: ReturnType<typeof setTimeout> | undefined;
    const wait = () => {
      clearTimeout(late);
      late = setTimeout(() => setFollowing('late'), LATE_MS);
    };
    wait();
    const onState = (isLive: boolean) => {
      if (!isLive) return wait();
      clearTimeout(late);
      setFollowing('live');
      // What happened before the stream began is read once.
      reads.request();
    };
    followEvents(path, { onState, onEvent: () => reads.request() }, end.signal, undefined);
    return () => {
      end.abort();
      reads.stop();
      clearTimeout(late);
      setFollowing('opening');
    };
  }, [path, enabled, isVisible, name, queries, setFollowing]);
}
