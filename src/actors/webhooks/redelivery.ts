import type { Sql } from 'postgres';
import { deliveryActor } from '../../../db/actors/delivery-actor.ts';
import { beginRedelivery, findListedDelivery } from '../../../db/webhooks/list.ts';
import type { WebhookEvent } from '../../machines/webhook.ts';
import type { ActorCommand, CommandResult } from '../durable/command.ts';
import { WEBHOOK_KIND } from './kind.ts';

/** The most times that one webhook can be sent again by request. */
export const MAX_REDELIVERIES = 20;

/** What a request to send a webhook again did. */
export type Redelivery =
  /** An attempt begins now. */
  | 'begun'
  /** An attempt is running already, so there is nothing to begin. */
  | 'running'
  /** The webhook was sent again `MAX_REDELIVERIES` times. */
  | 'exhausted'
  /** The organization has no such webhook (P6). */
  | 'not_found'
  /** This replica may not write now. */
  | 'unavailable';

/** Another request began the redelivery first. Nothing of this request is committed. */
class LostRaceError extends Error {
  override readonly name = 'LostRaceError';
}

/** Dependencies of `Redeliveries`. */
export interface RedeliveriesDeps {
  readonly sql: Sql;
  readonly send: (command: ActorCommand) => Promise<CommandResult>;
}

/** Sends webhooks again by request of their organizations. */
export class Redeliveries {
  constructor(private readonly deps: RedeliveriesDeps) {}

  /**
   * Sends a webhook again. If the webhook waits for its next attempt, this attempt begins now. If it
   * has ended, it gets new attempts, with the same `webhook-id`, by an actor of its own.
   */
  async begin(task_id: string, organization_id: string): Promise<Redelivery> {
    const delivery = await findListedDelivery(this.deps.sql, organization_id, task_id);
    if (!delivery) return 'not_found';
    const { status, redeliveries } = delivery;
    if (status !== 'pending') return this.deliverAgain(task_id, organization_id, redeliveries + 1);
    const result = await this.deps.send({
      kind: WEBHOOK_KIND,
      id: deliveryActor(task_id, redeliveries),
      event: { type: 'RETRY' } satisfies WebhookEvent,
    });
    if (result.type !== 'committed') return 'unavailable';
    return result.taken ? 'begun' : 'running';
  }

  private async deliverAgain(
    task_id: string,
    organization_id: string,
    number: number,
  ): Promise<Redelivery> {
    if (number > MAX_REDELIVERIES) return 'exhausted';
    const command: ActorCommand = {
      kind: WEBHOOK_KIND,
      id: deliveryActor(task_id, number),
      event: { type: 'ANNOUNCED' } satisfies WebhookEvent,
      create: true,
      organization_id,
      async inTransaction(tx) {
        if (!(await beginRedelivery(tx, organization_id, task_id, number))) {
          throw new LostRaceError('another request sends the webhook');
        }
      },
    };
    try {
      const result = await this.deps.send(command);
      return result.type === 'committed' ? 'begun' : 'unavailable';
    } catch (error) {
      if (error instanceof LostRaceError) return 'running';
      throw error;
    }
  }
}
