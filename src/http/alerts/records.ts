import { type Static, type TSchema, Type } from '@sinclair/typebox';
import type { AlertDeliveryRow } from '../../../db/alerts/deliveries.ts';
import type { EndpointRow } from '../../../db/alerts/endpoints.ts';
import type { AlertSettings } from '../../../db/alerts/settings.ts';
import type { DeliveryAttempt } from '../../../db/webhooks/list.ts';
import { AlertRecordSchema } from '../../actors/alerts/record.ts';
import { usd } from '../../json/usd.ts';
import { DELIVERY_PROGRESS, deliveryProgress } from '../management/delivery-record.ts';
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
    ...DELIVERY_PROGRESS,
  },
  closed,
);

/** Returns a delivery as clients see it. */
export function alertDeliveryRecord(
  row: AlertDeliveryRow,
  attempts: readonly DeliveryAttempt[] = [],
): Static<typeof AlertDeliveryRecordSchema> {
  const { id, alert_id, alert_kind: kind, endpoint_id } = row;
  return {
    ...{ object: 'alert_delivery', id, alert_id, kind, endpoint_id },
    ...deliveryProgress(row, attempts),
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
