import { listAlerts } from '../../../db/alerts/alerts.ts';
import { OPERATORS_OWNER } from '../../../db/alerts/kinds.ts';
import { alertRecord } from '../../actors/alerts/record.ts';
import { validator } from '../../errors/validate.ts';
import { type Handler, json } from '../endpoint.ts';
import { admitManager, type ManagementDeps } from '../management/keys.ts';
import { listAnswer, pageRequestOf, readQuery } from '../management/list-query.ts';
import type { PathMethods } from '../route.ts';
import { AlertDeliveryRoutes } from './deliveries.ts';
import { AlertEndpointRoutes } from './endpoints.ts';
import { type Admit, type AlertRouteDeps, requireAlerts } from './owner.ts';
import { type AlertSchemas, OPERATOR_SCHEMAS, ORGANIZATION_SCHEMAS } from './schema.ts';
import { getAlertSettings, updateAlertSettings } from './settings.ts';

/** The routes of the alerts of an organization, and of the operators. */
export function alertRoutes(app: ManagementDeps & AlertRouteDeps): PathMethods[] {
  const ofOrganization: Admit = async (context) => {
    const { organization_id: owner_id, actor } = await admitManager(app, context);
    return { owner_id, actor };
  };
  const ofOperators: Admit = async (context) => {
    const { actor } = await app.authentication.requireOperator(context);
    return { owner_id: OPERATORS_OWNER, actor };
  };
  return [
    ...routesUnder('/v1/management', app, ofOrganization, ORGANIZATION_SCHEMAS),
    [
      '/v1/management/alert-settings',
      {
        GET: getAlertSettings(app, ofOrganization),
        PATCH: updateAlertSettings(app, ofOrganization),
      },
    ],
    ...routesUnder('/v1/operator', app, ofOperators, OPERATOR_SCHEMAS),
  ];
}

function routesUnder(
  base: string,
  app: AlertRouteDeps,
  admit: Admit,
  schemas: AlertSchemas,
): PathMethods[] {
  const endpoints = new AlertEndpointRoutes(app, admit, schemas);
  const deliveries = new AlertDeliveryRoutes(app, admit, schemas);
  const endpoint = `${base}/alert-endpoints/:id`;
  return [
    [`${base}/alerts`, { GET: listOf(app, admit, schemas) }],
    [`${base}/alert-endpoints`, { GET: endpoints.list, POST: endpoints.create }],
    [endpoint, { GET: endpoints.get, PATCH: endpoints.update, DELETE: endpoints.delete }],
    [`${endpoint}/rotate`, { POST: endpoints.rotate }],
    [`${endpoint}/test`, { POST: deliveries.test }],
    [`${base}/alert-deliveries`, { GET: deliveries.list }],
    [`${base}/alert-deliveries/:id/redeliver`, { POST: deliveries.redeliver }],
  ];
}

/** `GET …/alerts` */
function listOf(app: AlertRouteDeps, admit: Admit, schemas: AlertSchemas): Handler {
  const validate = validator(schemas.alerts);
  return async (context) => {
    const { owner_id } = await admit(context);
    const query = readQuery(context.request, validate);
    const page = await listAlerts(requireAlerts(app).sql, owner_id, query, pageRequestOf(query));
    return json(listAnswer(page, ({ id }) => id, alertRecord));
  };
}
