import type { Sql } from 'postgres';
import { type Delivery, listDeliveries } from '../../../db/webhooks/deliveries.ts';
import type { WebhookSecrets } from '../../actors/webhooks/secrets.ts';
import { WeirError } from '../../errors/weir-error.ts';
import { type Handler, json } from '../endpoint.ts';
import { type ManagementDeps, manager } from './keys.ts';

export interface WebhookRouteDeps {
  webhooks?: { readonly sql: Sql; readonly secrets: WebhookSecrets };
}

type Deps = ManagementDeps & WebhookRouteDeps;

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 100;
const MAX_PAGE = 10_000;

/** `GET /v1/management/webhook-secret`: what this organization's webhooks are signed with. */
export function getWebhookSecret(deps: Deps): Handler {
  return async (context) => {
    const { organization_id } = await manager(deps, context);
    const secret = await webhooksOf(deps).secrets.of(organization_id);
    return json({ object: 'webhook_secret', secret });
  };
}

/** `POST /v1/management/webhook-secret/rotate`: a new one, in force at once. */
export function rotateWebhookSecret(deps: Deps): Handler {
  return async (context) => {
    const { organization_id } = await manager(deps, context);
    const secret = await webhooksOf(deps).secrets.rotate(organization_id);
    return json({ object: 'webhook_secret', secret });
  };
}

/** `GET /v1/management/webhook-deliveries?page=&limit=`: the newest first. */
export function listWebhookDeliveries(deps: Deps): Handler {
  return async (context) => {
    const { organization_id } = await manager(deps, context);
    const { searchParams } = new URL(context.request.url);
    const page = readInteger(searchParams, 'page', 1, MAX_PAGE);
    const limit = readInteger(searchParams, 'limit', DEFAULT_LIMIT, MAX_LIMIT);
    const { sql } = webhooksOf(deps);
    const found = await listDeliveries(sql, organization_id, {
      limit: limit + 1,
      offset: (page - 1) * limit,
    });
    const data = found.slice(0, limit).map(record);
    return json({ object: 'list', data, page, limit, has_more: found.length > limit });
  };
}

function record({ task_id, url, status, attempts, last_status, ...delivery }: Delivery): object {
  return {
    id: `msg_${task_id}`,
    task_id,
    url,
    status,
    attempts,
    last_status,
    created_at: delivery.created_at.toISOString(),
    ended_at: delivery.ended_at?.toISOString() ?? null,
  };
}

function readInteger(params: URLSearchParams, name: string, usual: number, most: number): number {
  const value = params.get(name) ?? String(usual);
  const number = Number(value);
  if (/^\d{1,6}$/.test(value) && number >= 1 && number <= most) return number;
  throw new WeirError('invalid_request', `${name} must be a whole number from 1 to ${most}.`, {
    param: name,
  });
}

function webhooksOf({ webhooks }: Deps) {
  if (!webhooks) throw new WeirError('service_unavailable', 'There are no webhooks here.');
  return webhooks;
}
