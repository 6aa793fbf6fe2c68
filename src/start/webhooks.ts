import { beginRedelivery, findListedDelivery } from '../../db/webhooks/list.ts';
import { systemClock } from '../actors/clock.ts';
import type { ActorCommand, CommandResult } from '../actors/durable/command.ts';
import type { DurableKind } from '../actors/durable/kind.ts';
import { webhookKind } from '../actors/webhooks/kind.ts';
import { Redeliveries } from '../actors/webhooks/redelivery.ts';
import { WebhookSecrets } from '../actors/webhooks/secrets.ts';
import type { TaskPort } from '../inference/tasks/port.ts';
import { guardedFetch } from '../storage/guarded-fetch.ts';
import { type AlertSetup, openAlerts } from './alerts.ts';
import type { Generation } from './generation.ts';
import { webhookPayload } from './webhook-payload.ts';

/** Returns the durable kind that sends webhooks and alerts, and the secrets that sign webhooks of tasks. */
export function openWebhooks(
  setup: AlertSetup & { readonly generation: Generation },
  tasks: () => TaskPort,
): { readonly kind: DurableKind; readonly secrets: WebhookSecrets } {
  const { databases, generation } = setup;
  const { sql } = databases.background;
  const secrets = new WebhookSecrets(sql, generation.webhook_key);
  const kind = webhookKind({
    sql,
    secretOf: (organization_id) => secrets.getOrCreate(organization_id),
    payloadOf: (task_id, organization_id) =>
      webhookPayload(tasks(), generation.ports, task_id, organization_id),
    fetch: guardedFetch,
    allow_hosts: generation.webhook_hosts,
    now: systemClock.now,
    others: openAlerts(setup),
  });
  return { kind, secrets };
}

/** Returns what the routes of webhooks need. */
export function webhookParts(
  { databases }: AlertSetup,
  secrets: WebhookSecrets,
  send: (command: ActorCommand) => Promise<CommandResult>,
) {
  const { sql } = databases.requests;
  const redeliveries = new Redeliveries({
    find: (organization_id, id) => findListedDelivery(sql, organization_id, id),
    write: beginRedelivery,
    send,
  });
  return { sql, secrets, redeliveries };
}
