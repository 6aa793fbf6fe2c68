import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { beginsReads } from '../../shell/begin.ts';
import { inside } from '../../shell/roots.tsx';
import { readPlaygroundSearch } from './scenes.ts';

/** Calls of models with the person's session. */
export const playgroundRoutes = [
  createRoute({
    getParentRoute: () => inside,
    path: '/playground',
    validateSearch: readPlaygroundSearch,
    loader: beginsReads(() => import('./page.tsx')),
    component: lazyRouteComponent(() => import('./page.tsx'), 'PlaygroundPage'),
  }),
] as const;
