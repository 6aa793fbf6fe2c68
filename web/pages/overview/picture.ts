import { keepPreviousData, type QueryClient, queryOptions, useQuery } from '@tanstack/react-query';
import { useCallback, useEffect, useRef, useState } from 'react';
import { api, type Query } from '../../api/client.ts';
import type { UsageQuery } from '../../api/types.ts';
import { useLiveEvents } from '../../live/live-events.tsx';
import type { LiveEvent } from '../../live/stream.ts';
import { instantOf, instantsOf, ZONE } from '../usage/search.ts';
import { startOfLastMonth } from './months.ts';
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
const TOP = 5;

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

const read = (query: Query, signal: AbortSignal) =>
  api.get<UsageQuery>('/v1/management/usage/query', { timeZone: ZONE, ...query }, signal);

const lastDay = (now_ms: number) => instantsOf({ range: '24h' }, now_ms);
const thisMonth = (now_ms: number) => instantsOf({ range: 'month' }, now_ms);

/** What each figure asks for, beside the months. */
const FIGURES = {
  hours: (now_ms: number) => ({ metric: 'cost', bucket: 'hour', ...lastDay(now_ms) }),
  errors: (now_ms: number) => ({
    ...{ metric: 'error_rate', bucket: 'none', compare: 'previous', ...lastDay(now_ms) },
  }),
  'first-token': (now_ms: number) => ({
    ...{ metric: 'first_token_mean', bucket: 'none', compare: 'previous', ...lastDay(now_ms) },
  }),
  saved: (now_ms: number) => ({
    ...{ metric: 'saved', bucket: 'none', compare: 'previous', ...lastDay(now_ms) },
  }),
  keys: (now_ms: number) => ({
    ...{ metric: 'cost', group: 'api_key_id', bucket: 'none', top: TOP, ...thisMonth(now_ms) },
  }),
  models: (now_ms: number) => ({
    ...{ metric: 'cost', group: 'logical_model', bucket: 'none', top: TOP, ...thisMonth(now_ms) },
  }),
} satisfies Record<string, (now_ms: number) => Query>;
type FigureName = keyof typeof FIGURES;

const KEPT = { staleTime: Number.POSITIVE_INFINITY, gcTime: READ_EVERY_MS };

/** The read of the spend by day. Its answer names the instant of the other figures. */
const monthsAt = (anchor: Anchor) =>
  queryOptions({
    queryKey: ['overview', 'months', anchor],
    queryFn: ({ signal }) => {
      const startDate = startOfLastMonth(Date.now()).toISOString();
      return read({ metric: 'cost', bucket: 'day', startDate, as_of: anchor.as_of }, signal);
    },
    ...KEPT,
  });

/** The read of one figure at an instant. */
const figureAt = (name: FigureName, as_of: string | undefined) =>
  queryOptions({
    queryKey: ['overview', name, as_of],
    queryFn: ({ signal }) => read({ ...FIGURES[name](Date.now()), as_of }, signal),
    ...KEPT,
  });

/** Begins to read what `usePicture` reads first. */
export function beginPicture(queries: QueryClient): void {
  const readFigures = ({ as_of }: UsageQuery) => {
    for (const name of Object.keys(FIGURES) as FigureName[]) {
      queries.prefetchQuery(figureAt(name, as_of));
    }
  };
  // The page reads again what failed, and shows the error.
  queries.fetchQuery(monthsAt(FIRST)).then(readFigures, () => undefined);
}

/** Reads the figures of the overview, all of the same instant. */
export function usePicture() {
  const { anchor, seen } = useAnchor();
  const months = useQuery({ ...monthsAt(anchor), placeholderData: keepPreviousData });
  const as_of = months.data?.as_of;
  // If the first figure cannot be read, the others are read without it.
  const enabled = as_of !== undefined || months.isError;
  const at = { as_of, enabled };
  return {
    seen,
    months,
    hours: useFigure('hours', at),
    errors: useFigure('errors', at),
    first_token: useFigure('first-token', at),
    saved: useFigure('saved', at),
    keys: useFigure('keys', at),
    models: useFigure('models', at),
  };
}

/** Reads one figure, at the instant of the others. */
const useFigure = (
  name: FigureName,
  { as_of, enabled }: { readonly as_of: string | undefined; readonly enabled: boolean },
) => useQuery({ ...figureAt(name, as_of), enabled, placeholderData: keepPreviousData });

/** What the overview shows. */
export type Picture = ReturnType<typeof usePicture>;
