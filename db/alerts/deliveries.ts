import type { Fragment, Sql, TransactionSql } from 'postgres';
import { deliveryActorSql } from '../actors/delivery-actor.ts';
import {
  type Page,
  type PageRequest,
  pageBounds,
  pageOf,
  pageOrder,
  positionOf,
  whereEqual,
} from '../pages.ts';
import { newId } from '../secrets.ts';
import type { DeliveryStatus } from '../webhooks/deliveries.ts';
import type { AlertRow } from './alerts.ts';
import type { EndpointRow } from './endpoints.ts';
import { TEST_KIND } from './kinds.ts';

/** A delivery of an alert as the routes show it; `queued` is shown as `pending`. */
export interface AlertDeliveryRow {
  readonly id: string;
  readonly owner_id: string;
  readonly alert_id: string;
  readonly alert_kind: AlertRow['kind'];
  readonly endpoint_id: string;
  readonly status: DeliveryStatus;
  readonly attempts: number;
  readonly last_status: number | null;
  readonly redeliveries: number;
  readonly created_at: Date;
  readonly ended_at: Date | null;
  /** When the next attempt is due; null = no attempt is planned. */
  readonly next_attempt_at: Date | null;
  /** The place in the list. */
  readonly at_us: number;
}

/** What one attempt needs: the alert, and the endpoint as it is now. */
export interface AlertToSend {
  readonly alert: AlertRow;
  readonly endpoint: Pick<EndpointRow, 'id' | 'medium' | 'target' | 'sealed_secret'>;
  /** True if the endpoint was deleted after the alert. */
  readonly is_deleted: boolean;
}

const SORT = { at: 'created_at', id: 'id' };

/** Returns the alert and the endpoint of a delivery. */
export async function findAlertToSend(sql: Sql, id: string): Promise<AlertToSend | undefined> {
  const [row] = await sql<AlertToSend[]>`
    select jsonb_build_object('id', endpoint.id, 'medium', endpoint.medium,
        'target', endpoint.target, 'sealed_secret', endpoint.sealed_secret) as endpoint,
      endpoint.deleted_at is not null as is_deleted, to_jsonb(alert) as alert
    from alert_delivery as delivery
      join alert on alert.id = delivery.alert_id
      join alert_endpoint as endpoint on endpoint.id = delivery.endpoint_id
    where delivery.id = ${id}`;
  if (!row) return undefined;
  const created_at = new Date(row.alert.created_at);
  return { ...row, alert: { ...row.alert, created_at } };
}

/** The state of a webhook machine that `writeAlertDeliveries` writes. */
export interface AlertDeliveryChange {
  readonly id: string;
  readonly status: DeliveryStatus;
  /** The attempts of this machine. Those of earlier machines come in addition. */
  readonly attempts: number;
  readonly last_status: number | null;
}

/** Writes the states of webhook machines to the rows of their deliveries. */
export async function writeAlertDeliveries(
  tx: TransactionSql,
  changes: readonly AlertDeliveryChange[],
): Promise<void> {
  if (changes.length === 0) return;
  await tx`
    update alert_delivery set status = input.status, attempts = earlier_attempts + input.attempts,
      last_status = coalesce(input.last_status, alert_delivery.last_status),
      ended_at = case when input.status = 'pending' then null else weir_now() end
    from json_to_recordset(${JSON.stringify(changes)}::text::json) as input(
      id text, status text, attempts int, last_status int)
    where alert_delivery.id = input.id`;
}

/** Returns deliveries that have no actor yet, the oldest first. */
export function listQueued(
  sql: Sql,
  limit: number,
): Promise<{ readonly id: string; readonly owner_id: string }[]> {
  return sql<{ id: string; owner_id: string }[]>`
    select id, owner_id from alert_delivery where status = 'queued'
    order by created_at, id limit ${limit}`;
}

/** Inserts an alert that tests an endpoint, with its delivery. Returns the id of the delivery. */
export async function insertTest(
  tx: TransactionSql,
  { id: endpoint_id, owner_id, name }: EndpointRow,
): Promise<string> {
  const [id, alert_id] = [newId('msg'), newId('alert')];
  await tx`
    insert into alert (id, owner_id, kind, cause, subject_kind, subject_id, subject_name, figures)
    values (${alert_id}, ${owner_id}, ${TEST_KIND}, ${`${TEST_KIND}:${id}`}, 'endpoint',
      ${endpoint_id}, ${name}, '{}')`;
  await tx`
    insert into alert_delivery (id, alert_id, endpoint_id, owner_id)
    values (${id}, ${alert_id}, ${endpoint_id}, ${owner_id})`;
  return id;
}

/** Returns how many tests an owner sent in the last hour. */
export async function countTests(tx: TransactionSql, owner_id: string): Promise<number> {
  const [row] = await tx<{ tests: number }[]>`
    select count(*)::int4 as tests from alert
    where owner_id = ${owner_id} and kind = ${TEST_KIND}
      and created_at > weir_now() - interval '1 hour'`;
  return row?.tests ?? 0;
}

/** The deliveries that a list has. A missing member means all. */
export interface AlertDeliveryFilter {
  readonly state?: DeliveryStatus | undefined;
  readonly endpoint_id?: string | undefined;
  readonly alert_id?: string | undefined;
  readonly kind?: string | undefined;
}

/** Returns a page of the deliveries of an owner, the newest first. */
export async function listAlertDeliveries(
  sql: Sql,
  owner_id: string,
  { state, endpoint_id, alert_id, kind }: AlertDeliveryFilter,
  page: PageRequest,
): Promise<Page<AlertDeliveryRow>> {
  const ofState =
    state === 'pending'
      ? sql`and status in ('queued', 'pending')`
      : whereEqual(sql, 'status', state);
  const ofKind =
    kind === undefined
      ? sql``
      : sql`and exists (select 1 from alert
          where alert.id = alert_delivery.alert_id and alert.kind = ${kind})`;
  const rows = await select(
    sql,
    sql`where owner_id = ${owner_id} ${ofState} ${whereEqual(sql, 'endpoint_id', endpoint_id)}
      ${whereEqual(sql, 'alert_id', alert_id)} ${ofKind} ${pageBounds(sql, page, SORT)}
      ${pageOrder(sql, page, SORT)}`,
    sql`order by delivery.created_at desc, delivery.id desc`,
  );
  return pageOf(rows, page);
}

/** Finds a delivery of an owner; undefined for that of another one (P6). */
export async function findAlertDelivery(
  sql: Sql,
  owner_id: string,
  id: string,
): Promise<AlertDeliveryRow | undefined> {
  const [row] = await select(sql, sql`where owner_id = ${owner_id} and id = ${id}`, sql``);
  return row;
}

function select(sql: Sql, rows: Fragment, order: Fragment): Promise<AlertDeliveryRow[]> {
  return sql<AlertDeliveryRow[]>`
    with delivery as (select *, id as task_id from alert_delivery ${rows})
    select delivery.id, delivery.owner_id, alert_id, alert.kind as alert_kind, endpoint_id,
      case status when 'queued' then 'pending' else status end as status, attempts, last_status,
      redeliveries, delivery.created_at, delivery.ended_at,
      case when status = 'pending' then timer.fire_at end as next_attempt_at,
      ${positionOf(sql, 'delivery.created_at')} as at_us
    from delivery join alert on alert.id = delivery.alert_id
      left join timer on timer.kind = 'webhook' and timer.name = 'retry'
        and timer.actor_id = ${deliveryActorSql(sql)}
    ${order}`;
}

/**
 * Begins redelivery number `number` of an ended delivery of an owner. Returns false if the delivery is not such a one,
 * or if another request began this redelivery first.
 */
export async function beginAlertRedelivery(
  tx: TransactionSql,
  owner_id: string,
  id: string,
  number: number,
): Promise<boolean> {
  const { count } = await tx`
    update alert_delivery set status = 'pending', redeliveries = ${number},
      earlier_attempts = attempts, ended_at = null
    where id = ${id} and owner_id = ${owner_id} and redeliveries = ${number - 1}
      and status in ('delivered', 'failed')`;
  return count > 0;
}

/** The first letters of the id of an alert's delivery. The actor of a task's webhook has the id of the task. */
const ALERT_PREFIX = 'msg_';

/** True if a webhook actor delivers an alert. */
export const deliversAlert = (actor_id: string): boolean => actor_id.startsWith(ALERT_PREFIX);
