import { type TObject, type TSchema, Type } from '@sinclair/typebox';
import { validator } from '../../errors/validate.ts';
import type { ImageFamily } from '../families.ts';
import type { GenerationInput, ImageInput } from '../inputs.ts';
import type { Offers } from '../schema.ts';
import { invalidParameter, pickParameters, resolveAliases } from './check.ts';
import type { Body, GenerationContract } from './contract.ts';
import {
  checkEdges,
  checkTokenPricedSize,
  exactRatio,
  nearestRatio,
  nearestResolution,
} from './image-size.ts';
import { checkReference } from './media.ts';

/**
 * Every family takes these parameters. Each family has further parameters (`FAMILY_PARAMETERS`).
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

/**
 * If a call has one of these parameters and its model does not take the parameter, the call is
 * refused, because without the parameter the image would be different. Any other unknown parameter
 * is ignored, because SDKs send default values that a family may not know.
 */
const REFUSED_IF_FOREIGN = [
  'image',
  'mask',
  'aspect_ratio',
  'resolution',
  'background',
  'output_format',
  'output_compression',
  'moderation',
  'partial_images',
  'negative_prompt',
  'seed',
];

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

/** The inputs of an image edit (OpenAI docs: Create image edit). */
const EDIT_PARAMETERS = ['image', 'mask'];

const MAX_PROMPT_CHARS = 32_000;
/** The most characters of `user`, the client's name for its end user. */
const MAX_USER_CHARS = 512;
const MAX_SEED = 4_294_967_294;
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
      return oneOf(['png', 'jpeg', 'webp']);
    case 'output_compression':
      return Type.Integer({ minimum: 0, maximum: 100, description: 'Percent.' });
    case 'moderation':
      return oneOf(['auto', 'low']);
    case 'partial_images':
      return Type.Integer({ minimum: 0, maximum: 3 });
    case 'seed':
      return Type.Integer({ minimum: 0, maximum: MAX_SEED });
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
  return [...COMMON_PARAMETERS, ...familyParameters, ...inputs, ...(offers.parameters ?? [])];
}

/** Returns how many input images a call may have. */
function maxInputImages({ max_input_images = 0 }: Offers): number {
  return max_input_images;
}

/** Returns the contract of an image model (spec: Image generation, rules 1 to 7). */
export function imageContract(family: ImageFamily, id: string, offers: Offers): GenerationContract {
  const names = parametersOf(family, offers);
  const properties: Record<string, TSchema> = {};
  for (const name of names) {
    const schema = parameterSchema(name, family, offers);
    properties[name] = name === 'prompt' ? schema : Type.Optional(schema);
  }
  const schema: TObject = Type.Object(properties);
  const check = validator(schema);
  return {
    schema,
    operations: [],
    rules: rulesOf(family, offers),
    accept(body: Body): GenerationInput {
      const given = resolveAliases(body, ALIASES);
      if (typeof given['resolution'] === 'string') {
        given['resolution'] = given['resolution'].toLowerCase();
      }
      refuseForeignParameters(id, names, given);
      const known = pickParameters(given, names);
      check(known);
      if (known['async'] === true && !offers.async && !offers.by_task) {
        throw invalidParameter(
          'async',
          `${id} does not take async: true; it returns every image in the response.`,
        );
      }
      return normalise(family, offers, collectImages(known));
    },
  };
}

function refuseForeignParameters(id: string, names: readonly string[], given: Body): void {
  const foreign = REFUSED_IF_FOREIGN.find((name) => name in given && !names.includes(name));
  if (foreign) {
    const shapeParameters = names.filter((name) =>
      ['size', 'aspect_ratio', 'resolution'].includes(name),
    );
    const hint =
      shapeParameters.length > 0 ? `For the shape, use ${shapeParameters.join(', ')}.` : undefined;
    throw invalidParameter(foreign, `${id} does not take ${foreign}.`, hint);
  }
  if (given['stream'] === true)
    throw invalidParameter('stream', 'stream is not supported for images.');
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
type CheckedBody = { prompt: string } & Partial<Omit<ImageInput, 'prompt'>> & {
    async?: boolean;
    partial_images?: number;
  };

function normalise(family: ImageFamily, offers: Offers, given: CheckedBody): GenerationInput {
  // Partial images exist only in streams, and Weir streams no images. So they are neither requested
  // nor priced.
  const { async: _, partial_images: __, size, ...rest } = given;
  const common = { n: 1, response_format: 'url' as const, ...rest, scene: 'image' as const };
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
      if (size !== undefined) checkEdges(size, FLUX_EDGES.min, FLUX_EDGES.max);
      if (given.aspect_ratio !== undefined && size === undefined) return common;
      return { ...common, size: size ?? '1024x1024' };
    default:
      return { ...common, ...shapeOf(offers, given) };
  }
}

/**
 * Applies rule 2 of the spec (Image generation): if `aspect_ratio` or `resolution` is missing, it
 * is derived from `size`.
 */
function shapeOf(offers: Offers, { size, aspect_ratio, resolution }: CheckedBody) {
  const known = size === undefined || size === 'auto' ? undefined : size;
  const ratio =
    aspect_ratio ??
    (known &&
      (offers.aspect_ratios ? nearestRatio(known, offers.aspect_ratios) : exactRatio(known)));
  const resolutions = offers.resolutions ?? [];
  const chosen = resolution ?? (known && nearestResolution(known, resolutions)) ?? resolutions[0];
  return {
    ...(ratio === undefined ? {} : { aspect_ratio: ratio }),
    ...(chosen === undefined ? {} : { resolution: chosen as '1k' | '2k' | '4k' }),
  };
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
  }
  if (offers.by_task) rules.push('Every call returns a task to poll.');
  else if (offers.async) rules.push('With async: true the call returns a task to poll.');
  if (offers.by_task || offers.async) {
    rules.push('The results of a task are URLs; response_format does not change that.');
  }
  return rules;
}
