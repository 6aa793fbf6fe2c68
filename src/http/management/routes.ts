import { findOrganizationStatus } from '../../../db/accounts/organizations.ts';
import type { Sql } from '../../../db/client.ts';
import { mayGrant, SCOPES } from '../../access/actions.ts';
import { WeirError } from '../../errors/weir-error.ts';
import type { InferenceRouteDeps } from '../inference-route.ts';
import type { BatchRouteDeps } from '../messages/batches/route.ts';
import { notServedHere } from '../not-served.ts';
import type { PathMethods } from '../route.ts';
import type { GenerationRouteDeps } from '../tasks/ports.ts';
import { auditRoutes } from './audit-log.ts';
import { getBalance } from './balance.ts';
import { ManagedBatches } from './batches.ts';
import { type CachePurgeDeps, purgeCache } from './cache.ts';
import { type DebugRouteDeps, DebugWindowRoutes } from './debug-windows.ts';
import { WebhookDeliveries } from './deliveries.ts';
import { findObject } from './find.ts';
import {
  admitManager,
  createApiKey,
  deleteApiKey,
  getApiKey,
  listApiKeys,
  type ManagementDeps,
  rotateApiKey,
  updateApiKey,
} from './keys.ts';
import { type ManagedModelDeps, ManagedModels } from './models.ts';
import { listNotices } from './notices.ts';
import { getOrganization, updateOrganization } from './organization.ts';
import { ManagedTasks } from './tasks.ts';
import { TokenRoutes } from './tokens.ts';
import type { UsageDeps } from './usage/lines.ts';
import { usageRoutes } from './usage/routes.ts';
import { SavedViews } from './views.ts';
import { getWebhookSecret, rotateWebhookSecret, type WebhookRouteDeps } from './webhooks.ts';

/** Dependencies of all management routes. */
export interface ManagementRouteDeps
  extends ManagementDeps,
    UsageDeps,
    WebhookRouteDeps,
    ManagedModelDeps {
  /** Removes stored answers. Missing if this process stores none. */
  cacheChanges?: CachePurgeDeps['cacheChanges'];
  /** The debug windows. Missing if this process copies no calls. */
  debug?: DebugRouteDeps['debug'];
  /** Tasks and their files. Missing if this process serves no generation routes. */
  generation?: GenerationRouteDeps['generation'];
  /** Message batches. Missing if this process serves no batches. */
  batches?: BatchRouteDeps['batches'];
  /** The database of the lists of the management routes. Missing if this process serves no lists. */
  lists?: () => Sql;
}

/** The routes of the management interface, and the operators' routes that show the same things. */
export function managementRoutes(
  app: ManagementRouteDeps & Pick<InferenceRouteDeps, 'repeats' | 'inference'>,
): PathMethods[] {
  const models = new ManagedModels(app);
  return [
    ...listRoutes(app),
    ...debugRoutes(app),
    ...auditLogs(app),
    ...tokenRoutes(app),
    ...viewRoutes(app),
    [
      '/v1/management/cache',
      { DELETE: purgeCache({ ...app, cacheChanges: app.cacheChanges ?? notServedHere }) },
    ],
    ['/v1/management/balance', { GET: getBalance(app) }],
    ['/v1/management/organization', { GET: getOrganization(app), PATCH: updateOrganization(app) }],
    ['/v1/management/api-keys', { GET: listApiKeys(app), POST: createApiKey(app) }],
    [
      '/v1/management/api-keys/:keyId',
      { GET: getApiKey(app), PATCH: updateApiKey(app), DELETE: deleteApiKey(app) },
    ],
    ['/v1/management/api-keys/:keyId/rotate', { POST: rotateApiKey(app) }],
    ...usageRoutes(app),
    ['/v1/management/notices', { GET: listNotices(app) }],
    ['/v1/management/find', { GET: findObject(app) }],
    ['/v1/management/models', { GET: models.list }],
    ['/v1/management/models/:model', { GET: models.get }],
    ['/v1/management/webhook-secret', { GET: getWebhookSecret(app) }],
    ['/v1/management/webhook-secret/rotate', { POST: rotateWebhookSecret(app) }],
  ];
}

/** The routes that list and change tasks, batches and webhooks of an organization. */
function listRoutes(app: ManagementRouteDeps): PathMethods[] {
  const lists = app.lists ?? notServedHere;
  const tasks = new ManagedTasks({ ...app, lists, generation: app.generation ?? notServedHere });
  const batches = new ManagedBatches({ ...app, lists, batches: app.batches ?? notServedHere });
  const deliveries = new WebhookDeliveries(app);
  return [
    ['/v1/management/tasks', { GET: tasks.list }],
    ['/v1/management/tasks/:id', { GET: tasks.get }],
    ['/v1/management/tasks/:id/cancel', { POST: tasks.cancel }],
    ['/v1/management/batches', { GET: batches.list }],
    ['/v1/management/batches/:id', { GET: batches.get }],
    ['/v1/management/batches/:id/results', { GET: batches.results }],
    ['/v1/management/batches/:id/cancel', { POST: batches.cancel }],
    ['/v1/management/webhook-deliveries', { GET: deliveries.list }],
    ['/v1/management/webhook-deliveries/:id/redeliver', { POST: deliveries.redeliver }],
  ];
}

/** The routes that copy calls for a while, and show the copies. */
function debugRoutes(app: ManagementRouteDeps): PathMethods[] {
  const debug = new DebugWindowRoutes(app);
  return [
    ['/v1/management/debug-windows', { GET: debug.list, POST: debug.open }],
    ['/v1/management/debug-windows/:id', { GET: debug.get }],
    ['/v1/management/debug-windows/:id/close', { POST: debug.close }],
    ['/v1/management/debug-events', { GET: debug.listEvents }],
    ['/v1/management/requests/:id/debug', { GET: debug.readCopy }],
  ];
}

/** The routes of the management tokens of an organization, and of the operator tokens. */
function tokenRoutes(app: ManagementRouteDeps): PathMethods[] {
  const managed = new TokenRoutes(app, {
    ...{ prefix: 'mt', object: 'management_token', scopes: SCOPES },
    async admit(context) {
      const { organization_id: owner, actor, rights } = await admitManager(app, context);
      return { owner, actor, mayGrant: (scopes) => mayGrant(rights, scopes) };
    },
  });
  const operated = new TokenRoutes(app, {
    ...{ prefix: 'op', object: 'operator_token', scopes: ['read', 'admin'] },
    async admit(context) {
      const { actor } = await app.authentication.requireOperator(context);
      // Only the scope `admin` may change anything here, and it has all rights.
      return { owner: null, actor, mayGrant: () => true };
    },
  });
  // An organization without a valid token and without people gets a new token from an operator.
  const lent = new TokenRoutes(app, {
    ...{ prefix: 'mt', object: 'management_token', scopes: SCOPES },
    async admit(context) {
      const { actor } = await app.authentication.requireOperator(context);
      const owner = context.params['id'] ?? '';
      const hasNul = owner.includes('\u0000');
      const found = hasNul ? undefined : await findOrganizationStatus(app.sql, owner);
      if (!found) {
        throw new WeirError('not_found', 'There is no such organization.', { param: 'id' });
      }
      return { owner, actor, mayGrant: () => true };
    },
  });
  const under = (path: string, routes: TokenRoutes): PathMethods[] => [
    [path, { GET: routes.list, POST: routes.create }],
    [`${path}/:id`, { GET: routes.get, PATCH: routes.update }],
    [`${path}/:id/rotate`, { POST: routes.rotate }],
    [`${path}/:id/revoke`, { POST: routes.revoke }],
  ];
  return [
    ...under('/v1/management/tokens', managed),
    ...under('/v1/operator/tokens', operated),
    ['/v1/operator/organizations/:id/tokens', { GET: lent.list, POST: lent.create }],
  ];
}

/** The routes of saved views of pages. */
function viewRoutes(app: ManagementRouteDeps): PathMethods[] {
  const views = new SavedViews(app);
  return [
    ['/v1/management/views', { GET: views.list, POST: views.create }],
    ['/v1/management/views/:id', { PATCH: views.update, DELETE: views.delete }],
  ];
}

/** The logs of every change: that of the caller's organization, and that of the installation. */
function auditLogs(app: ManagementRouteDeps): PathMethods[] {
  const own = auditRoutes({
    sql: () => app.sql,
    admit: async (context) => (await admitManager(app, context)).organization_id,
  });
  const all = auditRoutes({
    sql: () => app.sql,
    admit: async (context) => {
      await app.authentication.requireOperator(context);
      return null;
    },
  });
  const under = (path: string, routes: typeof own): PathMethods[] => [
    [path, { GET: routes.list }],
    [`${path}/export`, { GET: routes.export }],
    [`${path}/check`, { GET: routes.check }],
  ];
  return [...under('/v1/management/audit-log', own), ...under('/v1/operator/audit-log', all)];
}
