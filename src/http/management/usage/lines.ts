import type { Sql } from 'postgres';
import { findManagedKey } from '../../../../db/managed-keys.ts';
import { writeAsOf } from '../../../../db/usage/as-of.ts';
import { listLines, type UsageRow } from '../../../../db/usage/lines.ts';
import type { Catalogue } from '../../../catalogue/catalogue.ts';
import { requestIdOf, withoutDashes } from '../../../errors/request-id.ts';
import { validator } from '../../../errors/validate.ts';
import { WeirError } from '../../../errors/weir-error.ts';
import type { RunningCalls } from '../../../inference/records/running-calls.ts';
import type { UsageFeed } from '../../../inference/records/usage-feed.ts';
import { usd } from '../../../json/usd.ts';
import { type Handler, json, type RequestContext } from '../../endpoint.ts';
import { admitManager, type ManagementDeps } from '../keys.ts';
import { asOf, FILTERS, filtersOf, PAGE, placeOf, queryOf, querySchema } from './query.ts';

/** Dependencies of the routes of usage. */
export interface UsageDeps extends ManagementDeps {
  /** The database, for statements that are written by hand. */
  readonly usage: () => Sql;
  /** The calls that run on all replicas. */
  readonly running: () => Pick<RunningCalls, 'list'>;
  /** What happens in each organization. */
  readonly feed: () => Pick<UsageFeed, 'open'>;
}

/** `GET …/usage` */
export const UsageLinesSchema = querySchema({ ...FILTERS, ...PAGE });
const validate = validator(UsageLinesSchema);

/**
 * `GET /v1/management/api-keys/{keyId}/usage` (spec: Management interface): the charges of a key and
 * the money that its tasks hold, the newest first.
 */
export function listUsageOfKey(deps: UsageDeps): Handler {
  return async (context) => {
    const { organization_id } = await admitManager(deps, context);
    const key_id = await ownKey(deps, context, organization_id);
    return listUsage(deps, context, organization_id, key_id);
  };
}

/** `GET /v1/management/usage`: the same for all keys of the organization. */
export function listOrganizationUsage(deps: UsageDeps): Handler {
  return async (context) => {
    const { organization_id } = await admitManager(deps, context);
    return listUsage(deps, context, organization_id, undefined);
  };
}

/**
 * Returns the id of the key in the path. Throws the same error for another organization's key and
 * for a missing key (P6).
 */
export async function ownKey(
  deps: ManagementDeps,
  { params }: RequestContext,
  organization_id: string,
): Promise<string> {
  const id = params['keyId'] ?? '';
  // No id contains NUL, and PostgreSQL refuses a text with NUL.
  const key = id.includes('\u0000')
    ? undefined
    : await findManagedKey(deps.sql, organization_id, id);
  if (!key) throw new WeirError('not_found', 'There is no such API key.', { param: 'keyId' });
  return key.id;
}

async function listUsage(
  deps: UsageDeps,
  { request }: RequestContext,
  organization_id: string,
  key_id: string | undefined,
): Promise<Response> {
  const query = validate(queryOf(request));
  const catalogue = deps.catalogue();
  const filters = { ...filtersOf(query, organization_id, catalogue), key_id };
  const { page, limit, offset } = placeOf(query);
  const sql = deps.usage();
  const as_of = await asOf(query, sql);
  const { rows, total, lines_since } = await listLines(sql, filters, as_of, { offset, limit });
  return json({
    object: 'list',
    data: rows.map((row) => lineRecord(row, catalogue)),
    page,
    limit,
    total,
    total_pages: Math.ceil(total / limit),
    has_more: offset + rows.length < total,
    ...(lines_since ? { lines_since: lines_since.toISOString() } : {}),
    as_of: writeAsOf(as_of),
  });
}

/**
 * Returns a line as clients see it. The spec shows only `request_id` and `billing_transaction_id`,
 * which is present once the line is settled. Amounts are in USD, exact to one nano-USD.
 */
export function lineRecord(row: UsageRow, catalogue: Catalogue): object {
  const { billing_id, detail, task_id } = row;
  return {
    object: 'usage_line',
    request_id: requestIdOf(row.request_id),
    ...(billing_id === null ? {} : { billing_transaction_id: `txn_${withoutDashes(billing_id)}` }),
    ...(task_id === null ? {} : { task_id }),
    api_key_id: row.key_id,
    date: row.at.toISOString(),
    settled_at: row.settled_at?.toISOString() ?? null,
    outcome: row.outcome,
    scene: row.scene,
    logical_model: row.model,
    model_vendor: row.model_vendor || (catalogue.find(row.model)?.owned_by ?? ''),
    access_channel: row.access_channel,
    protocol: row.protocol || null,
    program: row.program || null,
    input_tokens: row.input_tokens,
    cached_input_tokens: row.cached_input_tokens,
    cache_write_tokens: row.cache_write_tokens,
    output_tokens: row.output_tokens,
    reasoning_tokens: row.reasoning_tokens,
    audio_tokens: row.audio_tokens,
    units: detail?.units ?? {},
    estimated: row.estimated,
    list_price: usd(row.list_nano_usd),
    amount: usd(row.charged_nano_usd),
    counted: usd(row.counted_nano_usd),
    held: usd(row.held_nano_usd),
    currency: 'USD',
    time_to_first_token_ms: row.first_token_ms,
    duration_ms: row.ended_ms,
    user: detail?.end_user ?? null,
    metadata: detail?.tags ?? {},
  };
}
