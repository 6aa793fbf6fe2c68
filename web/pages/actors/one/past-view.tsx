import { useCallback } from 'react';
import type { ActorSearch } from '../search.ts';
import { EventList } from './event-list.tsx';
import { type ActorHistory, indexOf } from './history.ts';
import { MomentView } from './moment-view.tsx';
import { StateChart } from './state-chart.tsx';
import { Timeline } from './timeline.tsx';
import { Why } from './why.tsx';

interface PastViewProps {
  readonly history: ActorHistory;
  /** The moment and the state that the address names. */
  readonly search: Pick<ActorSearch, 'at' | 'state'>;
  readonly change: (search: Pick<ActorSearch, 'at' | 'state'>) => void;
}

/** An actor at one moment of its past: its chart, its events, why it was there, and what moved. */
export function PastView({ history, search: { at, state }, change }: PastViewProps) {
  const { kind, id, moments, problem } = history;
  const index = indexOf(history, at);
  const moment = moments[index] ?? moments[0];
  const isGone = at !== undefined && moment.seq !== at;
  const go = useCallback(
    (to: number | undefined) =>
      change({ at: to === undefined ? undefined : moments[to]?.seq, state: undefined }),
    [change, moments],
  );
  const choose = (path: string | undefined) => change({ at, state: path });
  return (
    <>
      {problem === null ? null : (
        <p role="alert" className="rounded-control bg-warn-soft px-3 py-1.5 text-sm text-warn">
          The replay in this browser stopped: {problem}. States are those of the log.
        </p>
      )}
      {isGone ? (
        <p role="status" className="rounded-control bg-warn-soft px-3 py-1.5 text-sm text-warn">
          Event {at} is no longer kept, or has not come. This is the latest moment.
        </p>
      ) : null}
      <Why history={history} index={index} chosen={state} choose={choose} go={go} />
      <Timeline history={history} index={index} go={go} isLatest={at === undefined || isGone} />
      <div className="grid grid-cols-[minmax(0,1fr)] gap-4 lg:grid-cols-[minmax(0,1fr)_21rem]">
        <StateChart
          kind={kind}
          state={moment.state}
          taken={moment.taken}
          chosen={state}
          choose={choose}
          title={`${kind} ${id}: ${moment.state}, after event ${moment.seq}`}
          file={`${kind}-${id}-${moment.seq}`}
        />
        <EventList history={history} index={index} go={go} />
      </div>
      <MomentView history={history} index={index} />
    </>
  );
}
