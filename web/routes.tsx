import { accessRoutes } from './pages/access/routes.ts';
import { actorsRoutes } from './pages/actors/routes.ts';
import { alertsRoutes } from './pages/alerts/routes.ts';
import { batchesRoutes } from './pages/batches/routes.ts';
import { billingRoutes } from './pages/billing/routes.ts';
import { cacheRoutes } from './pages/cache/routes.ts';
import { docsRoutes } from './pages/docs/routes.ts';
import { goRoutes } from './pages/go/routes.ts';
import { keysRoutes } from './pages/keys/routes.ts';
import { machinesRoutes } from './pages/machines/routes.ts';
import { modelsRoutes } from './pages/models/routes.ts';
import { overviewRoutes } from './pages/overview/routes.ts';
import { playgroundRoutes } from './pages/playground/routes.ts';
import { signInRoutes } from './pages/sign-in/routes.ts';
import { tasksRoutes } from './pages/tasks/routes.ts';
import { usageRoutes } from './pages/usage/routes.ts';
import { welcomeRoutes } from './pages/welcome/routes.ts';
import { inside, root } from './shell/roots.tsx';

/** Every page. The server knows the same paths (src/http/web/pages.ts). */
export const routeTree = root.addChildren([
  ...signInRoutes,
  inside.addChildren([
    ...overviewRoutes,
    ...keysRoutes,
    ...usageRoutes,
    ...billingRoutes,
    ...cacheRoutes,
    ...alertsRoutes,
    ...accessRoutes,
    ...tasksRoutes,
    ...batchesRoutes,
    ...playgroundRoutes,
    ...modelsRoutes,
    ...welcomeRoutes,
    ...actorsRoutes,
    ...machinesRoutes,
    ...docsRoutes,
    ...goRoutes,
  ]),
]);
