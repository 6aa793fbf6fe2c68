import { useEffect } from 'react';
import { Button } from '../../../parts/button.tsx';
import { Time } from '../../../parts/time.tsx';
import type { ActorHistory } from './history.ts';

interface TimelineProps {
  readonly history: ActorHistory;
  readonly index: number;
  /** Shows the moment with this index; undefined: the latest one, also when later events come. */
  readonly go: (index: number | undefined) => void;
  /** True if the page shows the latest moment, whatever comes. */
  readonly isLatest: boolean;
}

/** The slider over the events of an actor. The arrow keys step from event to event. */
export function Timeline({ history: { moments, isWhole }, index, go, isLatest }: TimelineProps) {
  const last = moments.length - 1;
  const moment = moments[index] ?? moments[0];
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (step === undefined || event.altKey || event.metaKey || event.ctrlKey) return;
      if (keepsArrows(event.target)) return;
      event.preventDefault();
      go(Math.min(last, Math.max(0, index + step)));
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, [index, last, go]);
  const beginning = isWhole ? 'Before its first event' : `Before event ${moment.seq + 1}`;
  const said = moment.event ? `After event ${moment.seq} of ${moments[last]?.seq}` : beginning;
  return (
    <div className="grid gap-2 rounded-box border border-line bg-card px-4 py-3 sm:grid-cols-[auto_minmax(0,1fr)_auto] sm:items-center sm:gap-4">
      <div className="flex gap-1">
        <Button aria-label="Step back" disabled={index === 0} onClick={() => go(index - 1)}>
          <span aria-hidden="true">←</span>
        </Button>
        <Button aria-label="Step forward" disabled={index === last} onClick={() => go(index + 1)}>
          <span aria-hidden="true">→</span>
        </Button>
      </div>
      <div className="grid gap-1">
        <input
          type="range"
          className="w-full"
          aria-label="Moment"
          aria-valuetext={said}
          min={0}
          max={last}
          value={index}
          onChange={({ target }) => go(Number(target.value))}
        />
        <p className="flex flex-wrap justify-between gap-x-4 text-sm text-soft" aria-live="polite">
          <span>{said}</span>
          {moment.event ? <Time at={moment.event.at} /> : null}
        </p>
      </div>
      <Button
        kind={isLatest ? 'quiet' : 'primary'}
        disabled={isLatest}
        onClick={() => go(undefined)}
      >
        Now
      </Button>
    </div>
  );
}

/** True if the element that has the focus uses the arrow keys itself. */
function keepsArrows(target: EventTarget | null): boolean {
  return (
    target instanceof Element &&
    target.closest('input, select, textarea, dialog, video, [role="menu"], [data-keeps-arrows]') !==
      null
  );
}
