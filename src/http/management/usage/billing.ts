import { writeAsOf } from '../../../../db/usage/as-of.ts';
import {
  BREAKDOWN_GROUPS,
  type Breakdown,
  type BreakdownGroup,
  breakDown,
} from '../../../../db/usage/breakdown.ts';
import type { Counts } from '../../../../db/usage/roll-ups/counters.ts';
import { validator } from '../../../errors/validate.ts';
import { usd } from '../../../json/usd.ts';
import { type Handler, json, type RequestContext } from '../../endpoint.ts';
import { admitManager } from '../keys.ts';
import { ownKey, type UsageDeps } from './lines.ts';
import { asOf, FILTERS, filtersOf, queryOf, querySchema } from './query.ts';

const validate = validator(querySchema(FILTERS));

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

/** The member of the answer that has the sums of a group. */
const MEMBER: Record<BreakdownGroup, string> = {
  day: 'by_day',
  model: 'by_model',
  model_vendor: 'by_vendor',
  scene: 'by_scene',
  access_channel: 'by_access_channel',
};

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
  return json({
    object: 'billing',
    currency: 'USD',
    total: sumsOf(total),
    ...groupsOf(groups),
    ...(lines_since ? { lines_since: lines_since.toISOString() } : {}),
    as_of: writeAsOf(as_of),
  });
}

/** Returns the sums by each group, as members of an answer. */
export function groupsOf(groups: Breakdown['groups']): object {
  const members = BREAKDOWN_GROUPS.map((group) => [
    MEMBER[group],
    Array.from(groups[group], ([name, counts]) => ({ name, ...sumsOf(counts) })),
  ]);
  return Object.fromEntries(members);
}

/** Returns the sums of charges, with money in USD. */
export function sumsOf(counts: Counts): object {
  return {
    amount: usd(counts.charged_nano_usd),
    list_price: usd(counts.list_nano_usd),
    requests: counts.charges,
    input_tokens: counts.input_tokens,
    cached_input_tokens: counts.cached_input_tokens,
    cache_write_tokens: counts.cache_write_tokens,
    output_tokens: counts.output_tokens,
  };
}
