import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { beginsReads } from '../../shell/begin.ts';
import { inside } from '../../shell/roots.tsx';
import { cacheSearchOf } from './search.ts';

/** The page `/cache`. */
export const cacheRoutes = [
  createRoute({
    getParentRoute: () => inside,
    path: '/cache',
    validateSearch: cacheSearchOf,
    loader: beginsReads(() => import('./page.tsx')),
    component: lazyRouteComponent(() => import('./page.tsx'), 'CachePage'),
  }),
] as const;
