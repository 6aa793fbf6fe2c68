import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { beginsReads } from '../../shell/begin.ts';
import { inside } from '../../shell/roots.tsx';

const component = lazyRouteComponent(() => import('./page.tsx'), 'DocsPage');
const loader = beginsReads(() => import('./page.tsx'));
const at = <Path extends string>(path: Path) =>
  createRoute({ getParentRoute: () => inside, path, loader, component });

/** The project's own documentation. */
export const docsRoutes = [
  at('/docs'),
  at('/docs/$page'),
  at('/docs/decisions/$page'),
  at('/docs/reference/$page'),
] as const;
