import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { api } from '../../../api/client.ts';
import { ApiError } from '../../../api/error.ts';
import { useKeyNames } from '../../../api/key-names.ts';
import type { CallDetail } from '../../../api/types.ts';
import { ApiCall } from '../../../parts/api-call.tsx';
import { Copy } from '../../../parts/copy.tsx';
import { GoLink } from '../../../parts/go-link.tsx';
import { Loaded } from '../../../parts/loaded.tsx';
import { Card, Page, Section } from '../../../parts/page.tsx';
import { useHere } from '../../../shell/here.ts';
import { Missing } from '../../../shell/missing.tsx';
import { CallFacts } from './call-facts.tsx';
import { Charge } from './charge.tsx';
import { DebugCopy } from './debug-copy.tsx';
import { Recording } from './recording.tsx';
import { Result } from './result.tsx';
import { Timeline } from './timeline.tsx';
import { Tokens } from './tokens.tsx';

/** One call: what happened, when, and what it cost. */
export function RequestPage() {
  const { id } = useParams({ from: '/inside/usage/requests/$id' });
  const here = useHere();
  const path = `/v1/management/requests/${encodeURIComponent(id)}`;
  const query = useQuery({
    queryKey: ['requests', 'one', id],
    queryFn: ({ signal }) => api.get<CallDetail>(path, {}, signal),
    // A call that has ended never changes.
    staleTime: (of) => (isOver(of.state.data) ? Number.POSITIVE_INFINITY : 0),
  });
  const names = useKeyNames();
  if (query.error instanceof ApiError && query.error.status === 404) return <Missing />;
  return (
    <Page
      title="Request"
      question={<Copy text={id} what="request id" />}
      acts={
        <>
          <span className="flex flex-wrap items-center gap-x-4">
            <GoLink to={`/actors/request/${encodeURIComponent(id)}`}>Way through the actors</GoLink>
            <Link to="/usage/requests" className="text-accent underline underline-offset-2">
              All requests
            </Link>
          </span>
          {query.data ? <Recording id={id} /> : null}
        </>
      }
      call={<ApiCall path={path} />}
    >
      <Loaded query={query} height="h-96">
        {(call) => (
          <div className="grid min-w-0 gap-6">
            <Result call={call} />
            <Section title="Time">
              <Card>
                <Timeline timeline={call.timeline} />
              </Card>
            </Section>
            <div className="grid min-w-0 gap-6 lg:grid-cols-2">
              <Section title="Money">
                <Card>
                  <Charge call={call} charge={call.charge} />
                </Card>
              </Section>
              <Section title="Tokens">
                <Card>
                  <Tokens usage={call.usage} />
                </Card>
              </Section>
            </div>
            <Section title="The call">
              <Card>
                <CallFacts call={call} names={names} />
              </Card>
            </Section>
            {here.may('debug.read') ? <DebugCopy call={call} /> : null}
          </div>
        )}
      </Loaded>
    </Page>
  );
}

const isOver = (call: CallDetail | undefined): boolean =>
  call !== undefined && call.outcome !== 'accepted';
