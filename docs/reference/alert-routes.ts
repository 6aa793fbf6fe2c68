import {
  AlertDeliveryListSchema,
  AlertListSchema,
  EndpointListSchema,
} from '../../src/http/alerts/records.ts';
import {
  type AlertSchemas,
  ListEndpointsSchema,
  OPERATOR_SCHEMAS,
  ORGANIZATION_SCHEMAS,
  UpdateAlertSettingsSchema,
} from '../../src/http/alerts/schema.ts';
import type { Caller, HeaderName, ReferenceRoute } from './route.ts';

const ONCE: readonly HeaderName[] = ['Idempotency-Key'];
const CHANGE: readonly HeaderName[] = ['Idempotency-Key', 'If-Match'];
const MORE = 'The kinds, and how alerts come: [alerts](../alerts.md).';

const WORDS = {
  name: 'What people call the endpoint.',
  type: '`webhook` needs `url`, `mail` needs `email`.',
  url: 'The public https address that receives webhooks.',
  email: 'The address that receives mails.',
  kinds: 'The kinds of alerts that the endpoint receives; all by default.',
  enabled: 'False: the endpoint receives no new alerts.',
  kind: 'Only this kind.',
  subject_id: 'Only alerts about this key, model, channel or organization.',
  state: 'Only deliveries in this state.',
  endpoint_id: 'Only deliveries to this endpoint.',
  alert_id: 'Only deliveries of this alert.',
};

function routesOf(base: string, caller: Caller, schemas: AlertSchemas): ReferenceRoute[] {
  const route = (method: ReferenceRoute['method'], path: string, says: string): ReferenceRoute => ({
    ...{ method, path: base + path, says, caller, words: WORDS },
  });
  return [
    {
      ...route('GET', '/alerts', 'Lists the alerts, the newest first.'),
      ...{ query: schemas.alerts, answer_schema: AlertListSchema, more: MORE },
    },
    {
      ...route('GET', '/alert-endpoints', 'Lists the endpoints that receive alerts.'),
      ...{ query: ListEndpointsSchema, answer_schema: EndpointListSchema },
    },
    {
      ...route(
        'POST',
        '/alert-endpoints',
        'Creates an endpoint, whose secret only this answer has.',
      ),
      ...{ body: schemas.create, headers: ONCE, more: MORE },
    },
    route('GET', '/alert-endpoints/{id}', 'Shows an endpoint.'),
    {
      ...route('PATCH', '/alert-endpoints/{id}', 'Changes an endpoint.'),
      ...{ body: schemas.update, headers: CHANGE },
    },
    { ...route('DELETE', '/alert-endpoints/{id}', 'Removes an endpoint.'), headers: CHANGE },
    {
      ...route('POST', '/alert-endpoints/{id}/rotate', 'Gives a webhook a new secret at once.'),
      headers: CHANGE,
    },
    {
      ...route(
        'POST',
        '/alert-endpoints/{id}/test',
        'Sends a test to an endpoint, and answers with the outcome of the first attempt.',
      ),
      headers: CHANGE,
    },
    {
      ...route('GET', '/alert-deliveries', 'Lists the deliveries of alerts with each attempt.'),
      ...{ query: schemas.deliveries, answer_schema: AlertDeliveryListSchema },
    },
    route('POST', '/alert-deliveries/{id}/redeliver', 'Sends an alert to its endpoint again.'),
  ];
}

/** The routes of the alerts of an organization. */
export const OWN_ALERT_ROUTES: readonly ReferenceRoute[] = [
  ...routesOf('/v1/management', 'organization', ORGANIZATION_SCHEMAS),
  {
    ...{ method: 'GET', path: '/v1/management/alert-settings', caller: 'organization' },
    says: 'Shows what the organization set for its alerts.',
  },
  {
    ...{ method: 'PATCH', path: '/v1/management/alert-settings', caller: 'organization' },
    says: 'Changes from when on the organization is alerted.',
    ...{ body: UpdateAlertSettingsSchema, headers: CHANGE },
    words: {
      low_balance_usd:
        'A balance below it is low, USD; null: one that lasts for fewer than three days.',
      unused_days: 'A key is unused after so many days.',
      unusual_factor: 'A spend is unusual from so many times the usual one on.',
    },
  },
];

/** The routes of the alerts of operators. */
export const OPERATOR_ALERT_ROUTES: readonly ReferenceRoute[] = routesOf(
  '/v1/operator',
  'operator',
  OPERATOR_SCHEMAS,
);
