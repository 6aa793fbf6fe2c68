import { Type } from '@sinclair/typebox';
import { lacking, readKept } from '../../../../db/records/kept.ts';
import { writeAsOf } from '../../../../db/usage/as-of.ts';
import { type CallCursor, type CallRow, findCall, listCalls } from '../../../../db/usage/calls.ts';
import { withoutDashes } from '../../../errors/request-id.ts';
import { validator } from '../../../errors/validate.ts';
import { WeirError } from '../../../errors/weir-error.ts';
import { type Handler, json } from '../../endpoint.ts';
import { admitManager } from '../keys.ts';
import { callView, timelineOf } from './call-view.ts';
import { chargeOf } from './charge.ts';
import type { UsageDeps } from './lines.ts';
import { asOf, FILTERS, filtersOf, invalid, limitOf, queryOf, querySchema } from './query.ts';

/** How calls end. */
export const OUTCOMES = [
  'completed',
  'partial',
  'refused',
  'failed',
  'canceled',
  'repeated',
  'cached',
  'accepted',
  'free',
] as const;
const FAULTS = ['caller', 'cap', 'weir', 'provider'] as const;
const anyOf = (names: readonly string[]) =>
  Type.Union(
    names.map((name) => Type.Literal(name)),
    { errorMessage: `must be one of ${names.join(', ')}` },
  );
const short = Type.String({ maxLength: 100, errorMessage: 'must have at most 100 characters' });

/** `GET /v1/management/requests` */
export const ListRequestsSchema = querySchema({
  ...FILTERS,
  api_key_id: Type.Optional(short),
  request_id: Type.Optional(short),
  outcome: Type.Optional(anyOf(OUTCOMES)),
  errorCode: Type.Optional(short),
  fault: Type.Optional(anyOf(FAULTS)),
  running: Type.Optional(anyOf(['true', 'false'])),
  limit: Type.Optional(short),
  cursor: Type.Optional(short),
});
const validate = validator(ListRequestsSchema);

/**
 * `GET /v1/management/requests`: every authenticated call of the organization, also those that were
 * refused, failed or were free, the newest first. `cursor` is the `next_cursor` of the page before.
 */
export function listRequests(deps: UsageDeps): Handler {
  return async (context) => {
    const { organization_id } = await admitManager(deps, context);
    const query = validate(queryOf(context.request));
    const { outcome, fault } = query;
    const filters = {
      ...filtersOf(query, organization_id, deps.catalogue()),
      key_id: query.api_key_id,
      request_id: query.request_id === undefined ? undefined : requestOf(query.request_id),
      outcomes: outcome === undefined ? undefined : [outcome],
      error_code: query.errorCode,
      running: query.running !== 'false',
      // An owner sees a fault of the platform's account as the provider's (`callView`).
      faults: fault === 'provider' ? ['provider', 'account'] : fault ? [fault] : undefined,
    };
    const limit = limitOf(query.limit);
    const sql = deps.usage();
    const as_of = await asOf(query, sql);
    const rows = await listCalls(sql, filters, as_of, { after: cursorOf(query.cursor), limit });
    const { lines_since, records_since } = await readKept(sql);
    const [charged, free] = [lines_since, records_since].map((since) =>
      lacking(filters.from, since),
    );
    const last = rows.at(-1);
    return json({
      object: 'list',
      data: rows.map(callView),
      has_more: rows.length === limit,
      next_cursor: rows.length === limit && last ? cursorText(last) : null,
      ...(charged ? { lines_since: charged.toISOString() } : {}),
      ...(free ? { records_since: free.toISOString() } : {}),
      as_of: writeAsOf(as_of),
    });
  };
}

function requestOf(id: string): string {
  const uuid = uuidOf(id);
  if (uuid === undefined) throw invalid('request_id', 'must be a request id (req_…)');
  return uuid;
}

/** `GET /v1/management/requests/{id}`: one call with its timeline and the arithmetic of its charge. */
export function getRequest(deps: UsageDeps): Handler {
  return async (context) => {
    const { organization_id } = await admitManager(deps, context);
    const id = uuidOf(context.params['id'] ?? '');
    const sql = deps.usage();
    const call = id === undefined ? undefined : await findCall(sql, organization_id, id);
    if (!call) {
      throw new WeirError('not_found', 'There is no such request.', {
        param: 'id',
        hint: 'Send a request id (req_…) or a billing transaction id (txn_…).',
      });
    }
    const charge = await chargeOf(sql, call);
    return json({ ...callView(call), charge, timeline: timelineOf(call) });
  };
}

const ID =
  /^(?:req_|txn_)?([0-9a-f]{8})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{12})$/;

/** Returns the UUID of a request id or a transaction id; undefined for any other text. */
export function uuidOf(id: string): string | undefined {
  const match = ID.exec(id);
  return match ? match.slice(1).join('-') : undefined;
}

function cursorText({ at, sort_id }: CallRow): string {
  return `${at.getTime()}_${withoutDashes(sort_id)}`;
}

const CURSOR = /^(\d{1,15})_([0-9a-f]{32})$/;

function cursorOf(text: string | undefined): CallCursor | undefined {
  if (text === undefined) return undefined;
  const [, at, hex = ''] = CURSOR.exec(text) ?? [];
  const id = uuidOf(hex);
  if (at !== undefined && id !== undefined) return { at: new Date(Number(at)), id };
  throw new WeirError('invalid_request', 'cursor is not the next_cursor of a page.', {
    param: 'cursor',
    hint: 'Leave cursor out for the first page.',
  });
}
