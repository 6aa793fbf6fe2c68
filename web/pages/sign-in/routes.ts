import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { root } from '../../shell/roots.tsx';

/** The pages of people who are not signed in. */
export const signInRoutes = [
  createRoute({
    getParentRoute: () => root,
    path: '/sign-in',
    validateSearch: ({ return_to }: Record<string, unknown>): { return_to?: string } =>
      typeof return_to === 'string' ? { return_to } : {},
    component: lazyRouteComponent(() => import('./page.tsx'), 'SignInPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/v1/auth/links/$link',
    component: lazyRouteComponent(() => import('./link-page.tsx'), 'LinkPage'),
  }),
] as const;
