import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { inside } from '../../shell/roots.tsx';
import { keysSearchOf } from './key-search.ts';

/** The pages below `/keys`. */
export const keysRoutes = [
  createRoute({
    getParentRoute: () => inside,
    path: '/keys',
    validateSearch: keysSearchOf,
    component: lazyRouteComponent(() => import('./page.tsx'), 'KeysPage'),
  }),
  createRoute({
    getParentRoute: () => inside,
    path: '/keys/$id',
    validateSearch: ({ edit }: Record<string, unknown>): { edit?: boolean } =>
      edit === true || edit === 'true' ? { edit: true } : {},
    component: lazyRouteComponent(() => import('./key-page.tsx'), 'KeyPage'),
  }),
] as const;
