import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { inside } from '../../shell/roots.tsx';
import { readTaskSearch } from './search.ts';

/** The tasks of the organization, and one of them. */
export const tasksRoutes = [
  createRoute({
    getParentRoute: () => inside,
    path: '/tasks',
    validateSearch: readTaskSearch,
    component: lazyRouteComponent(() => import('./page.tsx'), 'TasksPage'),
  }),
  createRoute({
    getParentRoute: () => inside,
    path: '/tasks/$id',
    component: lazyRouteComponent(() => import('./task-page.tsx'), 'TaskPage'),
  }),
] as const;
