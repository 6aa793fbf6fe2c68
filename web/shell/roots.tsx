import type { QueryClient } from '@tanstack/react-query';
import {
  createRootRouteWithContext,
  createRoute,
  redirect,
  retainSearchParams,
} from '@tanstack/react-router';
import { hereOf, readSession, SESSION_KEY } from '../api/session.ts';
import { Broken } from './broken.tsx';
import { Missing } from './missing.tsx';
import { SignedInFrame } from './signed-in-frame.tsx';

interface RootSearch {
  /** The organization that the pages show, for people who are in several. */
  readonly org?: string | undefined;
}

/** The route above all others. */
export const root = createRootRouteWithContext<{ queries: QueryClient }>()({
  validateSearch: ({ org }: Record<string, unknown>): RootSearch =>
    typeof org === 'string' ? { org } : {},
  search: { middlewares: [retainSearchParams(['org'])] },
  notFoundComponent: Missing,
  errorComponent: Broken,
});

/** The pages of people who are signed in. Others are sent to the sign-in, and come back. */
export const inside = createRoute({
  getParentRoute: () => root,
  id: 'inside',
  async beforeLoad({ context: { queries }, location, search: { org } }) {
    const query = { queryKey: SESSION_KEY, queryFn: readSession, staleTime: 60_000 };
    const session = await queries.ensureQueryData(query);
    if (session === null) throw redirect({ to: '/sign-in', search: { return_to: location.href } });
    return { here: hereOf(session, org) };
  },
  component: SignedInFrame,
});
