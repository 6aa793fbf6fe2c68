import { type Static, type TSchema, Type } from '@sinclair/typebox';
import type { DeliveryAttempt, DeliveryListRow } from '../../../db/webhooks/list.ts';

const Nullable = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);
const closed = { additionalProperties: false };
/** An RFC 3339 datetime in UTC. */
const Time = Type.String();
export const DELIVERY_STATES = ['pending', 'delivered', 'failed'] as const;

type DeliveryState = Pick<
  DeliveryListRow,
  | 'status'
  | 'attempts'
  | 'last_status'
  | 'redeliveries'
  | 'created_at'
  | 'ended_at'
  | 'next_attempt_at'
>;

/** How far the delivery of a webhook or a mail is. */
export const DELIVERY_PROGRESS = {
  status: Type.Union(DELIVERY_STATES.map((state) => Type.Literal(state))),
  /** The number of all attempts. */
  attempts: Type.Integer(),
  /** The HTTP or SMTP status of the last attempt; 0 = no response came. */
  last_status: Nullable(Type.Integer()),
  /** How often somebody requested to send it again. */
  redeliveries: Type.Integer(),
  created_at: Time,
  ended_at: Nullable(Time),
  next_attempt_at: Nullable(Time),
  /** The latest attempts, the oldest first. `status` 0 means that no response came. */
  attempt_log: Type.Array(
    Type.Object({ at: Time, status: Type.Integer(), reason: Nullable(Type.String()) }, closed),
  ),
};

/** A webhook in the management routes. */
export const DeliveryRecordSchema = Type.Object(
  {
    object: Type.Literal('webhook_delivery'),
    /** The header `webhook-id` of each attempt. */
    id: Type.String(),
    task_id: Type.String(),
    url: Type.String(),
    ...DELIVERY_PROGRESS,
  },
  closed,
);
export type DeliveryRecord = Static<typeof DeliveryRecordSchema>;

/** Returns a webhook as clients see it. */
export function deliveryRecord(
  row: DeliveryListRow,
  attempts: readonly DeliveryAttempt[] = [],
): DeliveryRecord {
  const { task_id, url } = row;
  return {
    ...{ object: 'webhook_delivery', id: `msg_${task_id}`, task_id, url },
    ...deliveryProgress(row, attempts),
  };
}

/** Returns how far a delivery is, as clients see it. */
export function deliveryProgress(
  { status, attempts, last_status, redeliveries, ...times }: DeliveryState,
  log: readonly DeliveryAttempt[],
) {
  return {
    ...{ status, attempts, last_status, redeliveries },
    created_at: times.created_at.toISOString(),
    ended_at: times.ended_at?.toISOString() ?? null,
    next_attempt_at: times.next_attempt_at?.toISOString() ?? null,
    attempt_log: log.map(({ at, status, reason }) => ({ at: at.toISOString(), status, reason })),
  };
}
