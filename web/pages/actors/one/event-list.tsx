import { useEffect, useRef } from 'react';
import { eventWords } from '../../../../src/replay/why-words.ts';
import { GoLink } from '../../../parts/go-link.tsx';
import { duration, Time } from '../../../parts/time.tsx';
import type { ActorHistory, Moment } from './history.ts';

/** The most events that are drawn at once, around the chosen one. */
const MAX_DRAWN = 400;

interface EventListProps {
  readonly history: ActorHistory;
  readonly index: number;
  readonly go: (index: number) => void;
}

/** The events of an actor: what came when, what caused it, and where it led. A click goes to its moment. */
export function EventList({ history, index, go }: EventListProps) {
  const { kind, moments, isWhole } = history;
  const list = useRef<HTMLOListElement>(null);
  useEffect(() => {
    const frame = list.current;
    const chosen = frame?.querySelector(`[data-moment="${index}"]`);
    if (!frame || !(chosen instanceof HTMLElement)) return;
    // Only the list scrolls, so the page stays where it is.
    frame.scrollTop = chosen.offsetTop - (frame.clientHeight - chosen.offsetHeight) / 2;
  }, [index]);
  const from = Math.max(0, Math.min(index - MAX_DRAWN / 2, moments.length - MAX_DRAWN));
  return (
    <ol
      ref={list}
      // Who has no mouse scrolls it by keyboard.
      tabIndex={0}
      aria-label="Events"
      className="relative max-h-[min(46rem,80dvh)] overflow-y-auto rounded-box border border-line bg-card"
    >
      {moments.slice(from, from + MAX_DRAWN).map((moment, offset) => {
        const at = from + offset;
        return (
          <li
            key={moment.seq}
            data-moment={at}
            aria-current={at === index ? 'step' : undefined}
            className="border-b border-line last:border-b-0 aria-[current=step]:bg-accent-soft"
          >
            {moment.event ? (
              <OneEvent kind={kind} moment={moment} before={moments[at - 1]} go={() => go(at)} />
            ) : (
              <button type="button" className={ROW} onClick={() => go(at)}>
                <span className="text-soft">
                  {isWhole ? 'The beginning' : 'Earlier events are no longer kept'}
                </span>
                <State path={moment.state} />
              </button>
            )}
          </li>
        );
      })}
    </ol>
  );
}

const ROW = 'grid w-full gap-0.5 px-4 pt-2 pb-1.5 text-left text-sm hover:bg-sunk';

interface OneEventProps {
  readonly kind: string;
  readonly moment: Moment;
  readonly before: Moment | undefined;
  readonly go: () => void;
}

function OneEvent({ kind, moment: { event, seq, state }, before, go }: OneEventProps) {
  if (!event) return null;
  const { type } = event.event;
  const words = eventWords(kind, type);
  const pause = before?.event ? Date.parse(event.at) - Date.parse(before.event.at) : undefined;
  return (
    <>
      <button type="button" className={ROW} onClick={go}>
        <span className="flex items-baseline justify-between gap-3">
          <span>
            <span className="mr-1 text-soft figures">{seq}</span>{' '}
            <code className="font-mono font-medium">{type}</code>
          </span>
          <span className="text-soft figures">
            {pause === undefined ? <Time at={event.at} short /> : `+${duration(pause)}`}
          </span>
        </span>
        {words === '' ? null : <span className="text-soft">{words}</span>}
        {event.taken ? null : <span className="text-warn">No transition took it.</span>}
        {before?.state === state ? null : <State path={state} />}
      </button>
      <Cause event={event} />
    </>
  );
}

function State({ path }: { path: string }) {
  return (
    <span>
      <span aria-hidden="true" className="text-soft">
        →{' '}
      </span>
      <code className="font-mono">{path}</code>
    </span>
  );
}

const CAUSES: Readonly<Record<string, string>> = {
  operator: 'an operator',
  probe: 'a test call of Weir',
  replica: 'another replica',
  weir: 'Weir itself',
};

function Cause({ event }: { event: NonNullable<Moment['event']> }) {
  const { cause, request_id, task_id } = event;
  const said =
    request_id !== null ? (
      <>
        <GoLink to={`/usage/requests/${request_id}`} className="font-mono text-[0.92em] break-all">
          {request_id}
        </GoLink>{' '}
        <GoLink to={`/actors/request/${request_id}`} className="whitespace-nowrap">
          its way
        </GoLink>
      </>
    ) : task_id !== null ? (
      <GoLink to={`/tasks/${encodeURIComponent(task_id)}`} className="font-mono break-all">
        {task_id}
      </GoLink>
    ) : cause === null ? null : (
      CAUSES[cause]
    );
  if (!said) return null;
  return <p className="px-4 pb-2 text-xs text-soft">caused by {said}</p>;
}
