import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { beginsReads } from '../../shell/begin.ts';
import { inside } from '../../shell/roots.tsx';
import { readMachineSearch } from './search.ts';

const loader = beginsReads(() => import('./page.tsx'));
const component = lazyRouteComponent(() => import('./page.tsx'), 'MachinesPage');

/** The state machines of Weir. */
export const machinesRoutes = [
  createRoute({ getParentRoute: () => inside, path: '/machines', loader, component }),
  createRoute({
    getParentRoute: () => inside,
    path: '/machines/$machine',
    validateSearch: readMachineSearch,
    loader,
    component,
  }),
] as const;
