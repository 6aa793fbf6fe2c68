import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { inside } from '../../shell/roots.tsx';

/** Opens what any id belongs to. */
export const goRoutes = [
  createRoute({
    getParentRoute: () => inside,
    path: '/go/$id',
    component: lazyRouteComponent(() => import('./page.tsx'), 'GoPage'),
  }),
] as const;
