import {
  keepPreviousData,
  type QueryClient,
  queryOptions,
  type UseQueryResult,
  useQuery,
} from '@tanstack/react-query';
import { useCallback, useEffect, useRef, useState } from 'react';
import { api } from '../../api/client.ts';
import type { UsageQueries, UsageQuery } from '../../api/types.ts';
import { useLiveEvents } from '../../live/live-events.tsx';
import type { LiveEvent } from '../../live/stream.ts';
import { instantOf } from '../usage/search.ts';
import { FIGURE_NAMES, type FigureName, OVERVIEW_PATH, overviewQuery } from './reads.ts';
import type { Seen, UsageEvent } from './since.ts';

/**
 * How long figures move by events alone, before everything is read again, ms. All open pages read at the same
 * states: those of the first events after each multiple of this time. So the server reads once for all of them.
 */
const READ_EVERY_MS = 20_000;
/** Within this time after such an event each page reads at a time of its own, ms. */
const SPREAD_MS = 2_000;
/** The same after a task ended: an event does not say whether its call was counted before. */
const READ_SOON_MS = 1_000;
/** Without any event, so that days and hours pass, ms. */
const READ_IDLE_MS = 60_000;
const MOST_EVENTS = 200;

/** The committed state that the page is read at, and the events after it. */
interface Anchor {
  /** The id of an event; undefined for the present state. */
  readonly as_of: string | undefined;
  /** Counts the readings of the present state. */
  readonly reading: number;
}

/** The state that the page reads first. */
const FIRST: Anchor = { as_of: undefined, reading: 0 };

const slotOf = (as_of: string) => Math.floor(instantOf(as_of) / READ_EVERY_MS);

/**
 * Follows the live events. The page reads its figures at the state of one event, and adds what later
 * events say: so a figure moves at once, stays exact, and costs no request.
 */
function useAnchor(): { anchor: Anchor; seen: readonly Seen[] } {
  const [anchor, setAnchor] = useState(FIRST);
  const [seen, setSeen] = useState<readonly Seen[]>([]);
  const latest = useRef<string>(undefined);
  const timer = useRef<{ at_ms: number; id: ReturnType<typeof setTimeout> }>(undefined);
  const slot = useRef<{ number: number; id?: ReturnType<typeof setTimeout> }>(undefined);
  const changedAt_ms = useRef(0);
  const readIn = useCallback((ms: number) => {
    const at_ms = performance.now() + ms;
    if (timer.current && timer.current.at_ms <= at_ms) return;
    clearTimeout(timer.current?.id);
    const id = setTimeout(() => {
      timer.current = undefined;
      setAnchor(({ as_of, reading }) =>
        // An older state would lack what became old since, e.g. yesterday.
        latest.current === undefined || latest.current === as_of
          ? { as_of: undefined, reading: reading + 1 }
          : { as_of: latest.current, reading },
      );
    }, ms);
    timer.current = { at_ms, id };
  }, []);
  const onEvent = useCallback(
    ({ type, data, id }: LiveEvent) => {
      if (type === 'tasks') readIn(READ_SOON_MS);
      if (type === 'reset') {
        latest.current = undefined;
        setSeen([]);
        setAnchor(({ reading }) => ({ as_of: undefined, reading: reading + 1 }));
      }
      if (type !== 'usage' || id === undefined) return;
      latest.current = id;
      setSeen((all) => [...all, { as_of: id, event: data as UsageEvent }].slice(-MOST_EVENTS));
      // The state that was read first is that of no event, so nothing can be added to it.
      setAnchor((now) => (now.as_of === undefined ? { ...now, as_of: id } : now));
      const number = slotOf(id);
      if (slot.current?.number === number) return;
      const isFirst = slot.current === undefined;
      clearTimeout(slot.current?.id);
      slot.current = { number };
      if (isFirst) return;
      const isOld = ({ as_of }: Anchor) => as_of !== undefined && slotOf(as_of) < number;
      const read = () => setAnchor((now) => (isOld(now) ? { ...now, as_of: id } : now));
      slot.current.id = setTimeout(read, Math.random() * SPREAD_MS);
    },
    [readIn],
  );
  useLiveEvents(onEvent);
  // biome-ignore lint/correctness/useExhaustiveDependencies: whenever what is read changes
  useEffect(() => {
    changedAt_ms.current = performance.now();
  }, [anchor]);
  useEffect(() => {
    const idle = setInterval(() => {
      if (performance.now() - changedAt_ms.current >= READ_IDLE_MS) readIn(0);
    }, READ_IDLE_MS);
    return () => {
      clearInterval(idle);
      clearTimeout(slot.current?.id);
      slot.current = undefined;
      clearTimeout(timer.current?.id);
      timer.current = undefined;
    };
  }, [readIn]);
  return { anchor, seen };
}

/** The read of all figures. Its answer names their instant. */
const figuresAt = ({ as_of, reading }: Anchor) =>
  queryOptions({
    queryKey: ['overview', as_of, reading],
    queryFn: async ({ signal }) => {
      const query = overviewQuery(Date.now(), as_of);
      const { data } = await api.get<UsageQueries>(OVERVIEW_PATH, query, signal);
      return Object.fromEntries(FIGURE_NAMES.map((name, at) => [name, data[at]])) as Figures;
    },
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: READ_EVERY_MS,
  });

type Figures = Readonly<Record<FigureName, UsageQuery>>;

/** Begins to read what `usePicture` reads first. */
export function beginPicture(queries: QueryClient): void {
  queries.prefetchQuery(figuresAt(FIRST));
}

/** A figure, as a query has it. */
export type Figure = ReturnType<typeof figureOf>;

function figureOf(query: UseQueryResult<Figures>, name: FigureName) {
  const { data, error, dataUpdatedAt, refetch } = query;
  return { data: data?.[name], error, dataUpdatedAt, refetch };
}

/** Reads the figures of the overview, all of the same instant. */
export function usePicture() {
  const { anchor, seen } = useAnchor();
  const query = useQuery({ ...figuresAt(anchor), placeholderData: keepPreviousData });
  return {
    seen,
    months: figureOf(query, 'months'),
    hours: figureOf(query, 'hours'),
    errors: figureOf(query, 'errors'),
    first_token: figureOf(query, 'first_token'),
    saved: figureOf(query, 'saved'),
    keys: figureOf(query, 'keys'),
    models: figureOf(query, 'models'),
  };
}

/** What the overview shows. */
export type Picture = ReturnType<typeof usePicture>;
