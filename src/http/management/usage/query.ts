import { type Static, type TSchema, Type } from '@sinclair/typebox';
import { readKept } from '../../../../db/records/kept.ts';
import { type AsOf, parseAsOf, readAsOf } from '../../../../db/usage/as-of.ts';
import type { UsageFilters } from '../../../../db/usage/filters.ts';
import type { Catalogue } from '../../../catalogue/catalogue.ts';
import { WeirError } from '../../../errors/weir-error.ts';
import { readDateRange } from '../list-dates.ts';

/** The scenes of usage lines (spec: Management interface, usage query parameters). */
const SCENES = [
  'chat',
  'image',
  'audio',
  'video',
  'embedding',
  'rerank',
  'translation',
  'music',
  '3d',
  'none',
] as const;
const ACCESS_CHANNELS = ['platform', 'byok'] as const;
const PROTOCOLS = ['openai', 'anthropic', 'responses', 'gemini', 'none'] as const;
/** The name of what has none: of calls that were refused before Weir knew it. */
const NONE = 'none';
const MAX_PAGE = 1_000_000;

/** A text of so many characters. */
export const text = (max: number) =>
  Type.String({ minLength: 1, maxLength: max, errorMessage: `must have 1 to ${max} characters` });
/** One of these names. */
export const oneOf = <Name extends string>(names: readonly Name[]) =>
  Type.Union(
    names.map((name) => Type.Literal(name)),
    { errorMessage: `must be one of ${names.join(', ')}` },
  );

/** The parameters that filter usage. All come as text (spec: usage query parameters). */
export const FILTERS = {
  logicalModel: Type.Optional(text(100)),
  modelVendor: Type.Optional(text(100)),
  scene: Type.Optional(oneOf(SCENES)),
  accessChannel: Type.Optional(oneOf(ACCESS_CHANNELS)),
  protocol: Type.Optional(oneOf(PROTOCOLS)),
  user: Type.Optional(text(512)),
  startDate: Type.Optional(text(40)),
  endDate: Type.Optional(text(40)),
  as_of: Type.Optional(text(4_000)),
};
/** The parameters of a page. */
export const PAGE = {
  page: Type.Optional(text(20)),
  limit: Type.Optional(text(20)),
};

const FiltersSchema = Type.Object(FILTERS);
type Filters = Static<typeof FiltersSchema>;

/** Returns the parameters of a request as an object for a validator. Throws WeirError (400). */
export function queryOf({ url }: Request): Record<string, string> {
  return parametersOf(new URL(url).searchParams);
}

/**
 * Returns parameters as an object for a validator. Throws WeirError if a parameter is repeated, because
 * nobody knows which value is meant.
 */
export function parametersOf(parameters: URLSearchParams): Record<string, string> {
  const query: Record<string, string> = {};
  for (const [name, value] of parameters) {
    if (Object.hasOwn(query, name)) throw invalid(name, 'is sent twice');
    // No text of the database has NUL.
    query[name] = value.replaceAll('\u0000', '\ufffd');
  }
  return query;
}

/** Returns the schema of a query with these parameters and no others. */
export function querySchema<Parameters extends Record<string, TSchema>>(parameters: Parameters) {
  return Type.Object(parameters, { additionalProperties: false });
}

/** Returns the filters of a query for one organization. Throws WeirError (400). */
export function filtersOf(
  query: Filters,
  organization_id: string,
  catalogue: Catalogue,
): UsageFilters {
  const { since: from, before: until } = readDateRange(query);
  const [model, modelVendor, scene, protocol] = [
    query.logicalModel,
    query.modelVendor,
    query.scene,
    query.protocol,
  ].map((name) => (name === NONE ? '' : name));
  return {
    organization_id,
    // An alias of a model is another name of the same lines.
    model: model === undefined ? undefined : (catalogue.find(model)?.id ?? model),
    model_vendor: modelVendor,
    vendor_models:
      modelVendor === undefined
        ? undefined
        : catalogue.all().flatMap(({ id, owned_by }) => (owned_by === modelVendor ? [id] : [])),
    scene,
    access_channel: query.accessChannel as UsageFilters['access_channel'],
    protocol,
    end_user: query.user,
    from,
    until,
  };
}

/** Returns the state that a query names, or else the present one. Throws WeirError (400). */
export async function asOf(query: Filters, sql: Parameters<typeof readAsOf>[0]): Promise<AsOf> {
  if (query.as_of === undefined) return readAsOf(sql);
  const found = parseAsOf(query.as_of);
  if (!found) throw invalid('as_of', 'must be the as_of of an earlier answer');
  const { last_xid } = await readKept(sql);
  if (found.next_xid <= last_xid) {
    throw invalid('as_of', 'is too old: rows that came after it are removed');
  }
  return found;
}

/** Returns the place of a page. Throws WeirError (400). */
export function placeOf(query: { page?: string; limit?: string }): {
  page: number;
  limit: number;
  offset: number;
} {
  const page = wholeNumber('page', query.page, { standard: 1, max: MAX_PAGE });
  const limit = limitOf(query.limit);
  return { page, limit, offset: (page - 1) * limit };
}

/** Returns the size of a page (spec: Limits). Throws WeirError (400). */
export function limitOf(limit: string | undefined): number {
  return wholeNumber('limit', limit, { standard: 50, max: 100 });
}

function wholeNumber(
  name: string,
  value: string | undefined,
  { standard, max }: { readonly standard: number; readonly max: number },
): number {
  if (value === undefined) return standard;
  const number = /^\d{1,9}$/.test(value) ? Number(value) : 0;
  if (number < 1 || number > max) throw invalid(name, `must be a whole number from 1 to ${max}`);
  return number;
}

/** The error of a wrong parameter. */
export function invalid(param: string, what: string): WeirError {
  return new WeirError('invalid_request', `${param.slice(0, 100)} ${what}.`, { param });
}
