import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { beginsReads } from '../../shell/begin.ts';
import { inside } from '../../shell/roots.tsx';
import { billingSearchOf } from './search.ts';

/** The pages below `/billing`. */
export const billingRoutes = [
  createRoute({
    getParentRoute: () => inside,
    path: '/billing',
    validateSearch: billingSearchOf,
    loader: beginsReads(() => import('./page.tsx')),
    component: lazyRouteComponent(() => import('./page.tsx'), 'BillingPage'),
  }),
  createRoute({
    getParentRoute: () => inside,
    path: '/billing/$month',
    validateSearch: billingSearchOf,
    component: lazyRouteComponent(() => import('./statement-page.tsx'), 'StatementPage'),
  }),
] as const;
