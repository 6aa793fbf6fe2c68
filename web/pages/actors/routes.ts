import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { inside } from '../../shell/roots.tsx';
import { readActorSearch, readActorsSearch, readCompareSearch, readFleetSearch } from './search.ts';

/** The live actors, and one of them with its past. */
export const actorsRoutes = [
  createRoute({
    getParentRoute: () => inside,
    path: '/actors',
    validateSearch: readActorsSearch,
    component: lazyRouteComponent(() => import('./page.tsx'), 'ActorsPage'),
  }),
  createRoute({
    getParentRoute: () => inside,
    path: '/actors/recording',
    component: lazyRouteComponent(() => import('./recording/page.tsx'), 'RecordingPage'),
  }),
  createRoute({
    getParentRoute: () => inside,
    path: '/actors/compare',
    validateSearch: readCompareSearch,
    component: lazyRouteComponent(() => import('./compare/page.tsx'), 'ComparePage'),
  }),
  createRoute({
    getParentRoute: () => inside,
    path: '/actors/fleet',
    validateSearch: readFleetSearch,
    component: lazyRouteComponent(() => import('./fleet/page.tsx'), 'FleetPage'),
  }),
  createRoute({
    getParentRoute: () => inside,
    path: '/actors/request/$id',
    component: lazyRouteComponent(() => import('./request/page.tsx'), 'RequestWayPage'),
  }),
  createRoute({
    getParentRoute: () => inside,
    path: '/actors/$kind/$id',
    validateSearch: readActorSearch,
    component: lazyRouteComponent(() => import('./one/actor-page.tsx'), 'ActorPage'),
  }),
] as const;
