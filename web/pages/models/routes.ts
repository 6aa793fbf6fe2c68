import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { inside } from '../../shell/roots.tsx';
import { readModelSearch } from './search.ts';

/** The catalogue, and one model of it. */
export const modelsRoutes = [
  createRoute({
    getParentRoute: () => inside,
    path: '/models',
    validateSearch: readModelSearch,
    component: lazyRouteComponent(() => import('./page.tsx'), 'ModelsPage'),
  }),
  createRoute({
    getParentRoute: () => inside,
    path: '/models/$model',
    component: lazyRouteComponent(() => import('./model-page.tsx'), 'ModelPage'),
  }),
] as const;
