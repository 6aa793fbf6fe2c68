import { type Static, type TSchema, Type } from '@sinclair/typebox';
import type { DeliveryAttempt, DeliveryListRow } from '../../../db/webhooks/list.ts';

const Nullable = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);
const closed = { additionalProperties: false };
/** An RFC 3339 datetime in UTC. */
const Time = Type.String();
export const DELIVERY_STATES = ['pending', 'delivered', 'failed'] as const;

/** A webhook in the management routes. */
export const DeliveryRecordSchema = Type.Object(
  {
    object: Type.Literal('webhook_delivery'),
    /** The header `webhook-id` of each attempt. */
    id: Type.String(),
    task_id: Type.String(),
    url: Type.String(),
    status: Type.Union(DELIVERY_STATES.map((state) => Type.Literal(state))),
    /** The number of all attempts. */
    attempts: Type.Integer(),
    last_status: Nullable(Type.Integer()),
    /** How often the organization requested to send the webhook again. */
    redeliveries: Type.Integer(),
    created_at: Time,
    ended_at: Nullable(Time),
    next_attempt_at: Nullable(Time),
    /** The latest attempts, the oldest first. `status` 0 means that no response came. */
    attempt_log: Type.Array(
      Type.Object({ at: Time, status: Type.Integer(), reason: Nullable(Type.String()) }, closed),
    ),
  },
  closed,
);
export type DeliveryRecord = Static<typeof DeliveryRecordSchema>;

/** Returns a webhook as clients see it. */
export function deliveryRecord(
  row: DeliveryListRow,
  attempts: readonly DeliveryAttempt[] = [],
): DeliveryRecord {
  return {
    object: 'webhook_delivery',
    id: `msg_${row.task_id}`,
    task_id: row.task_id,
    url: row.url,
    status: row.status,
    attempts: row.attempts,
    last_status: row.last_status,
    redeliveries: row.redeliveries,
    created_at: row.created_at.toISOString(),
    ended_at: row.ended_at?.toISOString() ?? null,
    next_attempt_at: row.next_attempt_at?.toISOString() ?? null,
    attempt_log: attempts.map(({ at, status, reason }) => ({
      at: at.toISOString(),
      status,
      reason,
    })),
  };
}
