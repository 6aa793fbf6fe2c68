import { type Static, Type } from '@sinclair/typebox';
import { AbilitiesSchema } from './abilities.ts';
import { FAMILIES } from './families.ts';
import { VIDEO_OPERATIONS } from './inputs.ts';
import { GRANULARITIES, TRANSCRIPT_FORMATS } from './transcripts.ts';

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

/** A price per million tokens, USD. Above the maximum, it is refused as a likely typing error. */
const usdPerMtok = Type.Number({ minimum: 0, maximum: 1_000 });
const usd = Type.Number({ minimum: 0, maximum: 1_000 });

/** A price for some calls of a model, e.g. for those of one resolution. */
const PriceTierSchema = Type.Object(
  {
    /** The tier applies if all of these parameters of the validated request have these values. */
    when: Type.Record(Type.String(), Type.Union([Type.String(), Type.Number(), Type.Boolean()])),
    /** USD for one unit of the price. */
    usd,
  },
  { additionalProperties: false },
);

/**
 * The price of a model. A price by tokens is in USD per million tokens. If a cache price is
 * missing, the input price applies. Any other price is one of `usd_per_mchar`, `usd_per_image`,
 * `usd_per_second`, `usd_per_song`, `usd_per_request`. If a generation has such a price, the first
 * of `tiers` that fits the call replaces the price.
 */
const PriceSchema = Type.Object(
  {
    input_usd_per_mtok: Type.Optional(usdPerMtok),
    cached_input_usd_per_mtok: Type.Optional(usdPerMtok),
    cache_write_usd_per_mtok: Type.Optional(usdPerMtok),
    /** The price of tokens that the provider caches for an hour. */
    cache_write_1h_usd_per_mtok: Type.Optional(usdPerMtok),
    /** The price of input tokens that are audio. */
    audio_input_usd_per_mtok: Type.Optional(usdPerMtok),
    cached_audio_input_usd_per_mtok: Type.Optional(usdPerMtok),
    image_input_usd_per_mtok: Type.Optional(usdPerMtok),
    output_usd_per_mtok: Type.Optional(usdPerMtok),
    /**
     * Prices for long calls. They apply to all tokens of a call with more than `above_input_tokens`
     * input tokens, cached tokens included.
     */
    long_context: Type.Optional(
      Type.Object(
        {
          above_input_tokens: Type.Integer({ minimum: 1 }),
          input_usd_per_mtok: usdPerMtok,
          cached_input_usd_per_mtok: Type.Optional(usdPerMtok),
          cache_write_usd_per_mtok: Type.Optional(usdPerMtok),
          cache_write_1h_usd_per_mtok: Type.Optional(usdPerMtok),
          audio_input_usd_per_mtok: Type.Optional(usdPerMtok),
          cached_audio_input_usd_per_mtok: Type.Optional(usdPerMtok),
          output_usd_per_mtok: usdPerMtok,
        },
        { additionalProperties: false },
      ),
    ),
    /** USD for a million characters of text. */
    usd_per_mchar: Type.Optional(usd),
    usd_per_image: Type.Optional(usd),
    /**
     * USD for each megapixel of an image after its first megapixel, in addition to `usd_per_image`.
     */
    usd_per_further_megapixel: Type.Optional(usd),
    usd_per_second: Type.Optional(usd),
    usd_per_song: Type.Optional(usd),
    usd_per_request: Type.Optional(usd),
    /** USD of one web search that a chat model's provider runs, in addition to the tokens. */
    usd_per_web_search: Type.Optional(usd),
    /**
     * The part of a call's price that the same answer from Weir's cache costs. If missing, 0.
     */
    cached_answer_share: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
    tiers: Type.Optional(Type.Array(PriceTierSchema, { maxItems: 100 })),
  },
  { additionalProperties: false },
);

const names = (maxItems = 100) =>
  Type.Array(Type.String({ minLength: 1, maxLength: 40 }), { maxItems });

/**
 * What a model offers of its family's contract. If a member is missing, the family's value applies.
 */
const OffersSchema = Type.Object(
  {
    operations: Type.Optional(
      Type.Array(Type.Union(VIDEO_OPERATIONS.map((each) => Type.Literal(each))), { minItems: 1 }),
    ),
    /** Optional parameters that the model takes in addition to those of its family. */
    parameters: Type.Optional(names()),
    /** Parameters of its family that a model of direct calls does not take. */
    without: Type.Optional(names()),
    /** The values of `stream_format` that a speech model takes. */
    stream_formats: Type.Optional(names()),
    /** The formats of a transcript that a client can have. Without `verbose_json`, it has no times. */
    transcript_formats: Type.Optional(
      Type.Array(Type.Union(TRANSCRIPT_FORMATS.map((each) => Type.Literal(each))), { minItems: 1 }),
    ),
    /** The parts of a transcript that can have times; an empty list: none. */
    timestamp_granularities: Type.Optional(
      Type.Array(Type.Union(GRANULARITIES.map((each) => Type.Literal(each)))),
    ),
    /** False if the model cannot translate speech into English. */
    translates_speech: Type.Optional(Type.Boolean()),
    transcript_provenance: Type.Optional(
      Type.Object(
        {
          source: Type.String({ description: 'Never shown to clients: who says so.' }),
          date: Type.String({ description: 'Never shown to clients: when it was read.' }),
        },
        { additionalProperties: false },
      ),
    ),
    /** The most images of one request. */
    max_images: Type.Optional(Type.Integer({ minimum: 1, maximum: 10 })),
    /** The most input images of one request. */
    max_input_images: Type.Optional(Type.Integer({ minimum: 0, maximum: 16 })),
    max_prompt_chars: Type.Optional(Type.Integer({ minimum: 1, maximum: 100_000 })),
    /** True if the model works from an image or a video, so that a request needs no prompt. */
    prompt_optional: Type.Optional(Type.Boolean()),
    /** The possible sizes. The first value is the default, as in `resolutions` and `durations`. */
    sizes: Type.Optional(names()),
    /** Both edges of a size must be multiples of this, pixels. */
    size_step: Type.Optional(Type.Integer({ minimum: 1, maximum: 256 })),
    aspect_ratios: Type.Optional(names()),
    resolutions: Type.Optional(names()),
    /** The possible durations of the output, seconds. */
    durations: Type.Optional(Type.Array(Type.Integer({ minimum: 1, maximum: 3_600 }))),
    /** The longest source video, seconds. The result is as long as its source. */
    max_source_seconds: Type.Optional(Type.Integer({ minimum: 1, maximum: 3_600 })),
    /**
     * Parameters that a call of `video-to-video` or `motion-control` cannot have, because the
     * provider does not take them beside a source video.
     */
    not_with_source: Type.Optional(names()),
    /**
     * Parameters that a call of `image-to-video` or `start-end-to-video` cannot have, because the
     * provider does not take them beside a first frame.
     */
    not_with_image: Type.Optional(names()),
    output_audio: Type.Optional(
      Type.Boolean({ description: 'The default value of the parameter.' }),
    ),
    /** True if no channel of the model can send another value than the default of `output_audio`. */
    fixed_output_audio: Type.Optional(Type.Boolean()),
    max_reference_images: Type.Optional(Type.Integer({ minimum: 0, maximum: 16 })),
    max_reference_videos: Type.Optional(Type.Integer({ minimum: 0, maximum: 16 })),
    max_reference_audios: Type.Optional(Type.Integer({ minimum: 0, maximum: 16 })),
    /** True if the model takes `data:` URLs. */
    inline_inputs: Type.Optional(Type.Boolean()),
    actions: Type.Optional(
      Type.Array(Type.Union([Type.Literal('MUSIC'), Type.Literal('LYRICS')]), { minItems: 1 }),
    ),
    /** The number of songs that one request produces. */
    songs: Type.Optional(Type.Integer({ minimum: 1, maximum: 10 })),
    /** True if every call returns a pending task at once. */
    by_task: Type.Optional(Type.Boolean()),
    /** True if a call may request a task with `async`. */
    async: Type.Optional(Type.Boolean()),
    /** A generation fails if it takes longer than this. */
    deadline_s: Type.Optional(Type.Integer({ minimum: 1, maximum: 86_400 })),
  },
  { additionalProperties: false },
);

/** How the channels of a model are ordered. */
const ROUTING_POLICIES = ['weighted', 'priority', 'latency', 'price'] as const;
export type RoutingPolicy = (typeof ROUTING_POLICIES)[number];

/** How a call selects a channel of its model. */
const RoutingSchema = Type.Object(
  {
    policy: Type.Optional(
      Type.Union(
        ROUTING_POLICIES.map((policy) => Type.Literal(policy)),
        {
          description:
            'weighted (default): by priority, then by weight and health. priority: the first channel ' +
            'that can take the call, in the order of weir.yaml. latency: the fastest channel gets ' +
            'the most calls. price: the lowest cost_factor first.',
        },
      ),
    ),
    hedge: Type.Optional(
      Type.Boolean({
        description:
          'Start a second attempt on another channel if the first attempt takes longer than 19 of ' +
          '20 recent calls of its channel.',
      }),
    ),
  },
  { additionalProperties: false },
);

/** Capabilities of a chat model in addition to text and tools. */
export const CAPABILITIES = ['vision', 'reasoning', 'audio_input'] as const;

/** One model as `catalogue/*.json` and `weir.yaml` declare it. */
export const ModelSchema = Type.Object(
  {
    id: Type.String({ minLength: 1, maxLength: 100 }),
    category: Type.Union(CATEGORIES.map((category) => Type.Literal(category))),
    owned_by: Type.String({ minLength: 1, maxLength: 100 }),
    family: Type.Union(FAMILIES.map((family) => Type.Literal(family))),
    /** Date of the model, Unix seconds. */
    created: Type.Optional(Type.Integer({ minimum: 0 })),
    /** Size of the context window, tokens. */
    context_window: Type.Optional(Type.Integer({ minimum: 1 })),
    max_output_tokens: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000 })),
    /** Length of an embedding's vector. */
    dimensions: Type.Optional(Type.Integer({ minimum: 1, maximum: 100_000 })),
    /** True if a request cannot change the number of dimensions. */
    fixed_dimensions: Type.Optional(Type.Boolean()),
    aliases: Type.Optional(Type.Array(Type.String({ minLength: 1 }))),
    /** Capabilities of a chat model in addition to text and tools. */
    capabilities: Type.Optional(
      Type.Array(Type.Union(CAPABILITIES.map((each) => Type.Literal(each)))),
    ),
    /** What a chat model takes of the parameters that differ between models. */
    abilities: Type.Optional(AbilitiesSchema),
    /**
     * Clients see only public models. A request for any other model gets the same error as one for
     * an unknown name.
     */
    visibility: Type.Optional(
      Type.Union([Type.Literal('public'), Type.Literal('hidden'), Type.Literal('deferred')]),
    ),
    price: PriceSchema,
    offers: Type.Optional(OffersSchema),
    routing: Type.Optional(RoutingSchema),
    pricing_provenance: Type.Optional(
      Type.Object(
        {
          source: Type.String({ description: 'Shown to clients: where the price comes from.' }),
          date: Type.String({ description: 'Shown to clients: the day of the price.' }),
          note: Type.Optional(
            Type.String({ description: 'Never shown to clients: how the price was checked.' }),
          ),
        },
        { additionalProperties: false },
      ),
    ),
  },
  { additionalProperties: false },
);

/**
 * One model of `weir.yaml`. If the catalogue has a model of the same id, the declaration needs only
 * the changed members.
 */
export const ModelOverrideSchema = Type.Object(
  { ...Type.Partial(ModelSchema).properties, id: ModelSchema.properties.id },
  { additionalProperties: false },
);

export type ModelDeclaration = Static<typeof ModelSchema>;
export type ModelOverride = Static<typeof ModelOverrideSchema>;
export type PriceDeclaration = Static<typeof PriceSchema>;
export type Offers = Static<typeof OffersSchema>;
export type Category = (typeof CATEGORIES)[number];
