import type { Sql, TransactionSql } from 'postgres';
import { taskOfDelivery } from '../../../db/actors/delivery-actor.ts';
import {
  type DeliveryStatus,
  findDelivery,
  writeDeliveries,
} from '../../../db/webhooks/deliveries.ts';
import type { WebhookContext, WebhookEvent } from '../../machines/webhook.ts';
import { versionedWebhook } from '../../replay/machines.ts';
import type { DurableKind } from '../durable/kind.ts';
import { refused, sendSigned, type WebhookSenderDeps } from './attempt.ts';

export const WEBHOOK_KIND = 'webhook';
const EFFECT_TIMEOUT_MS = 60_000;
const MAX_ATTEMPTS = 5;

export interface WebhookDeps extends WebhookSenderDeps {
  readonly sql: Sql;
  /** Returns the secret of an organization, `whsec_…`. */
  readonly secretOf: (organization_id: string) => Promise<string>;
  /** Returns the body of a webhook: the public record of the task, as JSON. */
  readonly payloadOf: (task_id: string, organization_id: string) => Promise<string | undefined>;
  /** The deliveries that report no task. Without it, there are none. */
  readonly others?: OtherDeliveries;
}

/** Deliveries that report something else than the end of a task. */
export interface OtherDeliveries {
  /** True if the actor is one of them. */
  readonly owns: (actor_id: string) => boolean;
  /** Makes one attempt. Never throws for a fault of the receiver. */
  readonly deliver: (id: string, signal: AbortSignal) => Promise<WebhookEvent>;
  /** Writes the states of machines to the rows of their deliveries. */
  readonly write: (tx: TransactionSql, changes: readonly DeliveryState[]) => Promise<void>;
}

/** The state of one delivery. */
interface DeliveryState extends WebhookContext {
  readonly id: string;
  readonly status: DeliveryStatus;
}

/**
 * Returns the durable actor kind of webhooks. Each attempt is an effect; each pause between
 * attempts is a timer.
 */
export function webhookKind(deps: WebhookDeps): DurableKind {
  const { others } = deps;
  const isOther = (actor_id: string) => others?.owns(actor_id) ?? false;
  return {
    kind: WEBHOOK_KIND,
    ...versionedWebhook,
    effects: {
      deliver: (_, { actor_id, signal }) =>
        others?.owns(actor_id)
          ? others.deliver(taskOfDelivery(actor_id), signal)
          : deliver(deps, actor_id, signal),
    },
    effect_timeout_ms: EFFECT_TIMEOUT_MS,
    max_attempts: MAX_ATTEMPTS,
    eventOfDeadEffect: () => refused('unsent', 0, false),
    async project(tx, changes) {
      const states = changes.map(({ id, to_state, snapshot }) => ({
        id: taskOfDelivery(id),
        status: statusOf(to_state),
        ...(snapshot.context as WebhookContext),
      }));
      const ofTasks = states.filter(({ id }) => !isOther(id));
      await writeDeliveries(
        tx,
        ofTasks.map(({ id: task_id, ...state }) => ({ task_id, ...state })),
      );
      await others?.write(
        tx,
        states.filter(({ id }) => isOther(id)),
      );
    },
  };
}

function statusOf(state: string): DeliveryStatus {
  return state === 'delivered' || state === 'failed' ? state : 'pending';
}

/** Makes one attempt to report the end of a task. */
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
  const { url } = delivery;
  return sendSigned(deps, { id: `msg_${task_id}`, url, body, secret }, signal);
}
