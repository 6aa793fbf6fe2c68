import { type Static, type TSchema, Type } from '@sinclair/typebox';
import type { AlertDeliveryRow } from '../../../db/alerts/deliveries.ts';
import type { EndpointRow } from '../../../db/alerts/endpoints.ts';
import type { AlertSettings } from '../../../db/alerts/settings.ts';
import type { DeliveryAttempt } from '../../../db/webhooks/list.ts';
import { AlertRecordSchema } from '../../actors/alerts/record.ts';
import { usd } from '../../json/usd.ts';
import { DELIVERY_STATES } from '../management/delivery-record.ts';
import { listSchema } from '../management/list-query.ts';

const Nullable = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);
const closed = { additionalProperties: false };
/** An RFC 3339 datetime in UTC. */
const Time = Type.String();

/** An endpoint in the routes. */
export const EndpointRecordSchema = Type.Object(
  {
    object: Type.Literal('alert_endpoint'),
    id: Type.String(),
    name: Type.String(),
    type: Type.Union([Type.Literal('webhook'), Type.Literal('mail')]),
    url: Nullable(Type.String()),
    email: Nullable(Type.String()),
    kinds: Type.Array(Type.String()),
    enabled: Type.Boolean(),
    created_at: Time,
    /** `whsec_…`, only in the answer of a creation or rotation. */
    secret: Type.Optional(Type.String()),
  },
  closed,
);

/** What a client can change of an endpoint. */
export function endpointSettings({ name, medium, target, kinds, enabled }: EndpointRow) {
  const isMail = medium === 'mail';
  return { name, url: isMail ? null : target, email: isMail ? target : null, kinds, enabled };
}

/** Returns an endpoint as clients see it. */
export function endpointRecord(row: EndpointRow): Static<typeof EndpointRecordSchema> {
  const { name, url, email, kinds, enabled } = endpointSettings(row);
  return {
    ...{ object: 'alert_endpoint', id: row.id, name, type: row.medium, url, email },
    ...{ kinds: [...kinds], enabled, created_at: row.created_at.toISOString() },
  };
}

/** A delivery in the routes. */
export const AlertDeliveryRecordSchema = Type.Object(
  {
    object: Type.Literal('alert_delivery'),
    /** The header `webhook-id` of each attempt, and the start of a mail’s `Message-ID`. */
    id: Type.String(),
    alert_id: Type.String(),
    kind: Type.String(),
    endpoint_id: Type.String(),
    status: Type.Union(DELIVERY_STATES.map((state) => Type.Literal(state))),
    /** The number of all attempts. */
    attempts: Type.Integer(),
    /** The HTTP or SMTP status of the last attempt; 0 = no response came. */
    last_status: Nullable(Type.Integer()),
    redeliveries: Type.Integer(),
    created_at: Time,
    ended_at: Nullable(Time),
    next_attempt_at: Nullable(Time),
    /** The latest attempts, the oldest first. */
    attempt_log: Type.Array(
      Type.Object({ at: Time, status: Type.Integer(), reason: Nullable(Type.String()) }, closed),
    ),
  },
  closed,
);

/** Returns a delivery as clients see it. */
export function alertDeliveryRecord(
  row: AlertDeliveryRow,
  attempts: readonly DeliveryAttempt[] = [],
): Static<typeof AlertDeliveryRecordSchema> {
  const { id, alert_id, alert_kind: kind, endpoint_id, status, last_status, redeliveries } = row;
  return {
    ...{ object: 'alert_delivery', id, alert_id, kind, endpoint_id, status },
    ...{ attempts: row.attempts, last_status, redeliveries },
    created_at: row.created_at.toISOString(),
    ended_at: row.ended_at?.toISOString() ?? null,
    next_attempt_at: row.next_attempt_at?.toISOString() ?? null,
    attempt_log: attempts.map(({ at, status, reason }) => ({
      ...{ at: at.toISOString(), status, reason },
    })),
  };
}

/** Returns the settings of an organization as clients see them. */
export const alertSettingsView = ({ low_balance_nano_usd, ...settings }: AlertSettings) => ({
  low_balance_usd: low_balance_nano_usd === null ? null : usd(low_balance_nano_usd),
  ...settings,
});

export const EndpointListSchema = listSchema(EndpointRecordSchema);
export const AlertListSchema = listSchema(AlertRecordSchema);
export const AlertDeliveryListSchema = listSchema(AlertDeliveryRecordSchema);
