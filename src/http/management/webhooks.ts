import type { Sql } from 'postgres';
import { type Delivery, listDeliveries } from '../../../db/webhooks/deliveries.ts';
import type { WebhookSecrets } from '../../actors/webhooks/secrets.ts';
import { WeirError } from '../../errors/weir-error.ts';
import { type Handler, json } from '../endpoint.ts';
import { admitManager, type ManagementDeps } from './keys.ts';

/** Dependencies of the webhook routes. */
export interface WebhookRouteDeps {
  /** undefined if this process sends no webhooks. */
  webhooks?: { readonly sql: Sql; readonly secrets: WebhookSecrets };
}

type Deps = ManagementDeps & WebhookRouteDeps;

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 100;
const MAX_PAGE = 10_000;

/**
 * `GET /v1/management/webhook-secret`. Returns the secret that signs the organization's webhooks.
 */
export function getWebhookSecret(deps: Deps): Handler {
  return async (context) => {
    const { organization_id } = await admitManager(deps, context);
    const secret = await requireWebhooks(deps).secrets.getOrCreate(organization_id);
    return json({ object: 'webhook_secret', secret });
  };
}

/** `POST /v1/management/webhook-secret/rotate`. Replaces the secret at once. */
export function rotateWebhookSecret(deps: Deps): Handler {
  return async (context) => {
    const { organization_id } = await admitManager(deps, context);
    const secret = await requireWebhooks(deps).secrets.rotate(organization_id);
    return json({ object: 'webhook_secret', secret });
  };
}

/** `GET /v1/management/webhook-deliveries?page=&limit=`. Lists the newest deliveries first. */
export function listWebhookDeliveries(deps: Deps): Handler {
  return async (context) => {
    const { organization_id } = await admitManager(deps, context);
    const { searchParams } = new URL(context.request.url);
    const page = readInteger(searchParams, 'page', 1, MAX_PAGE);
    const limit = readInteger(searchParams, 'limit', DEFAULT_LIMIT, MAX_LIMIT);
    const { sql } = requireWebhooks(deps);
    const found = await listDeliveries(sql, organization_id, {
      limit: limit + 1,
      offset: (page - 1) * limit,
    });
    const data = found.slice(0, limit).map(deliveryRecord);
    return json({ object: 'list', data, page, limit, has_more: found.length > limit });
  };
}

function deliveryRecord({
  task_id,
  url,
  status,
  attempts,
  last_status,
  ...delivery
}: Delivery): object {
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

function readInteger(params: URLSearchParams, name: string, fallback: number, max: number): number {
  const value = params.get(name) ?? String(fallback);
  const number = Number(value);
  if (/^\d{1,6}$/.test(value) && number >= 1 && number <= max) return number;
  throw new WeirError('invalid_request', `${name} must be a whole number from 1 to ${max}.`, {
    param: name,
  });
}

function requireWebhooks({ webhooks }: Deps) {
  if (!webhooks) throw new WeirError('service_unavailable', 'This process sends no webhooks.');
  return webhooks;
}
