import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { beginsReads } from '../../shell/begin.ts';
import { inside } from '../../shell/roots.tsx';
import { auditSearchOf } from './audit/search.ts';

const isTrue = (value: unknown) => value === true || value === 'true';

/** What the address of a list has whose items end: an open form, and whether ended items are shown. */
interface ListSearch {
  readonly create?: boolean | undefined;
  readonly ended?: boolean | undefined;
}

const listSearchOf = ({ create, ended }: Record<string, unknown>): ListSearch => ({
  ...(isTrue(create) ? { create: true } : {}),
  ...(isTrue(ended) ? { ended: true } : {}),
});

/** The pages below `/access`. */
export const accessRoutes = [
  createRoute({
    getParentRoute: () => inside,
    path: '/access/people',
    validateSearch: ({ invite }: Record<string, unknown>): { invite?: boolean | undefined } =>
      isTrue(invite) ? { invite: true } : {},
    component: lazyRouteComponent(() => import('./people/page.tsx'), 'PeoplePage'),
  }),
  createRoute({
    getParentRoute: () => inside,
    path: '/access/tokens',
    validateSearch: listSearchOf,
    loader: beginsReads(() => import('./tokens/page.tsx')),
    component: lazyRouteComponent(() => import('./tokens/page.tsx'), 'TokensPage'),
  }),
  createRoute({
    getParentRoute: () => inside,
    path: '/access/upstream-keys',
    validateSearch: listSearchOf,
    loader: beginsReads(() => import('./upstream-keys/page.tsx')),
    component: lazyRouteComponent(() => import('./upstream-keys/page.tsx'), 'OwnKeysPage'),
  }),
  createRoute({
    getParentRoute: () => inside,
    path: '/access/audit',
    validateSearch: auditSearchOf,
    loader: beginsReads(() => import('./audit/page.tsx')),
    component: lazyRouteComponent(() => import('./audit/page.tsx'), 'AuditPage'),
  }),
  createRoute({
    getParentRoute: () => inside,
    path: '/access/webhooks',
    validateSearch: ({
      state,
    }: Record<string, unknown>): { state?: 'pending' | 'delivered' | 'failed' | undefined } =>
      state === 'pending' || state === 'delivered' || state === 'failed' ? { state } : {},
    component: lazyRouteComponent(() => import('./webhooks/page.tsx'), 'WebhooksPage'),
  }),
  createRoute({
    getParentRoute: () => inside,
    path: '/access/settings',
    component: lazyRouteComponent(() => import('./settings/page.tsx'), 'SettingsPage'),
  }),
] as const;
