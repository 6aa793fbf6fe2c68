import { type Static, Type } from '@sinclair/typebox';

/** Categories of the spec (Resources, Model object). */
export const CATEGORIES = [
  'chat',
  'image',
  'video',
  'audio',
  'tts',
  'stt',
  'music',
  '3d',
  'embedding',
  'rerank',
  'translation',
] as const;

/** A family's models share one contract and one client protocol. */
export const FAMILIES = ['openai-chat', 'anthropic-messages'] as const;

const usdPerMtok = Type.Number({ minimum: 0, maximum: 1_000 });

/** What a million tokens cost, USD. Without a price of its own a cached token costs like any other. */
export const TokenPriceSchema = Type.Object(
  {
    input_usd_per_mtok: usdPerMtok,
    cached_input_usd_per_mtok: Type.Optional(usdPerMtok),
    cache_write_usd_per_mtok: Type.Optional(usdPerMtok),
    output_usd_per_mtok: usdPerMtok,
  },
  { additionalProperties: false },
);

/** One model as `catalogue/*.json` and `weir.yaml` declare it. */
export const ModelSchema = Type.Object(
  {
    id: Type.String({ minLength: 1, maxLength: 100 }),
    category: Type.Union(CATEGORIES.map((category) => Type.Literal(category))),
    owned_by: Type.String({ minLength: 1, maxLength: 100 }),
    family: Type.Union(FAMILIES.map((family) => Type.Literal(family))),
    /** Unix seconds. */
    created: Type.Optional(Type.Integer({ minimum: 0 })),
    /** Tokens. */
    context_window: Type.Optional(Type.Integer({ minimum: 1 })),
    max_output_tokens: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000 })),
    aliases: Type.Optional(Type.Array(Type.String({ minLength: 1 }))),
    price: TokenPriceSchema,
    pricing_provenance: Type.Optional(
      Type.Object({ source: Type.String(), date: Type.String() }, { additionalProperties: false }),
    ),
  },
  { additionalProperties: false },
);

/** One model of `weir.yaml`: of a model that the catalogue has, only what is different. */
export const ModelOverrideSchema = Type.Object(
  { ...Type.Partial(ModelSchema).properties, id: ModelSchema.properties.id },
  { additionalProperties: false },
);

export type ModelDeclaration = Static<typeof ModelSchema>;
export type ModelOverride = Static<typeof ModelOverrideSchema>;
export type TokenPriceDeclaration = Static<typeof TokenPriceSchema>;
export type Category = (typeof CATEGORIES)[number];
