import { useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback, useMemo, useState } from 'react';
import { useKeyNames } from '../../../api/key-names.ts';
import type { CallsInFlight } from '../../../api/types.ts';
import { ApiCall } from '../../../parts/api-call.tsx';
import { Empty } from '../../../parts/empty.tsx';
import { counted } from '../../../parts/figures.ts';
import { GoLink } from '../../../parts/go-link.tsx';
import { Loaded } from '../../../parts/loaded.tsx';
import { Page, Section } from '../../../parts/page.tsx';
import { useFeed } from '../feed.ts';
import { CallPanel } from './call-panel.tsx';
import { CallTable } from './call-table.tsx';
import { Clock } from './clock.tsx';
import { type Dock, isAt, riverOf } from './river.ts';
import { RiverView } from './river-view.tsx';
import { useFleet } from './use-fleet.ts';

/** All calls in flight as a river: from their keys over admission and channels to the ledger. */
export function FleetPage() {
  const { at, call } = useSearch({ from: '/inside/actors/fleet' });
  const navigate = useNavigate();
  const feed = useFeed();
  const [isPaused, pause] = useState(false);
  const query = useFleet(at, isPaused);
  const change = useCallback(
    (changed: { at?: string | undefined; call?: string | undefined }) =>
      navigate({
        to: '/actors/fleet',
        search: { at, call, ...changed },
        ...{ replace: true, resetScroll: false },
      }),
    [navigate, at, call],
  );
  const go = useCallback((to: string | undefined) => change({ at: to }), [change]);
  return (
    <Page
      title="Calls as a river"
      question="Where is the money of the calls in flight, and where does it pile up?"
      acts={
        <GoLink to="/actors" className="self-center">
          All actors
        </GoLink>
      }
      call={<ApiCall path={`${feed.path}/calls`} query={{ at }} />}
    >
      <Clock at={at} shown={query.data?.at} go={go} isPaused={isPaused} pause={pause} />
      <Loaded query={query} height="h-96">
        {(list) => (
          <Calls
            list={list}
            isPast={at !== undefined}
            chosen={call}
            choose={(id) => change({ call: id === call ? undefined : id })}
          />
        )}
      </Loaded>
    </Page>
  );
}

interface CallsProps {
  readonly list: CallsInFlight;
  readonly isPast: boolean;
  readonly chosen: string | undefined;
  readonly choose: (request_id: string) => void;
}

function Calls({ list, isPast, chosen, choose }: CallsProps) {
  const { isOperator } = useFeed();
  const [dock, setDock] = useState<Dock>();
  const names = useKeyNames(list.data.map(({ api_key_id }) => api_key_id));
  const keyName = (id: string) => names?.get(id) ?? id;
  const river = useMemo(() => riverOf(list.data, isOperator), [list.data, isOperator]);
  const open = river.docks.find(({ id }) => id === dock?.id);
  const calls = open ? list.data.filter((each) => isAt(river, each, open)) : list.data;
  const one = list.data.find(({ request_id }) => request_id === chosen);
  const money = isPast ? 'charged' : 'held';
  return (
    <>
      <p className="text-soft">
        {counted(list.total, 'call')} {isPast ? 'ran then' : 'in flight'}
        {list.total > list.data.length ? `; the oldest ${list.data.length} are drawn` : ''}
        {list.silent_replicas > 0
          ? `. ${counted(list.silent_replicas, 'replica')} did not answer, so there may be more`
          : ''}
        . A ribbon is as high as the money that its call{' '}
        {isPast ? 'was charged at its end' : 'holds'}
        {isOperator ? ', in the colour of its channel’s circuit' : ''}.
      </p>
      {list.data.length === 0 ? (
        <Empty title={isPast ? 'No call ran at this moment' : 'Nothing runs now'}>
          A call flows here from its arrival to its end. Go back in time to see calls that have
          ended.
        </Empty>
      ) : (
        <RiverView
          river={river}
          money={money}
          keyName={keyName}
          chosen={chosen}
          choose={choose}
          isChosen={({ id }) => id === open?.id}
          chooseDock={(to) => setDock(to.id === open?.id ? undefined : to)}
        />
      )}
      {chosen === undefined ? null : one ? (
        <Section title="One call">
          <CallPanel call={one} keyName={keyName} />
        </Section>
      ) : (
        <p role="status" className="text-soft">
          The chosen call does not run at this moment.{' '}
          <GoLink to={`/actors/request/${chosen}`}>Its way through the actors</GoLink>
        </p>
      )}
      {calls.length === 0 ? null : (
        <Section title={open ? 'Calls of the chosen box' : 'Calls'}>
          <CallTable
            calls={calls}
            money={isPast ? 'Charged' : 'Held'}
            keyName={keyName}
            choose={choose}
          />
        </Section>
      )}
    </>
  );
}
