import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router';
import { root } from '../../shell/roots.tsx';
import { keepLink } from './kept-link.ts';

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
    // The link is a credential until it is used, so it does not stay in the address.
    beforeLoad({ params }) {
      keepLink(params.link);
      throw redirect({ to: '/link', replace: true });
    },
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/link',
    component: lazyRouteComponent(() => import('./link-page.tsx'), 'LinkPage'),
  }),
] as const;
