import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { beginsReads } from '../../shell/begin.ts';
import { inside } from '../../shell/roots.tsx';
import { beginExplored } from './explore/read.ts';
import { exploreSearchOf } from './explore/search.ts';
import { usageSearchOf } from './search.ts';

/** The pages below `/usage`. */
export const usageRoutes = [
  createRoute({
    getParentRoute: () => inside,
    path: '/usage',
    validateSearch: exploreSearchOf,
    loader: beginsReads(() => import('./explore/page.tsx'), beginExplored),
    component: lazyRouteComponent(() => import('./explore/page.tsx'), 'ExplorePage'),
  }),
  createRoute({
    getParentRoute: () => inside,
    path: '/usage/requests',
    validateSearch: usageSearchOf,
    loader: beginsReads(() => import('./requests/page.tsx')),
    component: lazyRouteComponent(() => import('./requests/page.tsx'), 'RequestsPage'),
  }),
  createRoute({
    getParentRoute: () => inside,
    path: '/usage/requests/$id',
    component: lazyRouteComponent(() => import('./request/page.tsx'), 'RequestPage'),
  }),
  createRoute({
    getParentRoute: () => inside,
    path: '/usage/calls',
    component: lazyRouteComponent(() => import('./calls/page.tsx'), 'CallsPage'),
  }),
] as const;
