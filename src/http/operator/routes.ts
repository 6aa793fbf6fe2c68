import type { Authentication } from '../auth/authentication.ts';
import { notServedHere } from '../not-served.ts';
import type { PathMethods } from '../route.ts';
import { type ArrivalDeps, streamArrivals } from './arrivals.ts';
import { getBooks } from './books.ts';
import { checkChannel } from './channel-accounts.ts';
import { ChannelRowRoutes } from './channel-rows.ts';
import { OperatorChannels } from './channels.ts';
import { getCircuitHistory } from './circuit-history.ts';
import { ConfigurationChangeRoutes } from './configuration-changes.ts';
import { exportConfiguration } from './configuration-export.ts';
import { ConfiguredItemRoutes, ITEM_ROUTES } from './configured-items.ts';
import { DepositRoutes } from './deposits.ts';
import { type DryRunRouteDeps, postDryRun } from './dry-run.ts';
import type { OperatorParts } from './operator-parts.ts';
import type { OrganizationDeps } from './organization-change.ts';
import { OrganizationRoutes } from './organizations.ts';
import { importBill, reconcileUsage } from './reconciliation.ts';
import { listOperatorTasks } from './tasks.ts';

interface OperatorRouteDeps extends Omit<DryRunRouteDeps, 'operator'> {
  readonly authentication: Authentication;
  /**
   * The database, channels and prober of the operator routes. Missing if this process does not serve
   * these routes.
   */
  readonly operator?: OperatorParts;
  /** The calls of all replicas. Missing if nobody can listen to them. */
  readonly arrivals?: ArrivalDeps['arrivals'];
}

/** The routes of the operator interface. */
export function operatorRoutes(app: OperatorRouteDeps & OrganizationDeps): PathMethods[] {
  const { authentication, generation, arrivals = notServedHere } = app;
  const operator = () => app.operator ?? notServedHere();
  const deps = { authentication, operator, generation };
  const channels = new OperatorChannels(deps);
  const configuration = { ...deps, answers_key: app.answers_key };
  const rows = new ChannelRowRoutes(configuration);
  const changes = new ConfigurationChangeRoutes(configuration);
  const channel = '/v1/operator/channels/:id';
  return [
    ...organizationRoutes(app),
    ['/v1/operator/channels', { GET: channels.list, POST: rows.create }],
    ['/v1/operator/channels/check', { POST: checkChannel(deps) }],
    [channel, { GET: channels.get, PATCH: rows.update, DELETE: rows.remove }],
    [`${channel}/test`, { POST: channels.test }],
    [`${channel}/enable`, { POST: channels.enable }],
    [`${channel}/disable`, { POST: channels.disable }],
    [`${channel}/drain`, { POST: channels.drain }],
    [`${channel}/circuit-history`, { GET: getCircuitHistory(deps) }],
    ...ITEM_ROUTES.flatMap(({ kind, path }): PathMethods[] => {
      const items = new ConfiguredItemRoutes(configuration, kind);
      return [
        [path, { GET: items.list, ...(kind === 'model' ? { POST: items.create } : {}) }],
        [`${path}/:id`, { GET: items.get, PATCH: items.update, DELETE: items.remove }],
      ];
    }),
    ['/v1/operator/configuration/changes', { GET: changes.list }],
    ['/v1/operator/configuration/export', { GET: exportConfiguration(deps) }],
    ['/v1/operator/configuration/changes/:seq/take-back', { POST: changes.takeBack }],
    ['/v1/operator/arrivals', { GET: streamArrivals({ authentication, arrivals }) }],
    ['/v1/operator/books', { GET: getBooks(deps) }],
    ['/v1/operator/provider-bills', { POST: importBill(deps) }],
    ['/v1/operator/usage-reconciliation', { GET: reconcileUsage(deps) }],
    ['/v1/operator/tasks', { GET: listOperatorTasks(deps) }],
    ['/v1/operator/dry-run', { POST: postDryRun({ ...app, operator }) }],
  ];
}

/** The routes of organizations and their money. */
function organizationRoutes(app: OrganizationDeps): PathMethods[] {
  const organizations = new OrganizationRoutes(app);
  const deposits = new DepositRoutes(app);
  const organization = '/v1/operator/organizations/:id';
  return [
    ['/v1/operator/organizations', { GET: organizations.list, POST: organizations.create }],
    [organization, { GET: organizations.get, PATCH: organizations.update }],
    [`${organization}/suspend`, { POST: organizations.suspend }],
    [`${organization}/reactivate`, { POST: organizations.reactivate }],
    [`${organization}/close`, { POST: organizations.close }],
    [`${organization}/deposits`, { GET: deposits.list, POST: deposits.create }],
    [`${organization}/credit-line`, { PATCH: deposits.setCreditLine }],
  ];
}
