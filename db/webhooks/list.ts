import type { Fragment, Sql, TransactionSql } from 'postgres';
import { deliveryActor, deliveryActorSql, taskOfDelivery } from '../actors/delivery-actor.ts';
import {
  type Page,
  type PageRequest,
  pageBounds,
  pageOf,
  pageOrder,
  positionOf,
  whereEqual,
} from '../pages.ts';
import type { Delivery, DeliveryStatus } from './deliveries.ts';

/** A webhook as the management routes show it. */
export interface DeliveryListRow extends Delivery {
  readonly redeliveries: number;
  /** When the next attempt is due; null = no attempt is planned. */
  readonly next_attempt_at: Date | null;
  /** The place in the list. */
  readonly at_us: number;
}

/** One attempt to deliver a webhook. */
export interface DeliveryAttempt {
  readonly task_id: string;
  /** When the outcome was recorded. */
  readonly at: Date;
  /** The HTTP status; 0 = the receiver sent no response. */
  readonly status: number;
  /** Why the attempt failed; null for a success, and for attempts that an earlier version made. */
  readonly reason: string | null;
}

/** The webhooks that a list has. A missing member means all. */
export interface DeliveryFilter {
  readonly state?: DeliveryStatus | undefined;
  readonly task_id?: string | undefined;
}

const SORT = { at: 'created_at', id: 'task_id' };
/** The latest attempts of one webhook that a list shows. */
const MAX_SHOWN_ATTEMPTS = 50;

/** Returns a page of the webhooks of an organization, the newest first. */
export async function listDeliveries(
  sql: Sql,
  organization_id: string,
  { state, task_id }: DeliveryFilter,
  page: PageRequest,
): Promise<Page<DeliveryListRow>> {
  const rows = await select(
    sql,
    sql`where organization_id = ${organization_id} ${whereEqual(sql, 'status', state)}
      ${whereEqual(sql, 'task_id', task_id)} ${pageBounds(sql, page, SORT)}
      ${pageOrder(sql, page, SORT)}`,
    sql`order by created_at desc, task_id desc`,
  );
  return pageOf(rows, page);
}

/** Finds a webhook of an organization; undefined for a webhook of another one (P6). */
export async function findListedDelivery(
  sql: Sql,
  organization_id: string,
  task_id: string,
): Promise<DeliveryListRow | undefined> {
  const [row] = await select(
    sql,
    sql`where organization_id = ${organization_id} and task_id = ${task_id}`,
    sql``,
  );
  return row;
}

function select(sql: Sql, rows: Fragment, order: Fragment): Promise<DeliveryListRow[]> {
  return sql<DeliveryListRow[]>`
    with delivery as (select * from webhook_delivery ${rows})
    select task_id, organization_id, url, status, attempts, last_status, created_at, ended_at,
      redeliveries, case when status = 'pending' then timer.fire_at end as next_attempt_at,
      ${positionOf(sql, 'created_at')} as at_us
    from delivery left join timer on timer.kind = 'webhook' and timer.name = 'retry'
      and timer.actor_id = ${deliveryActorSql(sql)}
    ${order}`;
}

/**
 * Returns the attempts of webhooks, by task, the oldest first. If a webhook has many, returns the
 * latest. The caller must have checked whose webhooks they are (P6).
 */
export async function readAttempts(
  sql: Sql,
  deliveries: readonly Pick<DeliveryListRow, 'task_id' | 'redeliveries'>[],
): Promise<Map<string, DeliveryAttempt[]>> {
  const actor_ids = deliveries.flatMap(({ task_id, redeliveries }) =>
    Array.from({ length: redeliveries + 1 }, (_, number) => deliveryActor(task_id, number)),
  );
  const rows = await sql<(Omit<DeliveryAttempt, 'task_id'> & { actor_id: string })[]>`
    select actor_id, at, (event ->> 'status')::int4 as status, event ->> 'reason' as reason
    from actor_event
    where kind = 'webhook' and actor_id = any(${actor_ids}::text[])
      and event ->> 'type' in ('DELIVERED', 'REFUSED') and taken
    order by at, seq`;
  const attempts = rows.map(({ actor_id, ...row }) => ({
    ...row,
    task_id: taskOfDelivery(actor_id),
  }));
  const byTask = Map.groupBy(attempts, ({ task_id }) => task_id);
  return new Map([...byTask].map(([id, all]) => [id, all.slice(-MAX_SHOWN_ATTEMPTS)]));
}

/**
 * Begins redelivery number `number` of an ended webhook of an organization. Returns false if the
 * webhook is not such a one, or if another request began this redelivery first.
 */
export async function beginRedelivery(
  tx: TransactionSql,
  organization_id: string,
  task_id: string,
  number: number,
): Promise<boolean> {
  const { count } = await tx`
    update webhook_delivery set status = 'pending', redeliveries = ${number},
      earlier_attempts = attempts, ended_at = null
    where task_id = ${task_id} and organization_id = ${organization_id}
      and redeliveries = ${number - 1} and status <> 'pending'`;
  return count > 0;
}
