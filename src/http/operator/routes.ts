import type { Authentication } from '../auth/authentication.ts';
import { notServedHere } from '../not-served.ts';
import type { PathMethods } from '../route.ts';
import type { GenerationRouteDeps } from '../tasks/ports.ts';
import { getBooks } from './books.ts';
import { OperatorChannels, type OperatorParts } from './channels.ts';
import { getCircuitHistory } from './circuit-history.ts';
import { importBill, reconcileUsage } from './reconciliation.ts';
import { listOperatorTasks } from './tasks.ts';

interface OperatorRouteDeps {
  readonly authentication: Authentication;
  /**
   * The database, channels and prober of the operator routes. Missing if this process does not serve
   * these routes.
   */
  readonly operator?: OperatorParts;
  readonly generation?: GenerationRouteDeps['generation'];
}

/** The routes of the operator interface. */
export function operatorRoutes(app: OperatorRouteDeps): PathMethods[] {
  const { authentication, generation = notServedHere } = app;
  const operator = () => app.operator ?? notServedHere();
  const deps = { authentication, operator, generation };
  const channels = new OperatorChannels(deps);
  const channel = '/v1/operator/channels/:id';
  return [
    ['/v1/operator/channels', { GET: channels.list }],
    [channel, { GET: channels.get }],
    [`${channel}/test`, { POST: channels.test }],
    [`${channel}/enable`, { POST: channels.enable }],
    [`${channel}/disable`, { POST: channels.disable }],
    [`${channel}/drain`, { POST: channels.drain }],
    [`${channel}/circuit-history`, { GET: getCircuitHistory(deps) }],
    ['/v1/operator/books', { GET: getBooks(deps) }],
    ['/v1/operator/provider-bills', { POST: importBill(deps) }],
    ['/v1/operator/usage-reconciliation', { GET: reconcileUsage(deps) }],
    ['/v1/operator/tasks', { GET: listOperatorTasks(deps) }],
  ];
}
