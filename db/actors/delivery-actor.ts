import type { Fragment, Sql } from 'postgres';

/** Separates the task's id from the number of the redelivery. No task id has this character. */
const SEPARATOR = '~';

/**
 * Returns the id of the actor that delivers a task's webhook. The first actor has the task's id. If
 * the organization requests to send the webhook again, another actor does so, because the earlier
 * one has ended.
 */
export function deliveryActor(task_id: string, redeliveries: number): string {
  return redeliveries === 0 ? task_id : `${task_id}${SEPARATOR}${redeliveries}`;
}

/** Returns the task of an actor that delivers webhooks. */
export function taskOfDelivery(actor_id: string): string {
  const [task_id = ''] = actor_id.split(SEPARATOR);
  return task_id;
}

/** The SQL expression of `deliveryActor` for a row `delivery` of `webhook_delivery`. */
export const deliveryActorSql = (sql: Sql): Fragment =>
  sql`delivery.task_id || case when delivery.redeliveries = 0 then ''
    else ${SEPARATOR} || delivery.redeliveries end`;
