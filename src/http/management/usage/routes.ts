import type { Handler } from '../../endpoint.ts';
import { getBillingOfKey, getOrganizationBilling } from './billing.ts';
import { getRequest, listRequests } from './calls.ts';
import { streamUsageEvents } from './events.ts';
import { queryUsage } from './explore.ts';
import { queryUsageSeveral } from './explore-several.ts';
import { exportUsage } from './export.ts';
import { listOrganizationUsage, listUsageOfKey, type UsageDeps } from './lines.ts';
import { listAllRunningCalls, listRunningCalls } from './running.ts';
import { getStatement } from './statement.ts';

/** The routes of usage and billing, with their handlers. */
export function usageRoutes(deps: UsageDeps): [path: string, methods: { GET: Handler }][] {
  return [
    ['/v1/management/api-keys/:keyId/usage', { GET: listUsageOfKey(deps) }],
    ['/v1/management/api-keys/:keyId/billing', { GET: getBillingOfKey(deps) }],
    ['/v1/management/usage/query', { GET: queryUsage(deps) }],
    ['/v1/management/usage/queries', { GET: queryUsageSeveral(deps) }],
    ['/v1/management/usage/export', { GET: exportUsage(deps) }],
    ['/v1/management/statements/:month', { GET: getStatement(deps) }],
    ['/v1/management/usage', { GET: listOrganizationUsage(deps) }],
    ['/v1/management/billing', { GET: getOrganizationBilling(deps) }],
    ['/v1/management/events', { GET: streamUsageEvents(deps) }],
    ['/v1/management/calls', { GET: listRunningCalls(deps) }],
    ['/v1/operator/calls', { GET: listAllRunningCalls(deps) }],
    ['/v1/management/requests', { GET: listRequests(deps) }],
    ['/v1/management/requests/:id', { GET: getRequest(deps) }],
  ];
}
