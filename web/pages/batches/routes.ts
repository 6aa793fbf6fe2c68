import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { inside } from '../../shell/roots.tsx';
import { readBatchSearch } from './search.ts';

/** The message batches of the organization, and one of them. */
export const batchesRoutes = [
  createRoute({
    getParentRoute: () => inside,
    path: '/batches',
    validateSearch: readBatchSearch,
    component: lazyRouteComponent(() => import('./page.tsx'), 'BatchesPage'),
  }),
  createRoute({
    getParentRoute: () => inside,
    path: '/batches/$id',
    component: lazyRouteComponent(() => import('./batch-page.tsx'), 'BatchPage'),
  }),
] as const;
