import { type TObject, type TSchema, Type } from '@sinclair/typebox';
import { VIDEO_OPERATIONS, type VideoOperation } from '../inputs.ts';
import type { Offers } from '../schema.ts';
import { isTakenBy } from './video-operations.ts';

/** Parameters of every video model. Only some operations use the media parameters. */
const COMMON_PARAMETERS = [
  'prompt',
  'operation',
  'image_url',
  'image_urls',
  'image',
  'start_image',
  'end_image',
  'video_url',
  'audio_url',
  'task_id',
  'extend_at',
  'extend_times',
  'user',
];

/** A model takes one of these parameters only if its `offers.parameters` lists it. */
export const OPTIONAL_PARAMETERS = [
  'negative_prompt',
  'seed',
  'cfg_scale',
  'motion_strength',
  'fps',
  'size',
  'watermark',
  'effect_type',
  'reference_image_type',
  'kling_elements',
] as const;

/** A model takes the parameter of a row only if the model's offers have the member `offer`. */
const PARAMETERS_BY_OFFER: readonly [name: string, offer: keyof Offers][] = [
  ['duration', 'durations'],
  ['aspect_ratio', 'aspect_ratios'],
  ['resolution', 'resolutions'],
  ['output_audio', 'output_audio'],
  ['reference_images', 'max_reference_images'],
  ['video_urls', 'max_reference_videos'],
  ['audio_urls', 'max_reference_audios'],
];

/** All parameters of all video models. */
export const VIDEO_PARAMETERS: readonly string[] = [
  ...COMMON_PARAMETERS,
  ...OPTIONAL_PARAMETERS,
  ...PARAMETERS_BY_OFFER.map(([name]) => name),
];

const MAX_PROMPT_CHARS = 10_000;
/** The most characters of a value that names something: a user, task, size or effect. */
const MAX_NAME_CHARS = 512;
const MEDIA_DESCRIPTION = 'A URL, or a data: URL if the model takes inline data.';
const reference = (description: string) => Type.String({ minLength: 1, description });

const oneOf = (values: readonly (string | number)[], options: object = {}) =>
  Type.Union(
    values.map((value) => Type.Literal(value)),
    options,
  );

/**
 * `kling_elements` (spec: Video generation). It has 1 to 3 elements, and each element has 2 to 4
 * images.
 */
const KlingElements = Type.Array(
  Type.Object({
    name: Type.String({
      pattern: '^[A-Za-z0-9_-]{1,20}$',
      errorMessage: 'must be 1 to 20 letters, digits, _ or -',
    }),
    description: Type.Optional(Type.String({ maxLength: 100 })),
    element_input_urls: Type.Array(reference('Image of the element.'), {
      minItems: 2,
      maxItems: 4,
    }),
  }),
  { minItems: 1, maxItems: 3, description: 'The prompt refers to an element as @name.' },
);

function parameterSchema(name: string, offers: Offers): TSchema {
  switch (name) {
    case 'prompt':
      return Type.String({ minLength: 1, maxLength: offers.max_prompt_chars ?? MAX_PROMPT_CHARS });
    case 'operation':
      return oneOf(VIDEO_OPERATIONS);
    case 'image_urls':
      return Type.Array(reference('The first frame, then the last frame.'), {
        minItems: 1,
        // Only this operation has a last frame.
        maxItems: offers.operations?.includes('start-end-to-video') ? 2 : 1,
      });
    case 'reference_images':
      return references(offers.max_reference_images);
    case 'video_urls':
      return references(offers.max_reference_videos);
    case 'audio_urls':
      return references(offers.max_reference_audios);
    case 'reference_image_type':
      return oneOf(['asset', 'style']);
    case 'kling_elements':
      return KlingElements;
    case 'extend_at':
      return Type.Integer({ minimum: 0, maximum: 3_600, description: 'Seconds.' });
    case 'extend_times':
      return Type.String({ minLength: 1, maxLength: 20 });
    case 'duration':
      return oneOf(offers.durations ?? [], { default: offers.durations?.[0] });
    case 'aspect_ratio':
      return oneOf(offers.aspect_ratios ?? []);
    case 'resolution':
      return oneOf(offers.resolutions ?? [], { default: offers.resolutions?.[0] });
    case 'output_audio':
      return offers.fixed_output_audio && offers.output_audio !== undefined
        ? Type.Literal(offers.output_audio, { default: offers.output_audio })
        : Type.Boolean({ default: offers.output_audio });
    case 'watermark':
      return Type.Boolean();
    case 'fps':
      return Type.Integer({ minimum: 1, maximum: 120 });
    case 'seed':
      return Type.Integer({ minimum: 0, maximum: 4_294_967_295 });
    case 'cfg_scale':
      return Type.Number({ minimum: 0, maximum: 20 });
    case 'motion_strength':
      return Type.Number({ minimum: 0, maximum: 1 });
    case 'negative_prompt':
      return Type.String({ maxLength: MAX_PROMPT_CHARS });
    case 'image_url':
    case 'image':
    case 'start_image':
    case 'end_image':
    case 'video_url':
    case 'audio_url':
      return reference(MEDIA_DESCRIPTION);
    // The default case covers `size`, `effect_type`, `task_id`, `user` and other names.
    default:
      return Type.String({ minLength: 1, maxLength: MAX_NAME_CHARS });
  }
}

function references(max = 0): TSchema {
  return Type.Array(reference(MEDIA_DESCRIPTION), {
    minItems: 1,
    maxItems: max,
  });
}

/**
 * False if the offer is missing, an empty list, or 0. `output_audio: false` is an offer: `false` is
 * then the default of the parameter.
 */
function isOffered(offer: Offers[keyof Offers]): boolean {
  return Array.isArray(offer) ? offer.length > 0 : offer !== undefined && offer !== 0;
}

/** The schemas of a video model. */
export interface VideoSchemas {
  /** The parameters that at least one of the model's operations takes. */
  readonly published: TObject;
  /**
   * The published parameters, and the inputs of operations that the model lacks. With these, a
   * later check can refuse an input by saying that the operation does not use it.
   */
  readonly checked: TObject;
}

/** Returns the schemas of a video model, limited to its offers. */
export function videoSchemas(offers: Offers, operations: readonly VideoOperation[]): VideoSchemas {
  const names = [
    ...COMMON_PARAMETERS,
    ...PARAMETERS_BY_OFFER.filter(([, offer]) => isOffered(offers[offer])).map(([name]) => name),
    ...(offers.parameters ?? []),
  ];
  const checked: Record<string, TSchema> = {};
  const published: Record<string, TSchema> = {};
  for (const name of names) {
    const schema = parameterSchema(name, offers);
    const required = name === 'prompt' && !offers.prompt_optional;
    checked[name] = required ? schema : Type.Optional(schema);
    if (operations.some((operation) => isTakenBy(operation, name, offers))) {
      published[name] = name === 'operation' ? Type.Optional(oneOf(operations)) : checked[name];
    }
  }
  return { published: Type.Object(published), checked: Type.Object(checked) };
}
