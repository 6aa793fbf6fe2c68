import type { Sql } from 'postgres';
import type { Redeliveries } from '../../actors/webhooks/redelivery.ts';
import type { WebhookSecrets } from '../../actors/webhooks/secrets.ts';
import { WeirError } from '../../errors/weir-error.ts';
import { type Handler, json } from '../endpoint.ts';
import { changeOnce } from './change-once.ts';
import { admitManager, type ManagementDeps } from './keys.ts';

/** Dependencies of the webhook routes. */
export interface WebhookRouteDeps {
  /** undefined if this process sends no webhooks. */
  webhooks?: {
    readonly sql: Sql;
    readonly secrets: WebhookSecrets;
    readonly redeliveries: Redeliveries;
  };
}

type Deps = ManagementDeps & WebhookRouteDeps;

/**
 * `GET /v1/management/webhook-secret`. Returns the secret that signs the organization's webhooks.
 */
export function getWebhookSecret(deps: Deps): Handler {
  return async (context) => {
    const { organization_id } = await admitManager(deps, context);
    const secret = await requireWebhooks(deps).secrets.getOrCreate(organization_id);
    const answer = json({ object: 'webhook_secret', secret });
    answer.headers.set('cache-control', 'no-store');
    return answer;
  };
}

/** `POST /v1/management/webhook-secret/rotate`. Replaces the secret at once. */
export function rotateWebhookSecret(deps: Deps): Handler {
  return async (context) => {
    const { organization_id, actor } = await admitManager(deps, context);
    const { secrets } = requireWebhooks(deps);
    const route = 'webhook_secret.rotate';
    const request = { organization_id, actor_id: actor.id, route, body: '' };
    return changeOnce(deps, context, request, async (tx) => {
      const secret = await secrets.rotate(tx, organization_id, actor);
      return json({ object: 'webhook_secret', secret });
    });
  };
}

/** Returns the parts of the webhook routes. Throws WeirError if this process sends no webhooks. */
export function requireWebhooks({ webhooks }: WebhookRouteDeps) {
  if (!webhooks) throw new WeirError('service_unavailable', 'This process sends no webhooks.');
  return webhooks;
}
