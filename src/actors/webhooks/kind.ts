import type { Sql } from 'postgres';
import { Webhook } from 'standardwebhooks';
import { taskOfDelivery } from '../../../db/actors/delivery-actor.ts';
import {
  type DeliveryStatus,
  findDelivery,
  writeDeliveries,
} from '../../../db/webhooks/deliveries.ts';
import type { WebhookContext, WebhookEvent } from '../../machines/webhook.ts';
import { versionedWebhook } from '../../replay/machines.ts';
import { ForbiddenAddressError } from '../../storage/checked-address.ts';
import type { GuardedFetchOptions } from '../../storage/guarded-fetch.ts';
import type { DurableKind } from '../durable/kind.ts';

export const WEBHOOK_KIND = 'webhook';
/**
 * How long an attempt waits for a response (Standard Webhooks: 15 to 30 s). If no response comes in
 * this time, another attempt follows.
 */
const RECEIVER_TIMEOUT_MS = 15_000;
const MAX_ANSWER_BYTES = 64 * 1024;
const EFFECT_TIMEOUT_MS = 60_000;
const MAX_ATTEMPTS = 5;
/** The HTTP status with which a receiver refuses all further attempts. */
const GONE = 410;

export interface WebhookDeps {
  readonly sql: Sql;
  /** Returns the secret of an organization, `whsec_…`. */
  readonly secretOf: (organization_id: string) => Promise<string>;
  /** Returns the body of a webhook: the public record of the task, as JSON. */
  readonly payloadOf: (task_id: string, organization_id: string) => Promise<string | undefined>;
  readonly fetch: (
    url: string,
    options: GuardedFetchOptions,
  ) => Promise<{ status: number; stream: ReadableStream }>;
  /**
   * Hosts (`host:port`) that may receive webhooks although their addresses are internal. The
   * operator lists them in WEIR_WEBHOOK_ALLOW_HOSTS; default: none.
   */
  readonly allow_hosts?: ReadonlySet<string>;
  readonly now: () => number;
}

/**
 * Returns the durable actor kind of webhooks. Each attempt is an effect; each pause between
 * attempts is a timer.
 */
export function webhookKind(deps: WebhookDeps): DurableKind {
  return {
    kind: WEBHOOK_KIND,
    ...versionedWebhook,
    effects: { deliver: (_, { actor_id, signal }) => deliver(deps, actor_id, signal) },
    effect_timeout_ms: EFFECT_TIMEOUT_MS,
    max_attempts: MAX_ATTEMPTS,
    eventOfDeadEffect: () => refused('unsent', 0, false),
    project: (tx, changes) =>
      writeDeliveries(
        tx,
        changes.map(({ id, to_state, snapshot }) => ({
          task_id: taskOfDelivery(id),
          status: statusOf(to_state),
          ...(snapshot.context as WebhookContext),
        })),
      ),
  };
}

function statusOf(state: string): DeliveryStatus {
  return state === 'delivered' || state === 'failed' ? state : 'pending';
}

/**
 * Makes one attempt. It is signed with the present time (Standard Webhooks: webhook-id,
 * webhook-timestamp, webhook-signature).
 */
async function deliver(
  deps: WebhookDeps,
  actor_id: string,
  signal: AbortSignal,
): Promise<WebhookEvent> {
  const task_id = taskOfDelivery(actor_id);
  const delivery = await findDelivery(deps.sql, task_id);
  const body = delivery && (await deps.payloadOf(task_id, delivery.organization_id));
  if (!delivery || !body) return refused('task_missing', 0, true);
  const secret = await deps.secretOf(delivery.organization_id);
  const sentAt = new Date(deps.now());
  // The id is the same for every attempt, so that a receiver recognises a repeated attempt.
  const id = `msg_${task_id}`;
  try {
    const { status, stream } = await deps.fetch(delivery.url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'webhook-id': id,
        'webhook-timestamp': String(Math.floor(sentAt.getTime() / 1_000)),
        'webhook-signature': new Webhook(secret).sign(id, sentAt, body),
      },
      body,
      max_bytes: MAX_ANSWER_BYTES,
      timeout_ms: RECEIVER_TIMEOUT_MS,
      follow: false,
      signal,
      ...(deps.allow_hosts ? { allow_hosts: deps.allow_hosts } : {}),
    });
    await stream.cancel();
    const isAccepted = status >= 200 && status < 300;
    return isAccepted
      ? { type: 'DELIVERED', status }
      : refused(status === GONE ? 'gone' : 'http_status', status, status === GONE);
  } catch (error) {
    if (error instanceof ForbiddenAddressError) return refused('address_refused', 0, true);
    return refused(isTimeout(error) ? 'timeout' : 'no_connection', 0, false);
  }
}

/** Why an attempt failed. Organizations see it, so it names nothing inside of Weir. */
type RefusalReason =
  /** The receiver returned 410, so no further attempt follows. */
  | 'gone'
  | 'http_status'
  | 'timeout'
  | 'no_connection'
  /** The URL is not on the public internet. */
  | 'address_refused'
  /** The task of the webhook was deleted. */
  | 'task_missing'
  /** Weir could not make the attempt. */
  | 'unsent';

function refused(reason: RefusalReason, status: number, final: boolean): WebhookEvent {
  return { type: 'REFUSED', status, final, reason };
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && (error.name === 'TimeoutError' || error.name === 'AbortError');
}
