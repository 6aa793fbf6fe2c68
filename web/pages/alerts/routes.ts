import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { beginsReads } from '../../shell/begin.ts';
import { inside } from '../../shell/roots.tsx';
import { alertsSearchOf } from './search.ts';

/** The page of alerts. */
export const alertsRoutes = [
  createRoute({
    getParentRoute: () => inside,
    path: '/alerts',
    validateSearch: alertsSearchOf,
    loader: beginsReads(() => import('./page.tsx')),
    component: lazyRouteComponent(() => import('./page.tsx'), 'AlertsPage'),
  }),
] as const;
