import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { inside } from '../../shell/roots.tsx';

/** The first page of a new installation. */
export const welcomeRoutes = [
  createRoute({
    getParentRoute: () => inside,
    path: '/welcome',
    component: lazyRouteComponent(() => import('./page.tsx'), 'WelcomePage'),
  }),
] as const;
