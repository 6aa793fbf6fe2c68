import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { useEffect } from 'react';
import { api } from '../../api/client.ts';
import { ApiError } from '../../api/error.ts';
import { Loaded } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import { Missing } from '../../shell/missing.tsx';
import { type Found, targetOf } from './target.ts';

/** Opens the page of an id: of a request, a task, a key, a batch, a delivery, a person, … */
export function GoPage() {
  const { id } = useParams({ from: '/inside/go/$id' });
  const navigate = useNavigate();
  const query = useQuery({
    queryKey: ['find', id],
    queryFn: ({ signal }) => api.get<Found>('/v1/management/find', { id }, signal),
  });
  const to = query.data && targetOf(query.data);
  useEffect(() => {
    if (to !== undefined) navigate({ to, replace: true });
  }, [to, navigate]);
  // An id that belongs to somebody else looks like one that never was.
  if (query.error instanceof ApiError && query.error.status === 404) return <Missing />;
  return (
    <Page title="Looking for it" question={<code className="font-mono">{id}</code>}>
      <Loaded query={query} height="h-10">
        {({ kind }) => <p>It is a {kind.replaceAll('_', ' ')}.</p>}
      </Loaded>
    </Page>
  );
}
