import { type Static, Type } from '@sinclair/typebox';
import { FAMILIES } from './families.ts';
import { VIDEO_OPERATIONS } from './inputs.ts';

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

/** Dearer than this is a slip of the pen. */
const usdPerMtok = Type.Number({ minimum: 0, maximum: 1_000 });
const usd = Type.Number({ minimum: 0, maximum: 1_000 });

/** A price for some calls of a model, e.g. for those of one resolution. */
const PriceTierSchema = Type.Object(
  {
    /** Parameters of the checked request that must all be so. */
    when: Type.Record(Type.String(), Type.Union([Type.String(), Type.Number(), Type.Boolean()])),
    /** In the unit of the price. */
    usd,
  },
  { additionalProperties: false },
);

/**
 * What a model costs. By tokens: USD per million; without a price of its own a cached token costs
 * like any other. Or by what is made: one of `usd_per_mchar`, `_image`, `_second`, `_song`, `_request`; the
 * first tier that fits a call replaces it.
 */
const PriceSchema = Type.Object(
  {
    input_usd_per_mtok: Type.Optional(usdPerMtok),
    cached_input_usd_per_mtok: Type.Optional(usdPerMtok),
    cache_write_usd_per_mtok: Type.Optional(usdPerMtok),
    /** Of what is kept for an hour. */
    cache_write_1h_usd_per_mtok: Type.Optional(usdPerMtok),
    image_input_usd_per_mtok: Type.Optional(usdPerMtok),
    output_usd_per_mtok: Type.Optional(usdPerMtok),
    /** Beyond so many tokens of input, cached ones among them, every token of the call costs this. */
    long_context: Type.Optional(
      Type.Object(
        {
          above_input_tokens: Type.Integer({ minimum: 1 }),
          input_usd_per_mtok: usdPerMtok,
          cached_input_usd_per_mtok: Type.Optional(usdPerMtok),
          cache_write_usd_per_mtok: Type.Optional(usdPerMtok),
          cache_write_1h_usd_per_mtok: Type.Optional(usdPerMtok),
          output_usd_per_mtok: usdPerMtok,
        },
        { additionalProperties: false },
      ),
    ),
    /** Of text, each million characters. */
    usd_per_mchar: Type.Optional(usd),
    usd_per_image: Type.Optional(usd),
    /** Beside `usd_per_image`: each million pixels after an image's first. */
    usd_per_further_megapixel: Type.Optional(usd),
    usd_per_second: Type.Optional(usd),
    usd_per_song: Type.Optional(usd),
    usd_per_request: Type.Optional(usd),
    tiers: Type.Optional(Type.Array(PriceTierSchema, { maxItems: 100 })),
  },
  { additionalProperties: false },
);

const names = (maxItems = 100) =>
  Type.Array(Type.String({ minLength: 1, maxLength: 40 }), { maxItems });

/** What a model offers within its family's contract; what is left out is as its family has it. */
const OffersSchema = Type.Object(
  {
    operations: Type.Optional(
      Type.Array(Type.Union(VIDEO_OPERATIONS.map((each) => Type.Literal(each))), { minItems: 1 }),
    ),
    /** Optional parameters that the model takes, beyond those that each of its family takes. */
    parameters: Type.Optional(names()),
    /** Images of one request. */
    max_images: Type.Optional(Type.Integer({ minimum: 1, maximum: 10 })),
    /** Pictures that a request may work from. */
    max_input_images: Type.Optional(Type.Integer({ minimum: 0, maximum: 16 })),
    max_prompt_chars: Type.Optional(Type.Integer({ minimum: 1, maximum: 100_000 })),
    /** Works from a picture or a video; words are not needed. */
    prompt_optional: Type.Optional(Type.Boolean()),
    /** The first of each list is what is taken where a call says nothing. */
    sizes: Type.Optional(names()),
    aspect_ratios: Type.Optional(names()),
    resolutions: Type.Optional(names()),
    /** Seconds of output. */
    durations: Type.Optional(Type.Array(Type.Integer({ minimum: 1, maximum: 3_600 }))),
    /** Output is as long as the source: seconds that a source may have. */
    max_source_seconds: Type.Optional(Type.Integer({ minimum: 1, maximum: 3_600 })),
    output_audio: Type.Optional(Type.Boolean({ description: 'What is taken if nothing is said.' })),
    max_reference_images: Type.Optional(Type.Integer({ minimum: 0, maximum: 16 })),
    max_reference_videos: Type.Optional(Type.Integer({ minimum: 0, maximum: 16 })),
    max_reference_audios: Type.Optional(Type.Integer({ minimum: 0, maximum: 16 })),
    /** Takes `data:` URIs. */
    inline_inputs: Type.Optional(Type.Boolean()),
    actions: Type.Optional(
      Type.Array(Type.Union([Type.Literal('MUSIC'), Type.Literal('LYRICS')]), { minItems: 1 }),
    ),
    /** Songs that one request yields. */
    songs: Type.Optional(Type.Integer({ minimum: 1, maximum: 10 })),
    /** Every call answers `pending` at once. */
    by_task: Type.Optional(Type.Boolean()),
    /** A call may ask for a task with `async`. */
    async: Type.Optional(Type.Boolean()),
    /** A generation that takes longer has failed. */
    deadline_s: Type.Optional(Type.Integer({ minimum: 1, maximum: 86_400 })),
  },
  { additionalProperties: false },
);

/** How the channels of a model are put in order. */
const ROUTING_POLICIES = ['weighted', 'priority', 'latency', 'price'] as const;
export type RoutingPolicy = (typeof ROUTING_POLICIES)[number];

/** How calls of a model find their channel. */
const RoutingSchema = Type.Object(
  {
    policy: Type.Optional(
      Type.Union(
        ROUTING_POLICIES.map((policy) => Type.Literal(policy)),
        {
          description:
            'weighted: by priority, then by weight and health (as without a policy); priority: ' +
            'the first that can, in the order of the file; latency: the fastest gets most; price: ' +
            'the lowest cost_factor first.',
        },
      ),
    ),
    hedge: Type.Optional(
      Type.Boolean({
        description:
          'Ask a second channel where the first takes longer than 19 of its last 20 calls did.',
      }),
    ),
  },
  { additionalProperties: false },
);

/** What a chat model may have beside text and tools. */
export const CAPABILITIES = ['vision', 'reasoning', 'audio_input'] as const;

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
    /** Of an embedding's vector. */
    dimensions: Type.Optional(Type.Integer({ minimum: 1, maximum: 100_000 })),
    /** No other number of them can be asked for. */
    fixed_dimensions: Type.Optional(Type.Boolean()),
    aliases: Type.Optional(Type.Array(Type.String({ minLength: 1 }))),
    /** What a chat model takes and does beside text and tools. */
    capabilities: Type.Optional(
      Type.Array(Type.Union(CAPABILITIES.map((each) => Type.Literal(each)))),
    ),
    /** Only a public one exists for clients; the others are answered as names that nobody knows. */
    visibility: Type.Optional(
      Type.Union([Type.Literal('public'), Type.Literal('hidden'), Type.Literal('deferred')]),
    ),
    price: PriceSchema,
    offers: Type.Optional(OffersSchema),
    routing: Type.Optional(RoutingSchema),
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
export type PriceDeclaration = Static<typeof PriceSchema>;
export type Offers = Static<typeof OffersSchema>;
export type Category = (typeof CATEGORIES)[number];
