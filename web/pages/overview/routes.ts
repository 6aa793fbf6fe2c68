import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { beginsReads } from '../../shell/begin.ts';
import { inside } from '../../shell/roots.tsx';

/** The first page. */
export const overviewRoutes = [
  createRoute({
    getParentRoute: () => inside,
    path: '/',
    loader: beginsReads(() => import('./page.tsx')),
    component: lazyRouteComponent(() => import('./page.tsx'), 'OverviewPage'),
  }),
] as const;
