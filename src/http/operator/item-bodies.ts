import { type TObject, Type } from '@sinclair/typebox';
import type { ItemKind, ItemValue } from '../../../db/configuration/items.ts';
import { ModelOverrideSchema } from '../../catalogue/schema.ts';
import { ITEM_SCHEMAS } from '../../config/item-schemas.ts';
import { type Validator, validator } from '../../errors/validate.ts';
import { choiceParameter } from '../management/list-query.ts';

const closed = { additionalProperties: false };

/** The last part of the path of each kind of item. */
export const COLLECTIONS: Readonly<Record<ItemKind, string>> = {
  model: 'models',
  price: 'prices',
  routing: 'routing',
  preset: 'presets',
};

/** `GET /v1/operator/models` and the other collections. */
export const ListItemsSchema = Type.Object(
  { source: choiceParameter(['file', 'row', 'catalogue'] as const) },
  closed,
);

/** `POST /v1/operator/models` */
export const CreateModelSchema = Type.Object(
  {
    ...ModelOverrideSchema.properties,
    id: Type.String({
      pattern: '^[^\\u0000-\\u001f]{1,100}$',
      errorMessage: 'must have 1 to 100 printable characters',
    }),
  },
  closed,
);

/** The body of `PATCH` for each kind: its members, each optional. */
export const ITEM_BODIES = {
  model: Type.Partial(ITEM_SCHEMAS.model, closed),
  price: Type.Partial(ITEM_SCHEMAS.price, closed),
  routing: Type.Partial(ITEM_SCHEMAS.routing, closed),
  preset: Type.Partial(ITEM_SCHEMAS.preset, closed),
} as const;

const VALIDATORS: Readonly<Record<ItemKind, Validator<TObject>>> = {
  model: validator(ITEM_BODIES.model),
  price: validator(ITEM_BODIES.price),
  routing: validator(ITEM_BODIES.routing),
  preset: validator(ITEM_BODIES.preset),
};

/** Returns the members that a body sets, and the names of those that it removes. Throws WeirError. */
export function readItemBody(
  kind: ItemKind,
  body: Record<string, unknown>,
): { readonly set: ItemValue; readonly removed: readonly string[] } {
  const known = ITEM_BODIES[kind].properties as Readonly<Record<string, unknown>>;
  const isRemoved = ([name, value]: [string, unknown]) =>
    value === null && Object.hasOwn(known, name);
  const entries = Object.entries(body);
  const set = Object.fromEntries(entries.filter((entry) => !isRemoved(entry)));
  return {
    set: VALIDATORS[kind](set) as ItemValue,
    removed: entries.filter(isRemoved).map(([name]) => name),
  };
}
