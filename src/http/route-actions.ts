import type { Action, OperatorAction } from '../access/actions.ts';

/** The action that each management route is. A route that is not here makes the start fail. */
export const MANAGEMENT_ROUTES: Readonly<Record<string, Action>> = {
  'GET /v1/management/balance': 'billing.read',
  'GET /v1/management/organization': 'settings.read',
  'PATCH /v1/management/organization': 'settings.write',
  'GET /v1/management/api-keys': 'keys.read',
  'POST /v1/management/api-keys': 'keys.write',
  'GET /v1/management/api-keys/:keyId': 'keys.read',
  'PATCH /v1/management/api-keys/:keyId': 'keys.write',
  'DELETE /v1/management/api-keys/:keyId': 'keys.write',
  'POST /v1/management/api-keys/:keyId/rotate': 'keys.write',
  'GET /v1/management/api-keys/:keyId/usage': 'usage.read',
  'GET /v1/management/api-keys/:keyId/billing': 'billing.read',
  'GET /v1/management/tokens': 'tokens.read',
  'POST /v1/management/tokens': 'tokens.write',
  'GET /v1/management/tokens/:id': 'tokens.read',
  'PATCH /v1/management/tokens/:id': 'tokens.write',
  'POST /v1/management/tokens/:id/rotate': 'tokens.write',
  'POST /v1/management/tokens/:id/revoke': 'tokens.write',
  'GET /v1/management/usage': 'usage.read',
  'GET /v1/management/usage/query': 'usage.read',
  'GET /v1/management/usage/export': 'usage.read',
  'GET /v1/management/billing': 'billing.read',
  'GET /v1/management/statements/:month': 'billing.read',
  'GET /v1/management/requests': 'usage.read',
  'GET /v1/management/requests/:id': 'usage.read',
  'GET /v1/management/notices': 'usage.read',
  'GET /v1/management/find': 'usage.read',
  'GET /v1/management/views': 'views.read',
  'POST /v1/management/views': 'views.write',
  'PATCH /v1/management/views/:id': 'views.write',
  'DELETE /v1/management/views/:id': 'views.write',
  'GET /v1/management/calls': 'usage.read',
  'GET /v1/management/events': 'usage.read',
  'GET /v1/management/inspect/machines': 'actors.read',
  'GET /v1/management/inspect/events': 'actors.read',
  'GET /v1/management/inspect/calls': 'usage.read',
  'GET /v1/management/inspect/actors': 'actors.read',
  'GET /v1/management/inspect/actors/:kind/:id': 'actors.read',
  'GET /v1/management/inspect/actors/:kind/:id/recording': 'actors.read',
  'GET /v1/management/inspect/requests/:id/recording': 'usage.read',
  'GET /v1/management/inspect/actors/:kind/:id/events': 'actors.read',
  'GET /v1/management/inspect/actors/:kind/:id/events/:seq': 'actors.read',
  'GET /v1/management/tasks': 'tasks.read',
  'GET /v1/management/tasks/:id': 'tasks.read',
  'POST /v1/management/tasks/:id/cancel': 'tasks.write',
  'GET /v1/management/batches': 'tasks.read',
  'GET /v1/management/batches/:id': 'tasks.read',
  'GET /v1/management/batches/:id/results': 'results.read',
  'POST /v1/management/batches/:id/cancel': 'tasks.write',
  'GET /v1/management/webhook-deliveries': 'tasks.read',
  'POST /v1/management/webhook-deliveries/:id/redeliver': 'tasks.write',
  'GET /v1/management/webhook-secret': 'webhooks.secret',
  'POST /v1/management/webhook-secret/rotate': 'webhooks.secret',
  'GET /v1/management/alerts': 'alerts.read',
  'GET /v1/management/alert-endpoints': 'alerts.read',
  'POST /v1/management/alert-endpoints': 'alerts.write',
  'GET /v1/management/alert-endpoints/:id': 'alerts.read',
  'PATCH /v1/management/alert-endpoints/:id': 'alerts.write',
  'DELETE /v1/management/alert-endpoints/:id': 'alerts.write',
  'POST /v1/management/alert-endpoints/:id/rotate': 'alerts.write',
  'POST /v1/management/alert-endpoints/:id/test': 'alerts.write',
  'GET /v1/management/alert-deliveries': 'alerts.read',
  'POST /v1/management/alert-deliveries/:id/redeliver': 'alerts.write',
  'GET /v1/management/alert-settings': 'alerts.read',
  'PATCH /v1/management/alert-settings': 'alerts.write',
  'GET /v1/management/debug-windows': 'debug.read',
  'POST /v1/management/debug-windows': 'debug.write',
  'GET /v1/management/debug-windows/:id': 'debug.read',
  'POST /v1/management/debug-windows/:id/close': 'debug.write',
  'GET /v1/management/debug-events': 'debug.read',
  'GET /v1/management/requests/:id/debug': 'debug.read',
  'GET /v1/management/people': 'people.read',
  'GET /v1/management/people/:id': 'people.read',
  'PATCH /v1/management/people/:id': 'people.write',
  'DELETE /v1/management/people/:id': 'people.write',
  'GET /v1/management/invitations': 'people.read',
  'POST /v1/management/invitations': 'people.write',
  'POST /v1/management/invitations/:id/revoke': 'people.write',
  'DELETE /v1/management/cache': 'cache.write',
  'GET /v1/management/models': 'models.read',
  'GET /v1/management/models/:model': 'models.read',
  'GET /v1/management/audit-log': 'audit.read',
  'GET /v1/management/audit-log/export': 'audit.read',
  'GET /v1/management/audit-log/check': 'audit.read',
};

const OPERATOR_PATH = '/v1/operator/';
const MANAGEMENT_PATH = '/v1/management/';

/**
 * Returns the action of a route; undefined for a route of neither interface. For operators, a GET reads
 * and every other method writes. Throws if a management route has no action.
 */
export function actionOf(method: string, path: string): Action | OperatorAction | undefined {
  if (path.startsWith(OPERATOR_PATH)) return method === 'GET' ? 'operator.read' : 'operator.write';
  if (!path.startsWith(MANAGEMENT_PATH)) return undefined;
  const action = MANAGEMENT_ROUTES[`${method} ${path}`];
  if (!action) throw new Error(`${method} ${path} has no action in route-actions.ts`);
  return action;
}
