/** Requests of every kind of generation in fal's words (@fal-ai/client: types/endpoints). */
import type {
  GenerationInput,
  ImageInput,
  SolidInput,
  SoundInput,
} from '../../catalogue/inputs.ts';
import { withoutUndefined } from '../../json/object.ts';
import { RetryableUpstreamError } from '../contract.ts';
import type { JsonObject } from './exchange.ts';
import { falVideoMembers, falVideoRequest } from './fal-video.ts';
import { pixelsOf, ratioOf } from './pixels.ts';

/**
 * Returns the path and the body of a submission. Throws RetryableUpstreamError if the model has no
 * endpoint for it, because another channel may have one.
 */
export function falRequest(
  model: string,
  input: GenerationInput,
): { path: string; body: JsonObject } {
  switch (input.scene) {
    case 'image':
      if (!isSized(model, input)) {
        throw new RetryableUpstreamError('server', `${input.resolution} is not offered`);
      }
      return { path: `/${imageEndpoint(model, input)}`, body: imageBody(model, input) };
    case 'video': {
      const request = falVideoRequest(model, input);
      if (request) return request;
      throw new RetryableUpstreamError('server', `${input.operation} is not offered`);
    }
    case 'music':
      return {
        path: `/${model}`,
        body: withoutUndefined({ prompt: input.prompt, tags: input.tags }),
      };
    case '3d': {
      // Some models have one endpoint for text and one for images. Their physical model contains
      // `{source}`.
      const path = model.replace('{source}', input.image ? 'image' : 'text');
      return { path: `/${path}`, body: solidBody(model, input) };
    }
    case 'audio':
      return { path: `/${model}`, body: soundBody(model, input) };
    default:
      return input satisfies never;
  }
}

/** Returns the members of the input that a submission to this model contains (P18). */
export function falMembers(model: string, input: GenerationInput): readonly string[] {
  switch (input.scene) {
    case 'image':
      return imageMembers(model, input);
    case 'video':
      return falVideoMembers(model, input);
    case 'music':
      return ['prompt', 'tags'];
    case '3d':
      return input.image === undefined ? ['prompt', 'seed'] : ['image', 'seed'];
    case 'audio':
      // ElevenLabs has no seed for sounds (ElevenLabs docs: Sound effects).
      return model.includes('elevenlabs') ? ['prompt', 'duration'] : ['prompt', 'duration', 'seed'];
    default:
      return input satisfies never;
  }
}

/** The endpoint for an image takes no prompt. Hunyuan has a name of its own for the image. */
function solidBody(model: string, { prompt, image, seed }: SolidInput): JsonObject {
  if (image === undefined) return withoutUndefined({ prompt, seed });
  const name = model.includes('hunyuan3d') ? 'input_image_url' : 'image_url';
  return withoutUndefined({ [name]: image, seed });
}

/**
 * ElevenLabs' models name the inputs `duration_seconds` and `text`. Other models name them
 * `seconds_total` and `prompt`.
 */
function soundBody(model: string, { prompt, duration, seed }: SoundInput): JsonObject {
  return model.includes('elevenlabs')
    ? { text: prompt, duration_seconds: duration }
    : withoutUndefined({ prompt, seconds_total: duration, seed });
}

/** Models whose input images go to an endpoint of their own. */
const HAS_EDIT_ENDPOINT = /nano-banana|gpt-image|grok-imagine-image|flux-2|seedream/;

/** Returns the endpoint of a model, which is another one if there are images to edit. */
function imageEndpoint(model: string, { images }: ImageInput): string {
  if (!images || !HAS_EDIT_ENDPOINT.test(model) || /\/edit(?:-image)?$/.test(model)) return model;
  const [, base] = /^(.*)\/text-to-image$/.exec(model) ?? [];
  if (base === undefined) return `${model}/edit`;
  return base.endsWith('gpt-image-1') ? `${base}/edit-image` : `${base}/edit`;
}

/** Models with the members `aspect_ratio` and `resolution` instead of `image_size`. */
const BY_RATIO = /nano-banana|gemini|imagen|ultra|kontext|grok/;

function imageBody(model: string, input: ImageInput): JsonObject {
  const mask = maskName(model);
  return withoutUndefined({
    prompt: input.prompt,
    // One image is the default, and some models have no such member.
    num_images: input.n > 1 ? input.n : undefined,
    negative_prompt: input.negative_prompt,
    seed: input.seed,
    output_format: input.output_format,
    image_urls: input.images,
    ...(mask === undefined ? {} : { [mask]: input.mask }),
    // fal's endpoints for `gpt-image` have no value `auto`. Without a value they use their default.
    quality: input.quality === 'auto' ? undefined : input.quality,
    background: takesBackground(model) ? input.background : undefined,
    ...(BY_RATIO.test(model)
      ? {
          aspect_ratio: isGrokEdit(model, input) ? undefined : ratioOf(input),
          resolution: resolutionFor(model, input),
        }
      : { image_size: imageSize(model, input) }),
  });
}

/** fal's endpoints for `gpt-image-2` have no member for the background. */
const takesBackground = (model: string) => /gpt-image-1/.test(model);

/** Grok's first model has a resolution only in edits, and writes it in small letters. */
function resolutionFor(model: string, input: ImageInput): string | undefined {
  if (!model.includes('grok')) return input.resolution?.toUpperCase();
  return isGrokEdit(model, input) || model.includes('/v2') ? input.resolution : undefined;
}

/** True if the model makes images of this resolution. Without a member for it, they have 1k. */
const isSized = (model: string, input: ImageInput) =>
  [undefined, '1k'].includes(input.resolution) ||
  (BY_RATIO.test(model) && resolutionFor(model, input) !== undefined);

/** The edits of Grok keep the shape of their source. */
const isGrokEdit = (model: string, { images }: ImageInput) =>
  model.includes('grok') && images !== undefined;

/** Returns the name of the mask; undefined if the model takes none. */
function maskName(model: string): string | undefined {
  if (/gpt-image-1(?![.])/.test(model)) return undefined;
  return model.includes('gpt-image-2') ? 'mask_url' : 'mask_image_url';
}

function imageMembers(model: string, input: ImageInput): readonly string[] {
  const takesWebp = !/flux|stable-diffusion/.test(model);
  // fal makes at most four images (fal docs: num_images).
  const takesCount = /flux-2/.test(model) ? input.n === 1 : input.n <= MAX_IMAGES;
  return [
    ...['prompt', 'negative_prompt', 'seed', 'images', 'size', 'quality'],
    ...(takesCount ? ['n'] : []),
    ...(takesWebp || input.output_format !== 'webp' ? ['output_format'] : []),
    ...(maskName(model) === undefined ? [] : ['mask']),
    ...(isGrokEdit(model, input) ? [] : ['aspect_ratio']),
    ...(takesBackground(model) ? ['background'] : []),
    ...(isSized(model, input) ? ['resolution'] : []),
  ];
}

const MAX_IMAGES = 4;

/**
 * Returns fal's `image_size`. If the input has only an aspect ratio, this is fal's name for the
 * ratio, or width and height if fal has no name for it. If the input has a size, this is width and
 * height, or the text `WIDTHxHEIGHT` for models with `gpt-image-1` in their names.
 */
function imageSize(model: string, { size, aspect_ratio = '' }: ImageInput): unknown {
  const pixels = pixelsOf({ ...(size === undefined ? {} : { size }), aspect_ratio });
  if (pixels.width === undefined) return undefined;
  if (size === undefined || size === 'auto') return PRESETS[aspect_ratio] ?? pixels;
  return model.includes('gpt-image-1') ? size : pixels;
}

/** Size names by aspect ratio (fal docs: image_size). */
const PRESETS: Readonly<Record<string, string>> = {
  '1:1': 'square_hd',
  '4:3': 'landscape_4_3',
  '16:9': 'landscape_16_9',
  '3:4': 'portrait_4_3',
  '9:16': 'portrait_16_9',
};
