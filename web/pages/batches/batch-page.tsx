import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { api } from '../../api/client.ts';
import { ApiError } from '../../api/error.ts';
import type { Batch } from '../../api/types.ts';
import { ApiCall } from '../../parts/api-call.tsx';
import { StateBadge } from '../../parts/badge.tsx';
import { Copy } from '../../parts/copy.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Card, Page, Section } from '../../parts/page.tsx';
import { duration, Time } from '../../parts/time.tsx';
import { Missing } from '../../shell/missing.tsx';
import {
  BatchBar,
  BatchCost,
  CancelBatch,
  isRunning,
  PROGRESS_MS,
  Results,
} from './batch-parts.tsx';

/** One batch: how far it is, what its items became, and its results. */
export function BatchPage() {
  const { id } = useParams({ from: '/inside/batches/$id' });
  const path = `/v1/management/batches/${encodeURIComponent(id)}`;
  const query = useQuery({
    queryKey: ['batches', 'one', id],
    queryFn: ({ signal }) => api.get<Batch>(path, {}, signal),
    refetchInterval: ({ state: { data } }) => (data && isRunning(data) ? PROGRESS_MS : false),
  });
  if (query.error instanceof ApiError && query.error.status === 404) return <Missing />;
  const batch = query.data;
  return (
    <Page
      title="Batch"
      question={<Copy text={id} what="batch id" />}
      acts={batch ? <CancelBatch batch={batch} /> : null}
      call={<ApiCall path={path} />}
    >
      <Loaded query={query} height="h-96">
        {(loaded) => (
          <>
            <div className="grid gap-4 sm:grid-cols-[minmax(0,2fr)_minmax(0,1fr)]">
              <Card>
                <h2 className="mb-2 flex items-center gap-2 text-sm text-soft">
                  Progress <StateBadge state={loaded.status} />
                </h2>
                <BatchBar batch={loaded} />
                <Counts batch={loaded} />
              </Card>
              <Card>
                <h2 className="mb-1 text-sm text-soft">Cost so far</h2>
                <span className="text-xl">
                  <BatchCost batch={loaded} />
                </span>
                <p className="mt-2 text-sm">
                  <Link
                    to="/batches"
                    search={{ api_key_id: loaded.api_key_id }}
                    className="text-accent underline"
                  >
                    All batches of its key
                  </Link>
                </p>
              </Card>
            </div>
            <Section title="Results">
              <Results batch={loaded} />
            </Section>
            <Section title="What happened">
              <Moments batch={loaded} />
            </Section>
          </>
        )}
      </Loaded>
    </Page>
  );
}

const COUNTS = ['succeeded', 'errored', 'canceled', 'expired', 'remaining'] as const;

function Counts({ batch: { progress } }: { batch: Batch }) {
  return (
    <dl className="mt-3 grid grid-cols-2 gap-3 sm:grid-cols-5">
      {COUNTS.map((name) => (
        <div key={name}>
          <dt className="text-sm text-soft">{name}</dt>
          <dd className="text-lg figures">{progress[name].toLocaleString()}</dd>
        </div>
      ))}
    </dl>
  );
}

function Moments({ batch }: { batch: Batch }) {
  const { created_at, cancel_requested_at, ended_at, expires_at } = batch;
  const moments = [
    { what: 'Created', at: created_at, note: '' },
    ...(cancel_requested_at === null
      ? []
      : [{ what: 'Cancel requested', at: cancel_requested_at, note: '' }]),
    ended_at === null
      ? { what: 'Expires', at: expires_at, note: 'Requests without a result then expire.' }
      : {
          what: 'Ended',
          at: ended_at,
          note: `after ${duration(Date.parse(ended_at) - Date.parse(created_at))}`,
        },
  ];
  return (
    <ol className="grid gap-2 border-l-2 border-line pl-4">
      {moments.map(({ what, at, note }) => (
        <li key={what} className="flex flex-wrap gap-x-3">
          <span className="min-w-36 font-medium">{what}</span>
          <Time at={at} />
          <span className="text-soft">{note}</span>
        </li>
      ))}
    </ol>
  );
}
