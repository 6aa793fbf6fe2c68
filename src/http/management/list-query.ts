import { type Static, type TSchema, Type } from '@sinclair/typebox';
import type { ListPosition, Page, PageRequest } from '../../../db/pages.ts';
import type { Validator } from '../../errors/validate.ts';
import { WeirError } from '../../errors/weir-error.ts';
import { cursorOf, parseCursor } from './list-cursor.ts';
import { readDateRange } from './list-dates.ts';

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 100;
const INTEGER = /^\d{1,6}$/;
/** PostgreSQL's text type stores every character except NUL. */
const NO_NUL = '^[^\\u0000]*$';

/** A parameter that names a thing, e.g. a model. A list has no rows for an unknown name. */
export const nameParameter = () =>
  Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      pattern: NO_NUL,
      errorMessage: 'must have 1 to 200 characters',
    }),
  );

/** A parameter with one of these values. */
export const choiceParameter = <Value extends string>(values: readonly Value[]) =>
  Type.Optional(
    Type.Unsafe<Value>(
      Type.Union(
        values.map((value) => Type.Literal(value)),
        { errorMessage: `must be ${values.slice(0, -1).join(', ')} or ${values.at(-1)}` },
      ),
    ),
  );

const dateParameter = () => Type.Optional(Type.String({ maxLength: 64 }));

/** The parameters of every list. */
export const PAGE_PARAMETERS = {
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MAX_LIMIT,
      errorMessage: `must be a whole number from 1 to ${MAX_LIMIT}`,
    }),
  ),
  /** `next_cursor` of the page before. */
  cursor: Type.Optional(Type.String()),
  startDate: dateParameter(),
  endDate: dateParameter(),
};

interface PageQuery {
  readonly limit?: number;
  readonly cursor?: string;
  readonly startDate?: string;
  readonly endDate?: string;
}

/**
 * Returns the query parameters of a request. Throws WeirError that names a parameter that is
 * unknown, wrong or sent twice. `limit` becomes a number.
 */
export function readQuery<Schema extends TSchema>(
  request: Request,
  validate: Validator<Schema>,
): Static<Schema> {
  const query: Record<string, unknown> = {};
  for (const [name, text] of new URL(request.url).searchParams) {
    if (Object.hasOwn(query, name)) {
      throw new WeirError('invalid_request', `${name.slice(0, 100)} must be sent once.`, {
        param: name,
      });
    }
    query[name] = name === 'limit' && INTEGER.test(text) ? Number(text) : text;
  }
  return validate(query);
}

/** Returns the page that the query requests. Throws WeirError. */
export function pageRequestOf(query: PageQuery): PageRequest {
  const { limit = DEFAULT_LIMIT, cursor } = query;
  const after = cursor === undefined ? undefined : parseCursor(cursor);
  if (cursor !== undefined && !after) {
    throw new WeirError('invalid_request', 'cursor is not the next_cursor of a page.', {
      param: 'cursor',
      hint: 'Leave cursor out for the first page.',
    });
  }
  return { limit, after, ...readDateRange(query) };
}

/** The answer with one page of a list. `idOf` returns the id that sorts the list. */
export function listAnswer<Row extends { readonly at_us: number }, Shown>(
  { rows, has_more }: Page<Row>,
  idOf: (row: Row) => ListPosition['id'],
  show: (row: Row) => Shown,
) {
  const last = rows.at(-1);
  return {
    object: 'list' as const,
    data: rows.map(show),
    has_more,
    next_cursor: has_more && last ? cursorOf({ at_us: last.at_us, id: idOf(last) }) : null,
  };
}

/** The schema of the answer with one page of a list. */
export const listSchema = <Item extends TSchema>(item: Item) =>
  Type.Object(
    {
      object: Type.Literal('list'),
      data: Type.Array(item),
      has_more: Type.Boolean(),
      next_cursor: Type.Union([Type.String(), Type.Null()]),
    },
    { additionalProperties: false },
  );
