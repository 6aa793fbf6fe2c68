import { useEffect, useState } from 'react';
import { Button } from '../../../parts/button.tsx';
import { duration, Time } from '../../../parts/time.tsx';

/** How far the page goes back, s. */
const HOUR_S = 3_600;
/** A moment is read when the slider rests for so long, ms. */
const REST_MS = 150;

interface ClockProps {
  /** The instant that is shown; undefined: now. */
  readonly at: string | undefined;
  /** The instant of the calls on the page. */
  readonly shown: string | undefined;
  readonly go: (at: string | undefined) => void;
  readonly isPaused: boolean;
  readonly pause: (isPaused: boolean) => void;
}

/** The slider over the last hour, and the button that holds the picture. */
export function Clock({ at, shown, go, isPaused, pause }: ClockProps) {
  // What the person chose, until the page shows it. To compare with `at` would not do: its age grows meanwhile.
  const [chosen_s, choose] = useState<number>();
  const ago_s = chosen_s ?? agoOf(at);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new instant takes the place of what was chosen.
  useEffect(() => choose(undefined), [at]);
  useEffect(() => {
    if (chosen_s === undefined) return;
    const timer = setTimeout(() => go(chosen_s === 0 ? undefined : instantOf(chosen_s)), REST_MS);
    return () => clearTimeout(timer);
  }, [chosen_s, go]);
  const said = ago_s === 0 ? (isPaused ? 'Paused' : 'Now') : `${duration(ago_s * 1_000)} ago`;
  return (
    <div className="grid gap-2 rounded-box border border-line bg-card px-4 py-3 sm:grid-cols-[auto_minmax(0,1fr)_auto] sm:items-center sm:gap-4">
      <Button disabled={ago_s > 0} onClick={() => pause(!isPaused)}>
        {isPaused ? 'Go on live' : 'Pause'}
      </Button>
      <div className="grid gap-1">
        <input
          type="range"
          className="w-full"
          aria-label="Moment of the last hour"
          aria-valuetext={said}
          min={-HOUR_S}
          max={0}
          step={1}
          value={-ago_s}
          onChange={({ target }) => choose(-Number(target.value))}
        />
        <p className="flex flex-wrap justify-between gap-x-4 text-sm text-soft" aria-live="off">
          <span>{said}</span>
          {shown === undefined ? null : <Time at={shown} short />}
        </p>
      </div>
      <Button
        kind={ago_s === 0 ? 'quiet' : 'primary'}
        disabled={ago_s === 0}
        onClick={() => choose(0)}
      >
        Now
      </Button>
    </div>
  );
}

const agoOf = (at: string | undefined): number =>
  at === undefined
    ? 0
    : Math.min(HOUR_S, Math.max(1, Math.round((Date.now() - Date.parse(at)) / 1_000)));

const instantOf = (ago_s: number): string => new Date(Date.now() - ago_s * 1_000).toISOString();
