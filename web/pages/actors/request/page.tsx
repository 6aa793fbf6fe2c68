import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useMemo } from 'react';
import { ApiCall } from '../../../parts/api-call.tsx';
import { Copy } from '../../../parts/copy.tsx';
import { GoLink } from '../../../parts/go-link.tsx';
import { Loaded } from '../../../parts/loaded.tsx';
import { Page, Section } from '../../../parts/page.tsx';
import { Time } from '../../../parts/time.tsx';
import { useFeed } from '../feed.ts';
import { SaveRecording } from '../one/save-recording.tsx';
import { Lanes } from './lanes.tsx';
import { loadRequest, type RequestRecording, recordingPath } from './load.ts';
import { Steps } from './steps.tsx';
import { wayOf } from './way.ts';

/** The way of one request through the actors: which of them saw which event, and when. */
export function RequestWayPage() {
  const { id } = useParams({ from: '/inside/actors/request/$id' });
  const feed = useFeed();
  const query = useQuery({
    queryKey: ['actors', 'request', feed.path, id],
    queryFn: ({ signal }) => loadRequest(feed, id, signal),
  });
  return (
    <Page
      title="Way of a request"
      question={<Copy text={id} what="request id" />}
      acts={
        <>
          <GoLink to={`/usage/requests/${encodeURIComponent(id)}`} className="self-center">
            Its timeline and money
          </GoLink>
          {query.data ? <SaveRecording recording={query.data} name={id} /> : null}
        </>
      }
      call={<ApiCall path={recordingPath(feed, id)} />}
    >
      <Loaded query={query} height="h-96">
        {(recording) => <WayView recording={recording} />}
      </Loaded>
    </Page>
  );
}

function WayView({ recording: { request, actors } }: { recording: RequestRecording }) {
  const way = useMemo(() => wayOf(request, actors), [request, actors]);
  return (
    <>
      <p className="text-soft">
        {request.logical_model === null ? 'A call' : `A call of ${request.logical_model}`}, which
        arrived <Time at={request.date} />. {request.outcome_text}
      </p>
      <Section title="Who took part">
        <Lanes way={way} />
      </Section>
      <Section title="Step by step">
        <Steps way={way} />
      </Section>
    </>
  );
}
