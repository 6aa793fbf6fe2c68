import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import type { Recording } from '../../../../src/replay/recording.ts';
import { whyWords } from '../../../../src/replay/why-words.ts';
import { api } from '../../../api/client.ts';
import { urlOf } from '../../../api/url.ts';
import { Button } from '../../../parts/button.tsx';
import { GoLink } from '../../../parts/go-link.tsx';
import { Loaded } from '../../../parts/loaded.tsx';
import { Page } from '../../../parts/page.tsx';
import { duration } from '../../../parts/time.tsx';
import { actorPath, useFeed } from '../feed.ts';
import { NAMES } from '../names.ts';
import { type ActorHistory, historyOf, type Moment } from '../one/history.ts';
import type { CompareSearch } from '../search.ts';
import { partingOf } from './parting.ts';

/** Where do two runs of one machine part? */
export function ComparePage() {
  const search = useSearch({ from: '/inside/actors/compare' });
  const navigate = useNavigate();
  const { kind = 'task', one, other } = search;
  return (
    <Page title="Two runs" question="Where do two actors of one machine part?">
      <form
        className="grid gap-2 sm:grid-cols-[auto_minmax(0,1fr)_minmax(0,1fr)_auto]"
        onSubmit={(event) => {
          event.preventDefault();
          const data = new FormData(event.currentTarget);
          const text = (name: string) => String(data.get(name) ?? '').trim() || undefined;
          const wanted: CompareSearch = {
            ...{ kind: text('kind'), one: text('one'), other: text('other') },
          };
          navigate({ to: '/actors/compare', search: wanted });
        }}
      >
        <select key={kind} name="kind" aria-label="Machine" className="control" defaultValue={kind}>
          {Object.entries(NAMES).map(([value, name]) => (
            <option key={value} value={value}>
              {name}
            </option>
          ))}
        </select>
        <input
          key={`one ${one}`}
          {...{ name: 'one', 'aria-label': 'One actor', placeholder: 'Id of one actor' }}
          defaultValue={one ?? ''}
          className="control font-mono placeholder:font-sans"
        />
        <input
          key={`other ${other}`}
          {...{ name: 'other', 'aria-label': 'Other actor', placeholder: 'Id of the other actor' }}
          defaultValue={other ?? ''}
          className="control font-mono placeholder:font-sans"
        />
        <Button type="submit" kind="primary">
          Compare
        </Button>
      </form>
      {one !== undefined && other !== undefined ? (
        <Compared kind={kind} one={one} other={other} />
      ) : (
        <p className="text-soft">
          Choose two actors of one machine, e.g. a task that failed and one that was completed.
          Their{' '}
          <GoLink to={urlOf('/actors', { kind, show: 'ended' })} className="underline">
            list
          </GoLink>{' '}
          has the ids.
        </p>
      )}
    </Page>
  );
}

function useHistory(kind: string, id: string) {
  const feed = useFeed();
  const path = `${actorPath(feed, { kind, id })}/recording`;
  const query = useQuery({
    queryKey: ['actors', 'compared', path],
    queryFn: ({ signal }) => api.get<Recording>(path, {}, signal),
  });
  const actor = query.data?.actors[0];
  return { query, history: useMemo(() => actor && historyOf(actor), [actor]) };
}

function Compared({ kind, one, other }: { kind: string; one: string; other: string }) {
  const left = useHistory(kind, one);
  const right = useHistory(kind, other);
  return (
    <Loaded query={left.query} height="h-96">
      {() => (
        <Loaded query={right.query} height="h-96">
          {() =>
            left.history && right.history ? (
              <Steps one={left.history} other={right.history} />
            ) : null
          }
        </Loaded>
      )}
    </Loaded>
  );
}

function Steps({ one, other }: { one: ActorHistory; other: ActorHistory }) {
  const parting = partingOf(one, other);
  const length = Math.max(one.moments.length, other.moments.length);
  return (
    <>
      <p role="status" className="rounded-box bg-accent-soft px-4 py-2.5">
        {parting === undefined
          ? 'Both runs took the same steps.'
          : parting === 0
            ? 'The runs begin in different states.'
            : `The runs part at step ${parting}.`}
      </p>
      <section
        // Who has no mouse scrolls it by keyboard.
        tabIndex={0}
        aria-label="The steps of both runs"
        className="overflow-x-auto rounded-box border border-line bg-card"
      >
        <table className="w-full table-fixed border-collapse text-left text-sm max-sm:w-[40rem]">
          <thead className="border-b border-line text-soft">
            <tr>
              <th scope="col" className="w-20 px-4 py-2 font-medium">
                Step
              </th>
              {[one, other].map(({ kind, id }) => (
                <th key={id} scope="col" className="px-3 py-2 font-medium">
                  <GoLink
                    to={`/actors/${kind}/${encodeURIComponent(id)}`}
                    className="font-mono text-[0.85em] break-all"
                  >
                    {id}
                  </GoLink>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {Array.from({ length }, (_, index) => index).map((index) => (
              <tr
                key={index}
                aria-current={index === parting ? 'step' : undefined}
                className="border-b border-line align-top last:border-b-0 aria-[current=step]:bg-warn-soft"
              >
                <td className="px-4 py-2 text-soft figures">
                  {index}
                  {index === parting ? (
                    <span className="block font-medium text-warn">part</span>
                  ) : null}
                </td>
                <Step kind={one.kind} moment={one.moments[index]} before={one.moments[index - 1]} />
                <Step
                  kind={other.kind}
                  moment={other.moments[index]}
                  before={other.moments[index - 1]}
                />
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </>
  );
}

interface StepProps {
  readonly kind: string;
  readonly moment: Moment | undefined;
  readonly before: Moment | undefined;
}

function Step({ kind, moment, before }: StepProps) {
  if (!moment) return <td className="px-3 py-2 text-soft">–</td>;
  const { event, state, taken } = moment;
  const words = taken ? whyWords(kind, taken) : '';
  const pause =
    event && before?.event ? Date.parse(event.at) - Date.parse(before.event.at) : undefined;
  return (
    <td className="px-3 py-2">
      {event ? (
        <>
          <code className="font-mono font-medium">{event.event.type}</code>
          {pause === undefined ? null : (
            <span className="ml-2 text-soft figures">+{duration(pause)}</span>
          )}
        </>
      ) : (
        <span className="text-soft">The beginning</span>
      )}
      {words === '' ? null : <span className="block text-soft">{words}</span>}
      <span className="block">
        <span aria-hidden="true" className="text-soft">
          →{' '}
        </span>
        <code className="font-mono">{state}</code>
      </span>
    </td>
  );
}
