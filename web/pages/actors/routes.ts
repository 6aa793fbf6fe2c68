import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { inside } from '../../shell/roots.tsx';
import { readActorSearch, readActorsSearch } from './search.ts';

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
    path: '/actors/$kind/$id',
    validateSearch: readActorSearch,
    component: lazyRouteComponent(() => import('./one/actor-page.tsx'), 'ActorPage'),
  }),
] as const;
