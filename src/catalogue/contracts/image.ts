import { type TObject, type TSchema, Type } from '@sinclair/typebox';
import { validator } from '../../errors/validate.ts';
import type { ImageFamily } from '../families.ts';
import type { GenerationInput, ImageInput } from '../inputs.ts';
import type { Offers } from '../schema.ts';
import { canonical, pick, refuse } from './check.ts';
import type { Body, GenerationContract } from './contract.ts';
import {
  checkEdges,
  checkTokenPricedSize,
  exactRatio,
  nearestRatio,
  nearestResolution,
} from './image-size.ts';
import { checkReference } from './media.ts';

/** Beside these each family takes parameters of its own. */
const COMMON = ['prompt', 'n', 'response_format', 'async', 'user'];

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
 * What would make another picture if it were left out silently is refused where a family does not
 * take it; everything else that a family does not know is left out (clients' defaults, misfits).
 */
const NEVER_SILENT = [
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

/** Families whose `size` is only another way to say `aspect_ratio` and `resolution` (rule 2). */
const SIZE_IS_ALIAS: readonly ImageFamily[] = [
  'gemini-image',
  'grok-image',
  'midjourney-image',
  'ideogram-image',
  'stable-diffusion-image',
];

/** What a call has that changes pictures (OpenAI docs: Create image edit). */
const EDITS = ['image', 'mask'];

const MAX_PROMPT_CHARS = 32_000;
/** The end user is named, not described. */
const MAX_USER_CHARS = 512;
const MAX_SEED = 4_294_967_294;
/** Edges of FLUX-type pictures, pixels (BFL docs). */
const FLUX_EDGES = { min: 256, max: 1_920 };

const oneOf = (values: readonly string[], more: object = {}) =>
  Type.Union(
    values.map((value) => Type.Literal(value)),
    more,
  );

const QUALITIES: Partial<Record<ImageFamily, readonly string[]>> = {
  'token-priced-image': ['auto', 'low', 'medium', 'high'],
  'classic-image': ['standard', 'hd'],
};

/** The schema of each parameter, as a model offers it. */
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
        [Type.String(), Type.Array(Type.String(), { minItems: 1, maxItems: inputsOf(offers) })],
        { errorMessage: `must be a picture, or 1 to ${inputsOf(offers)} of them` },
      );
    case 'mask':
      return Type.String();
    default:
      return Type.String({ maxLength: MAX_PROMPT_CHARS });
  }
}

/** The parameters that a model takes; one without ratios or resolutions does not take those. */
function parametersOf(family: ImageFamily, offers: Offers): string[] {
  const own = FAMILY_PARAMETERS[family].filter((name) => {
    if (name === 'resolution') return (offers.resolutions?.length ?? 0) > 0;
    if (name === 'aspect_ratio') return offers.aspect_ratios?.length !== 0;
    // A prompt-only model has nothing that `size` could be another name for.
    if (name === 'size' && SIZE_IS_ALIAS.includes(family)) {
      return offers.aspect_ratios?.length !== 0;
    }
    return true;
  });
  const inputs = inputsOf(offers) === 0 ? [] : family === 'token-priced-image' ? EDITS : ['image'];
  return [...COMMON, ...own, ...inputs, ...(offers.parameters ?? [])];
}

/** Pictures that a call may work from. */
function inputsOf({ max_input_images = 0 }: Offers): number {
  return max_input_images;
}

/** The contract of an image model (spec: Image generation, rules 1 to 7). */
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
      const given = canonical(body, ALIASES);
      if (typeof given['resolution'] === 'string') {
        given['resolution'] = given['resolution'].toLowerCase();
      }
      refuseForeign(id, names, given);
      const known = pick(given, names);
      check(known);
      if (known['async'] === true && !offers.async && !offers.by_task) {
        throw refuse('async', `${id} answers inline: it does not take async.`);
      }
      return normalise(family, offers, withImages(known));
    },
  };
}

function refuseForeign(id: string, names: readonly string[], given: Body): void {
  const foreign = NEVER_SILENT.find((name) => name in given && !names.includes(name));
  if (foreign) {
    const takes = names.filter((name) => ['size', 'aspect_ratio', 'resolution'].includes(name));
    const hint = takes.length > 0 ? `It takes ${takes.join(', ')}.` : undefined;
    throw refuse(foreign, `${id} does not take ${foreign}.`, hint);
  }
  if (given['stream'] === true) throw refuse('stream', 'Images are not streamed.');
}

/** The pictures under one name. Throws WeirError where one of them is unusable, or only a mask is there. */
function withImages({ image, mask, ...known }: Body): Checked {
  const images = image === undefined ? [] : ([image].flat() as string[]);
  for (const each of images) checkReference(each, 'image', 'image', true);
  if (typeof mask === 'string') {
    if (images.length === 0) throw refuse('mask', 'mask needs an image that it belongs to.');
    checkReference(mask, 'mask', 'image', true);
  }
  return {
    ...known,
    ...(images.length > 0 ? { images } : {}),
    ...(typeof mask === 'string' ? { mask } : {}),
  } as unknown as Checked;
}

/** A body that fits the schema. */
type Checked = { prompt: string } & Partial<Omit<ImageInput, 'prompt'>> & { async?: boolean };

function normalise(family: ImageFamily, offers: Offers, given: Checked): GenerationInput {
  const { async: _, size, ...rest } = given;
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
      // An aspect ratio says the shape; else the size does, and says the price as well.
      if (size !== undefined) checkEdges(size, FLUX_EDGES.min, FLUX_EDGES.max);
      if (given.aspect_ratio !== undefined && size === undefined) return common;
      return { ...common, size: size ?? '1024x1024' };
    default:
      return { ...common, ...shapeOf(offers, given) };
  }
}

/** Rule 2: `aspect_ratio` and `resolution`, where a client did not say them from its `size`. */
function shapeOf(offers: Offers, { size, aspect_ratio, resolution }: Checked) {
  const known = size === undefined || size === 'auto' ? undefined : size;
  const ratio =
    aspect_ratio ??
    (known &&
      (offers.aspect_ratios ? nearestRatio(known, offers.aspect_ratios) : exactRatio(known)));
  const resolutions = offers.resolutions ?? [];
  const asked = resolution ?? (known && nearestResolution(known, resolutions)) ?? resolutions[0];
  return {
    ...(ratio === undefined ? {} : { aspect_ratio: ratio }),
    ...(asked === undefined ? {} : { resolution: asked as '1k' | '2k' | '4k' }),
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
    rules.push('size is another way to say aspect_ratio; prefer aspect_ratio.');
  }
  if (offers.by_task) rules.push('Every call answers with a task to poll.');
  else if (offers.async) rules.push('With async the call answers with a task to poll.');
  if (offers.by_task || offers.async) {
    rules.push('A completed task has URLs only, whatever response_format says.');
  }
  return rules;
}
