import { useEffect, useState } from 'react';
import { lazily } from './lazily.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

const absolute = lazily(
  () =>
    new Intl.DateTimeFormat(undefined, {
      dateStyle: 'medium',
      timeStyle: 'medium',
    }),
);
const relative = lazily(
  () => new Intl.RelativeTimeFormat(undefined, { numeric: 'auto', style: 'narrow' }),
);

/** The time in the reader's zone, e.g. `25 Nov 2026, 14:03:11`. */
export const localTime = (iso: string): string => absolute().format(new Date(iso));

const sameDay = lazily(() => new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' }));
const otherDay = lazily(
  () =>
    new Intl.DateTimeFormat(undefined, {
      ...{ month: 'short', day: 'numeric', hour: 'numeric', minute: '2-digit', second: '2-digit' },
    }),
);

/** The time in few characters, for lists: without the date if it is today. */
function shortTime(iso: string): string {
  const at = new Date(iso);
  const isToday = at.toDateString() === new Date().toDateString();
  return (isToday ? sameDay : otherDay)().format(at);
}

/** How long ago a time is, e.g. `3 min ago`, or how long until then. */
export function fromNow(ms: number, now_ms: number): string {
  const distance = ms - now_ms;
  const size = Math.abs(distance);
  if (size < MINUTE_MS) return relative().format(Math.round(distance / 1_000), 'second');
  if (size < HOUR_MS) return relative().format(Math.round(distance / MINUTE_MS), 'minute');
  if (size < 2 * DAY_MS) return relative().format(Math.round(distance / HOUR_MS), 'hour');
  return relative().format(Math.round(distance / DAY_MS), 'day');
}

/** A duration: `840 ms`, `3.2 s`, `4 min 5 s`. */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < MINUTE_MS) return `${(ms / 1_000).toFixed(1)} s`;
  const minutes = Math.floor(ms / MINUTE_MS);
  if (ms < HOUR_MS) return `${minutes} min ${Math.round((ms % MINUTE_MS) / 1_000)} s`;
  return `${Math.floor(ms / HOUR_MS)} h ${minutes % 60} min`;
}

/** The current time, ms. The component is drawn again every `every_ms`. */
export function useNow(every_ms: number): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), every_ms);
    return () => clearInterval(timer);
  }, [every_ms]);
  return now;
}

interface TimeProps {
  /** RFC 3339, as the API sends it. */
  readonly at: string | null | undefined;
  /** Shows how long ago it is. */
  readonly ago?: boolean;
  /** Leaves out the date of today and the year of other days, which the title has. */
  readonly short?: boolean;
  /** What is shown if there is no time. */
  readonly none?: string;
}

/** A time in the reader's zone. Its title has the time in UTC. */
export function Time({ at, ago = false, short = false, none = '–' }: TimeProps) {
  const now = useNow(ago ? 10_000 : DAY_MS);
  if (at === null || at === undefined) return <span className="text-soft">{none}</span>;
  const shown = ago ? fromNow(Date.parse(at), now) : short ? shortTime(at) : localTime(at);
  const utc = at.replace('T', ' ').replace(/Z$/, ' UTC');
  return (
    <time
      dateTime={at}
      title={ago || short ? `${localTime(at)} (${utc})` : utc}
      className="whitespace-nowrap"
    >
      {shown}
    </time>
  );
}
