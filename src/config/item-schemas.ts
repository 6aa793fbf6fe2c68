import { type TObject, Type } from '@sinclair/typebox';
import type { ItemKind } from '../../db/configuration/items.ts';
import { ModelOverrideSchema, ModelSchema } from '../catalogue/schema.ts';

const closed = { additionalProperties: false };
const { price, pricing_provenance, routing } = ModelSchema.properties;
const { id: _, ...members } = ModelOverrideSchema.properties;

/** The members that an operator can set of an item of each kind. */
export const ITEM_SCHEMAS = {
  model: Type.Object(members, closed),
  price: Type.Object({ price, pricing_provenance }, closed),
  // The members of a routing, each optional.
  routing: Type.Object({ ...(routing as unknown as TObject).properties }, closed),
  preset: Type.Object({ model: Type.String({ minLength: 1, maxLength: 100 }) }, closed),
} as const satisfies Record<ItemKind, TObject>;
