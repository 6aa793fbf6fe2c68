import { breakDown } from '../../../../db/usage/breakdown.ts';
import { validator } from '../../../errors/validate.ts';
import { type Handler, json, type RequestContext } from '../../endpoint.ts';
import { admitManager } from '../keys.ts';
import { billingView } from './billing-view.ts';
import { ownKey, type UsageDeps } from './lines.ts';
import { asOf, FILTERS, filtersOf, queryOf, querySchema } from './query.ts';

/** `GET …/billing` */
export const BillingSchema = querySchema(FILTERS);
const validate = validator(BillingSchema);

/**
 * `GET /v1/management/api-keys/{keyId}/billing` (spec: Management interface): the sums of a key's
 * usage lines, in total and by day (UTC), model, vendor, scene and access channel.
 */
export function getBillingOfKey(deps: UsageDeps): Handler {
  return async (context) => {
    const { organization_id } = await admitManager(deps, context);
    const key_id = await ownKey(deps, context, organization_id);
    return billing(deps, context, organization_id, key_id);
  };
}

/** `GET /v1/management/billing`: the same for all keys of the organization. */
export function getOrganizationBilling(deps: UsageDeps): Handler {
  return async (context) => {
    const { organization_id } = await admitManager(deps, context);
    return billing(deps, context, organization_id, undefined);
  };
}

async function billing(
  deps: UsageDeps,
  { request }: RequestContext,
  organization_id: string,
  key_id: string | undefined,
): Promise<Response> {
  const query = validate(queryOf(request));
  const filters = { ...filtersOf(query, organization_id, deps.catalogue()), key_id };
  const sql = deps.usage();
  const as_of = await asOf(query, sql);
  const { total, groups, lines_since } = await breakDown(sql, filters, as_of);
  return json(billingView({ total, groups, lines_since }, as_of));
}
