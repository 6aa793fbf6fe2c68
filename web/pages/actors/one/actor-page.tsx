import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useCallback } from 'react';
import { ApiError } from '../../../api/error.ts';
import { urlOf } from '../../../api/url.ts';
import { ApiCall } from '../../../parts/api-call.tsx';
import { Copy } from '../../../parts/copy.tsx';
import { Empty } from '../../../parts/empty.tsx';
import { GoLink } from '../../../parts/go-link.tsx';
import { Loaded } from '../../../parts/loaded.tsx';
import { Page } from '../../../parts/page.tsx';
import { type ActorAddress, actorPath, useFeed } from '../feed.ts';
import { OF, pageOf } from '../names.ts';
import type { ActorSearch } from '../search.ts';
import { ActButtons } from './act-buttons.tsx';
import { PastView } from './past-view.tsx';
import { Present } from './present.tsx';
import { SaveRecording } from './save-recording.tsx';
import { useActor } from './use-actor.ts';

/** One actor: what it does now, its chart, and its past. */
export function ActorPage() {
  const { kind, id } = useParams({ from: '/inside/actors/$kind/$id' });
  const search = useSearch({ from: '/inside/actors/$kind/$id' });
  const address = { kind, id, replica: search.replica };
  const feed = useFeed();
  const { detail, recording, history, following } = useActor(feed, address);
  const navigate = useNavigate();
  const { replica } = search;
  const change = useCallback(
    (changed: ActorSearch) =>
      navigate({
        to: '/actors/$kind/$id',
        params: { kind, id },
        search: { replica, ...changed },
        ...{ replace: true, resetScroll: false },
      }),
    [navigate, kind, id, replica],
  );
  const path = actorPath(feed, address);
  const isMissing = isGone(detail.error) || isGone(recording.error);
  return (
    <Page
      title={OF[kind] === undefined ? 'Actor' : `Actor of ${OF[kind]}`}
      question={<Links address={address} />}
      acts={
        <>
          {detail.data && !isMissing ? <ActButtons actor={detail.data} path={path} /> : null}
          {recording.data ? (
            <SaveRecording recording={recording.data} name={`${kind}-${id}`} />
          ) : null}
        </>
      }
      call={<ApiCall path={`${path}/events`} query={{ replica: search.replica }} />}
    >
      {isMissing && !detail.data ? (
        <Gone kind={kind} />
      ) : (
        <>
          {isMissing ? (
            <p role="status" className="rounded-control bg-warn-soft px-3 py-1.5 text-sm text-warn">
              It has left the memory of its replica, because it was not used. This is the last that
              is known of it.
            </p>
          ) : null}
          <Loaded query={isMissing ? { ...detail, error: null } : detail} height="h-32">
            {(actor) => (
              <Present
                actor={actor}
                following={following}
                choose={(chosen) => change({ replica: chosen })}
              />
            )}
          </Loaded>
          <Loaded query={isMissing ? { ...recording, error: null } : recording} height="h-96">
            {() =>
              history ? <PastView history={history} search={search} change={change} /> : null
            }
          </Loaded>
        </>
      )}
    </Page>
  );
}

/** True for the error of an actor that does not exist, or not any more. */
const isGone = (error: unknown) => error instanceof ApiError && error.status === 404;

function Links({ address: { kind, id } }: { address: ActorAddress }) {
  const page = pageOf(kind, id);
  return (
    <span className="flex flex-wrap items-baseline gap-x-3">
      <Copy text={id} what="id" />
      {page ? <GoLink to={page.to}>{page.title}</GoLink> : null}
      <GoLink to={urlOf('/actors', { kind })}>All of this kind</GoLink>
      <GoLink to={urlOf('/actors/compare', { kind, one: id })}>Compare with another</GoLink>
    </span>
  );
}

function Gone({ kind }: { kind: string }) {
  return (
    <Empty title="There is no such actor now">
      {kind === 'quota'
        ? 'An API key has an actor on a replica only while it is used there: from a call until some seconds after the last one. Its next call, also a refused one, makes it again.'
        : 'No actor of this kind has this id, or it is not yours to see.'}
    </Empty>
  );
}
