import { useNavigate, useSearch } from '@tanstack/react-router';
import type { Query } from '../../api/url.ts';
import { ApiCall } from '../../parts/api-call.tsx';
import { Button } from '../../parts/button.tsx';
import { Empty } from '../../parts/empty.tsx';
import { GoLink } from '../../parts/go-link.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Page, Section } from '../../parts/page.tsx';
import { useHere } from '../../shell/here.ts';
import { ActorTable } from './actor-table.tsx';
import { type Feed, useFeed } from './feed.ts';
import { Filters } from './filters.tsx';
import { Legend } from './legend.tsx';
import type { ActorsSearch } from './search.ts';
import { useActors } from './use-actors.ts';

/** The most stuck actors that the page opens with. The list of stuck ones has all. */
const FIRST_STUCK = 10;
/** So many living ones are below them. */
const FIRST_LIVING = 20;

/** What is stuck, and what does it wait for? */
export function ActorsPage() {
  const search = useSearch({ from: '/inside/actors' });
  const navigate = useNavigate();
  const feed = useFeed();
  const { organization } = useHere();
  const { kind, state, show, id, own } = search;
  const shared = {
    ...{ kind, id },
    organization_id: own === true && feed.isOperator ? organization?.id : undefined,
  };
  const query = {
    ...{ ...shared, state },
    live: show === 'ended' ? 'false' : undefined,
    stuck: show === 'stuck' ? 'true' : undefined,
  };
  const opensWithStuck = show === undefined && state === undefined && id === undefined;
  const list = useActors(feed, opensWithStuck ? { ...query, limit: FIRST_LIVING } : query);
  const change = (changed: ActorsSearch) =>
    navigate({ to: '/actors', search: { ...search, ...changed }, replace: true });
  return (
    <Page
      title="Actors"
      question="What is stuck, and what does it wait for?"
      acts={
        <>
          <GoLink to="/actors/fleet">Calls as a river</GoLink>
          <GoLink to="/actors/compare">Compare two runs</GoLink>
          <GoLink to="/actors/recording">Open a recording</GoLink>
        </>
      }
      call={<ApiCall path={`${feed.path}/actors`} query={query} />}
    >
      <Filters search={search} change={change} isOperator={feed.isOperator} />
      {opensWithStuck ? <Stuck feed={feed} query={shared} change={change} /> : null}
      <Section title={TITLES[show ?? 'living']}>
        {show === 'ended' ? null : (
          <Legend
            counts={list.counts}
            kind={kind}
            state={state}
            choose={(to_kind, to_state) => change({ kind: to_kind, state: to_state })}
          />
        )}
        {list.silent_replicas > 0 ? (
          <p role="status" className="rounded-control bg-warn-soft px-3 py-1.5 text-sm text-warn">
            {list.silent_replicas} of the replicas did not answer in time: their quotas and channels
            are unknown.
          </p>
        ) : null}
        <Loaded query={list.query} height="h-96">
          {(actors) =>
            actors.length === 0 ? (
              <Nothing show={show} showAll={() => navigate({ to: '/actors' })} />
            ) : (
              <ActorTable caption={TITLES[show ?? 'living']} actors={actors} />
            )
          }
        </Loaded>
        {list.more ? (
          <Button busy={list.isReadingMore} onClick={list.more}>
            Show more
          </Button>
        ) : null}
      </Section>
    </Page>
  );
}

const TITLES = {
  living: 'Living actors, the longest in their state first',
  stuck: 'Stuck actors',
  ended: 'Ended actors, the latest first',
} as const;

interface StuckProps {
  readonly feed: Feed;
  readonly query: Query;
  readonly change: (search: ActorsSearch) => void;
}

/** The first thing that the page says: which actors are longer in their state than is usual. */
function Stuck({ feed, query, change }: StuckProps) {
  const list = useActors(feed, { ...query, stuck: 'true', limit: FIRST_STUCK });
  const count = list.counts.reduce((sum, { actors }) => sum + actors, 0);
  return (
    <Section
      title="Stuck"
      acts={
        list.more ? (
          <Button kind="quiet" onClick={() => change({ show: 'stuck' })}>
            Show all {count}
          </Button>
        ) : null
      }
    >
      <Loaded query={list.query} height="h-12">
        {(actors) =>
          actors.length === 0 ? (
            <p className="rounded-box bg-good-soft px-4 py-2.5 text-good">
              Nothing is stuck: no actor is longer in its state than is usual for its machine.
            </p>
          ) : (
            <ActorTable caption="Stuck actors" actors={actors} />
          )
        }
      </Loaded>
    </Section>
  );
}

function Nothing({ show, showAll }: { show: ActorsSearch['show']; showAll: () => void }) {
  return (
    <Empty
      title={show === 'stuck' ? 'Nothing is stuck' : 'No actor fits'}
      act={<Button onClick={showAll}>Show all living actors</Button>}
    >
      {show === 'stuck'
        ? 'No actor that fits the filters is longer in its state than is usual for its machine.'
        : 'Each task, batch and webhook has an actor, and each API key in use has one on each replica.'}
    </Empty>
  );
}
