import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { inside } from '../../shell/roots.tsx';
import { readMachineSearch } from './search.ts';

const component = lazyRouteComponent(() => import('./page.tsx'), 'MachinesPage');

/** The state machines of Weir. */
export const machinesRoutes = [
  createRoute({ getParentRoute: () => inside, path: '/machines', component }),
  createRoute({
    getParentRoute: () => inside,
    path: '/machines/$machine',
    validateSearch: readMachineSearch,
    component,
  }),
] as const;
