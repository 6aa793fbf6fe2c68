import { type TObject, type TSchema, Type } from '@sinclair/typebox';
import { validator } from '../../errors/validate.ts';
import type { ImageFamily } from '../families.ts';
import type { GenerationInput, ImageInput } from '../inputs.ts';
import type { Offers } from '../schema.ts';
import {
  invalidParameter,
  type ModelName,
  pickParameters,
  refuseUnknown,
  resolveAliases,
} from './check.ts';
import type { Body, GenerationContract } from './contract.ts';
import { checkAgreement, shapeOf } from './image-shape.ts';
import { checkEdges, checkStep, checkTokenPricedSize } from './image-size.ts';
import { checkReference } from './media.ts';

/**
 * The parameters of every image model. Exception: a model that never returns a task does not take
 * `async`. Each family has further parameters (`FAMILY_PARAMETERS`).
 */
const COMMON_PARAMETERS = ['prompt', 'n', 'response_format', 'async', 'user'];

const FAMILY_PARAMETERS: Record<ImageFamily, readonly string[]> = {
  'token-priced-image': [
    'size',
    'quality',
    'background',
    'output_format',
    'output_compression',
    'moderation',
    'stream',
    'partial_images',
  ],
  'classic-image': ['size', 'quality', 'style'],
  'gemini-image': ['size', 'aspect_ratio', 'resolution'],
  'grok-image': ['size', 'aspect_ratio', 'resolution'],
  'flux-image': ['size', 'aspect_ratio', 'output_format', 'seed'],
  'midjourney-image': ['size', 'aspect_ratio'],
  'ideogram-image': ['size', 'aspect_ratio', 'negative_prompt', 'seed'],
  'stable-diffusion-image': ['size', 'aspect_ratio', 'output_format', 'negative_prompt', 'seed'],
};

const ALIASES = { compression: 'output_compression', images: 'image' };

/**
 * Families whose `size` is converted to `aspect_ratio` and `resolution` (spec: Image generation,
 * rule 2).
 */
const SIZE_IS_ALIAS: readonly ImageFamily[] = [
  'gemini-image',
  'grok-image',
  'midjourney-image',
  'ideogram-image',
  'stable-diffusion-image',
];

/** All parameters of all image models. */
const ALL_PARAMETERS = [
  ...new Set([...COMMON_PARAMETERS, ...Object.values(FAMILY_PARAMETERS).flat(), 'image', 'mask']),
];

/** The inputs of an image edit (OpenAI docs: Create image edit). */
const EDIT_PARAMETERS = ['image', 'mask'];

const MAX_PROMPT_CHARS = 32_000;
/** The most characters of `user`, the client's name for its end user. */
const MAX_USER_CHARS = 512;
const MAX_SEED = 4_294_967_294;
/** Ideogram's seeds have 31 bits (Ideogram docs: Generate v3). */
const MAX_SEEDS: Partial<Record<ImageFamily, number>> = { 'ideogram-image': 2_147_483_647 };
/** The shortest and the longest edge of a FLUX-type image, pixels (BFL docs). */
const FLUX_EDGES = { min: 256, max: 1_920 };

const oneOf = (values: readonly string[], options: object = {}) =>
  Type.Union(
    values.map((value) => Type.Literal(value)),
    options,
  );

const QUALITIES: Partial<Record<ImageFamily, readonly string[]>> = {
  'token-priced-image': ['auto', 'low', 'medium', 'high'],
  'classic-image': ['standard', 'hd'],
};

/** The schema of one parameter, limited to the model's offers. */
function parameterSchema(name: string, family: ImageFamily, offers: Offers): TSchema {
  switch (name) {
    case 'prompt':
      return Type.String({
        minLength: 1,
        maxLength: offers.max_prompt_chars ?? MAX_PROMPT_CHARS,
      });
    case 'n':
      return Type.Integer({ minimum: 1, maximum: offers.max_images ?? 1, default: 1 });
    case 'size':
      if (offers.sizes?.length) return oneOf(offers.sizes, { default: offers.sizes[0] });
      return Type.String({
        pattern: '^(auto|[1-9]\\d{0,4}x[1-9]\\d{0,4})$',
        errorMessage: 'must be WIDTHxHEIGHT in pixels, e.g. 1024x1024',
      });
    case 'aspect_ratio':
      if (offers.aspect_ratios?.length) return oneOf(offers.aspect_ratios);
      return Type.String({
        pattern: '^[1-9]\\d{0,3}:[1-9]\\d{0,3}$',
        errorMessage: 'must be W:H, e.g. 16:9',
      });
    case 'resolution':
      return oneOf(offers.resolutions ?? [], { default: offers.resolutions?.[0] });
    case 'quality': {
      const qualities = QUALITIES[family] ?? [];
      return oneOf(qualities, { default: qualities[0] });
    }
    case 'style':
      return oneOf(['vivid', 'natural'], { default: 'vivid' });
    case 'response_format':
      return oneOf(['url', 'b64_json'], { default: 'url' });
    case 'async':
      return Type.Boolean({ default: false });
    case 'background':
      return oneOf(['auto', 'transparent', 'opaque']);
    case 'output_format':
      // BFL docs: output_format.
      return oneOf(family === 'flux-image' ? ['jpeg', 'png'] : ['png', 'jpeg', 'webp']);
    case 'output_compression':
      return Type.Integer({ minimum: 0, maximum: 100, description: 'Percent.' });
    case 'moderation':
      return oneOf(['auto', 'low']);
    case 'stream':
      return Type.Boolean({ default: false });
    case 'partial_images':
      return Type.Integer({ minimum: 0, maximum: 3 });
    case 'seed':
      return Type.Integer({ minimum: 0, maximum: MAX_SEEDS[family] ?? MAX_SEED });
    case 'user':
      return Type.String({ maxLength: MAX_USER_CHARS });
    case 'image':
      return Type.Union(
        [
          Type.String(),
          Type.Array(Type.String(), { minItems: 1, maxItems: maxInputImages(offers) }),
        ],
        { errorMessage: `must be an image, or an array of 1 to ${maxInputImages(offers)} images` },
      );
    case 'mask':
      return Type.String();
    default:
      return Type.String({ maxLength: MAX_PROMPT_CHARS });
  }
}

/**
 * Returns the parameters of a model. A model without ratios or resolutions does not take
 * `aspect_ratio` or `resolution`.
 */
function parametersOf(family: ImageFamily, offers: Offers): string[] {
  const familyParameters = FAMILY_PARAMETERS[family].filter((name) => {
    if (name === 'resolution') return (offers.resolutions?.length ?? 0) > 0;
    if (name === 'aspect_ratio') return offers.aspect_ratios?.length !== 0;
    // If the model offers no ratios, `size` cannot be converted to a ratio.
    if (name === 'size' && SIZE_IS_ALIAS.includes(family)) {
      return offers.aspect_ratios?.length !== 0;
    }
    return true;
  });
  const inputs =
    maxInputImages(offers) === 0
      ? []
      : family === 'token-priced-image'
        ? EDIT_PARAMETERS
        : ['image'];
  const common = COMMON_PARAMETERS.filter((name) => name !== 'async' || mayBeTask(offers));
  return [...common, ...familyParameters, ...inputs, ...(offers.parameters ?? [])];
}

/** True if a call may return a task. */
const mayBeTask = (offers: Offers) => offers.async === true || offers.by_task === true;

/** Returns how many input images a call may have. */
function maxInputImages({ max_input_images = 0 }: Offers): number {
  return max_input_images;
}

/** Returns the contract of an image model (spec: Image generation, rules 1 to 7). */
export function imageContract(
  model: ModelName & { readonly family: ImageFamily },
  offers: Offers,
): GenerationContract {
  const { family, id } = model;
  const names = parametersOf(family, offers);
  const properties: Record<string, TSchema> = {};
  for (const name of names) {
    const schema = parameterSchema(name, family, offers);
    properties[name] = name === 'prompt' ? schema : Type.Optional(schema);
  }
  const schema: TObject = Type.Object(properties);
  const check = validator(schema);
  const parameters = { published: names, aliases: ALIASES, elsewhere: ALL_PARAMETERS };
  return {
    schema,
    operations: [],
    rules: rulesOf(family, offers),
    accept(body: Body): GenerationInput {
      if (body['stream'] === true) checkStream(id, names, body);
      if (body['async'] === true && !mayBeTask(offers)) {
        throw invalidParameter(
          'async',
          `${id} does not take async: true; it returns every image in the response.`,
        );
      }
      refuseUnknown(model, body, parameters);
      const given = resolveAliases(body, ALIASES);
      if (typeof given['resolution'] === 'string') {
        given['resolution'] = given['resolution'].toLowerCase();
      }
      const known = pickParameters(given, names);
      check(known);
      return normalise(family, offers, collectImages(known));
    },
  };
}

/**
 * Throws WeirError if the model makes no streams, or if a parameter cannot go with them. Only one image
 * can be streamed (theopenco/llmgateway issue 3963).
 */
function checkStream(id: string, names: readonly string[], { n, async }: Body): void {
  if (!names.includes('stream')) {
    throw invalidParameter(
      'stream',
      `${id} does not stream images.`,
      'Leave it out: the answer has the whole images. For progress, send async: true and read GET /v1/tasks/{id}/events.',
    );
  }
  if (async === true) {
    throw invalidParameter('async', 'async cannot go with stream.', 'Send only one of them.');
  }
  if (n !== undefined && n !== null && n !== 1) {
    throw invalidParameter('n', 'n must be 1 with stream.', 'Send one call for each image.');
  }
}

/**
 * Moves `image`, which is one image or a list, to the list `images`. Throws WeirError if an image
 * is not a public URL or inline data, or if `mask` comes without an image.
 */
function collectImages({ image, mask, ...known }: Body): CheckedBody {
  const images = image === undefined ? [] : ([image].flat() as string[]);
  for (const reference of images) checkReference(reference, 'image', 'image', true);
  if (typeof mask === 'string') {
    if (images.length === 0) throw invalidParameter('mask', 'mask requires image.');
    checkReference(mask, 'mask', 'image', true);
  }
  return {
    ...known,
    ...(images.length > 0 ? { images } : {}),
    ...(typeof mask === 'string' ? { mask } : {}),
  } as unknown as CheckedBody;
}

/** A body that passed the schema. */
type CheckedBody = { prompt: string } & Partial<Omit<ImageInput, 'prompt' | 'stream'>> & {
    stream?: boolean;
    async?: boolean;
  };

function normalise(family: ImageFamily, offers: Offers, given: CheckedBody): GenerationInput {
  const { async: _, stream, partial_images, size, ...rest } = given;
  // Partial images exist only in streams. Without a stream, they are neither requested nor priced.
  const streamed = stream
    ? { stream: true as const, ...(partial_images === undefined ? {} : { partial_images }) }
    : {};
  const scene = 'image' as const;
  const common = { n: 1, response_format: 'url' as const, ...rest, ...streamed, scene };
  switch (family) {
    case 'token-priced-image':
      if (size !== undefined) checkTokenPricedSize(size);
      return { ...common, size: size ?? 'auto', quality: given.quality ?? 'auto' };
    case 'classic-image':
      return {
        ...common,
        size: size ?? offers.sizes?.[0] ?? '1024x1024',
        quality: given.quality ?? 'standard',
        style: given.style ?? 'vivid',
      };
    case 'flux-image':
      // `size` sets the shape and the price. Without `size`, `aspect_ratio` sets only the shape.
      if (size === undefined && given.aspect_ratio !== undefined) return common;
      if (size !== undefined) checkFluxSize(size, given.aspect_ratio, offers);
      return { ...common, size: size ?? '1024x1024' };
    default:
      return { ...common, ...shapeOf(offers, given) };
  }
}

function checkFluxSize(size: string, aspect_ratio: string | undefined, offers: Offers): void {
  checkEdges(size, FLUX_EDGES.min, FLUX_EDGES.max);
  checkStep(size, offers.size_step ?? 1);
  checkAgreement(size, aspect_ratio);
}

function rulesOf(family: ImageFamily, offers: Offers): string[] {
  const rules: string[] = [];
  if (family === 'token-priced-image' && !offers.sizes) {
    rules.push(
      'size is auto or WIDTHxHEIGHT: multiples of 16, longest edge 3840, ratio at most 3:1, 655360 to 8294400 pixels.',
    );
  }
  if (SIZE_IS_ALIAS.includes(family) && offers.aspect_ratios?.length !== 0) {
    rules.push('size is converted to aspect_ratio; prefer aspect_ratio.');
    rules.push('size and aspect_ratio must not contradict each other.');
  }
  if (offers.by_task) rules.push('Every call returns a task to poll.');
  else if (offers.async) rules.push('With async: true the call returns a task to poll.');
  if (offers.by_task || offers.async) {
    rules.push('The results of a task are URLs; response_format does not change that.');
  }
  return rules;
}
