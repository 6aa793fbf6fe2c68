import type { TransactionSql } from 'postgres';
import { deliveryActor } from '../../../db/actors/delivery-actor.ts';
import type { DeliveryStatus } from '../../../db/webhooks/deliveries.ts';
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
  /** The owner has no such webhook (P6). */
  | 'not_found'
  /** This replica may not write now. */
  | 'unavailable';

/** Another request began the redelivery first. Nothing of this request is committed. */
class LostRaceError extends Error {
  override readonly name = 'LostRaceError';
}

/** Dependencies of `Redeliveries`. */
export interface RedeliveriesDeps {
  /** Finds a webhook of an owner; undefined for that of another one (P6). */
  readonly find: (
    owner_id: string,
    id: string,
  ) => Promise<{ readonly status: DeliveryStatus; readonly redeliveries: number } | undefined>;
  /** Writes to the row of an ended webhook that this redelivery begins; false if another one began first. */
  readonly write: (
    tx: TransactionSql,
    owner_id: string,
    id: string,
    number: number,
  ) => Promise<boolean>;
  readonly send: (command: ActorCommand) => Promise<CommandResult>;
}

/** Sends webhooks again by request of their owners: an organization, or the operators (''). */
export class Redeliveries {
  constructor(private readonly deps: RedeliveriesDeps) {}

  /**
   * Sends a webhook again. If the webhook waits for its next attempt, this attempt begins now. If it
   * has ended, it gets new attempts, with the same `webhook-id`, by an actor of its own.
   */
  async begin(id: string, owner_id: string): Promise<Redelivery> {
    const delivery = await this.deps.find(owner_id, id);
    if (!delivery) return 'not_found';
    const { status, redeliveries } = delivery;
    if (status !== 'pending') return this.deliverAgain(id, owner_id, redeliveries + 1);
    const result = await this.deps.send({
      kind: WEBHOOK_KIND,
      id: deliveryActor(id, redeliveries),
      event: { type: 'RETRY' } satisfies WebhookEvent,
    });
    if (result.type !== 'committed') return 'unavailable';
    return result.taken ? 'begun' : 'running';
  }

  private async deliverAgain(id: string, owner_id: string, number: number): Promise<Redelivery> {
    if (number > MAX_REDELIVERIES) return 'exhausted';
    const { write } = this.deps;
    const command: ActorCommand = {
      kind: WEBHOOK_KIND,
      id: deliveryActor(id, number),
      event: { type: 'ANNOUNCED' } satisfies WebhookEvent,
      create: true,
      ...(owner_id === '' ? {} : { organization_id: owner_id }),
      async inTransaction(tx) {
        if (!(await write(tx, owner_id, id, number))) {
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
