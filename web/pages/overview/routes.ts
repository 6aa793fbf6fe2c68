import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { inside } from '../../shell/roots.tsx';

/** The first page. */
export const overviewRoutes = [
  createRoute({
    getParentRoute: () => inside,
    path: '/',
    component: lazyRouteComponent(() => import('./page.tsx'), 'OverviewPage'),
  }),
] as const;
