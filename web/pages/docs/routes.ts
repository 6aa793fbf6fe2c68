import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { inside } from '../../shell/roots.tsx';

const page = lazyRouteComponent(() => import('./page.tsx'), 'DocsPage');

/** The project's own documentation. */
export const docsRoutes = [
  createRoute({ getParentRoute: () => inside, path: '/docs', component: page }),
  createRoute({ getParentRoute: () => inside, path: '/docs/$page', component: page }),
  createRoute({ getParentRoute: () => inside, path: '/docs/decisions/$page', component: page }),
  createRoute({ getParentRoute: () => inside, path: '/docs/reference/$page', component: page }),
] as const;
