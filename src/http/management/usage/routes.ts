import type { Handler } from '../../endpoint.ts';
import { getBillingOfKey, getOrganizationBilling } from './billing.ts';
import { getRequest, listRequests } from './calls.ts';
import { listOrganizationUsage, listUsageOfKey, type UsageDeps } from './lines.ts';

/** The routes of usage and billing, with their handlers. */
export function usageRoutes(deps: UsageDeps): [path: string, methods: { GET: Handler }][] {
  return [
    ['/v1/management/api-keys/:keyId/usage', { GET: listUsageOfKey(deps) }],
    ['/v1/management/api-keys/:keyId/billing', { GET: getBillingOfKey(deps) }],
    ['/v1/management/usage', { GET: listOrganizationUsage(deps) }],
    ['/v1/management/billing', { GET: getOrganizationBilling(deps) }],
    ['/v1/management/requests', { GET: listRequests(deps) }],
    ['/v1/management/requests/:id', { GET: getRequest(deps) }],
  ];
}
