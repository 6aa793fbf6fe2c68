/** Inputs of predictions in the words of each model (each model's page: API, input schema). */

import { parseSize } from '../../catalogue/image-tokens.ts';
import type { GenerationInput, ImageInput } from '../../catalogue/inputs.ts';
import { withoutUndefined } from '../../json/object.ts';
import { RetryableUpstreamError } from '../contract.ts';
import type { JsonObject } from './exchange.ts';
import { pixelsOf, ratioOf } from './pixels.ts';
import { replicateVideo, replicateVideoMembers } from './replicate-video.ts';

/** Returns the input of a prediction. Throws RetryableUpstreamError if the model has no place for a value. */
export function replicateInput(model: string, input: GenerationInput): JsonObject {
  switch (input.scene) {
    case 'image':
      return withoutUndefined(
        model.includes('gpt-image') ? tokenPricedImage(input) : image(model, input),
      );
    case 'video':
      return replicateVideo(model, input);
    case 'music':
      return withoutUndefined({ prompt: input.prompt, tags: input.tags });
    case '3d': {
      const { prompt, image: picture, seed } = input;
      return withoutUndefined(
        model.includes('trellis') && picture !== undefined
          ? { images: [picture], seed }
          : { prompt, image: picture, seed },
      );
    }
    case 'audio':
      return withoutUndefined({ prompt: input.prompt, duration: input.duration, seed: input.seed });
    default:
      return input satisfies never;
  }
}

/** Returns the members of the input that a prediction contains (P18). */
export function replicateMembers(model: string, input: GenerationInput): readonly string[] {
  switch (input.scene) {
    case 'image':
      return model.includes('gpt-image') ? tokenPricedMembers(input) : imageMembers(model, input);
    case 'video':
      return replicateVideoMembers(model, input);
    case 'music':
      return ['prompt', 'tags'];
    case '3d':
      return ['prompt', 'image', 'seed'];
    case 'audio':
      return ['prompt', 'duration', 'seed'];
    default:
      return input satisfies never;
  }
}

/** The ratios that FLUX models know by name. */
const FLUX_RATIOS = ['1:1', '16:9', '3:2', '2:3', '4:5', '5:4', '9:16', '3:4', '4:3'];
/** The longest edge, pixels. */
const MAX_FLUX_EDGE = { first: 1_440, second: 2_048 };

function image(model: string, input: ImageInput): JsonObject {
  const unsent = ['n', 'resolution'].find((name) => !imageMembers(model, input).includes(name));
  if (unsent) throw new RetryableUpstreamError('server', `${unsent} is not offered`);
  const common = {
    prompt: input.prompt,
    negative_prompt: input.negative_prompt,
    seed: input.seed,
    // All of these models name this format `jpg`.
    output_format: input.output_format === 'jpeg' ? 'jpg' : input.output_format,
  };
  if (model.includes('flux')) return { ...common, ...fluxShape(input) };
  const aspect_ratio = ratioOf(input);
  const resolution = input.resolution?.toUpperCase();
  if (model.includes('nano-banana')) {
    return { ...common, image_input: input.images, aspect_ratio, resolution };
  }
  const count = countName(model, input);
  const counted = count !== undefined && input.n > 1 ? { [count]: input.n } : {};
  const shaped = { ...common, ...counted, image: input.images?.[0], aspect_ratio };
  return takesResolution(model) ? { ...shaped, resolution } : shaped;
}

/** Returns the name of the number of images; undefined if the model makes only one. */
function countName(model: string, { images }: ImageInput): string | undefined {
  if (model.includes('grok')) return images === undefined ? 'n' : undefined;
  return /nano-banana|flux|ideogram|stable-diffusion/.test(model) ? undefined : 'num_outputs';
}

const takesResolution = (model: string) => !/grok|flux|ideogram|stable-diffusion/.test(model);

/** FLUX models ignore `width` and `height`, unless the ratio is `custom`. */
function fluxShape(input: ImageInput): JsonObject {
  const { size, aspect_ratio = '1:1' } = input;
  if (size === undefined && FLUX_RATIOS.includes(aspect_ratio)) return { aspect_ratio };
  return { aspect_ratio: 'custom', ...pixelsOf(input) };
}

function imageMembers(model: string, input: ImageInput): readonly string[] {
  const { n, images = [], resolution, size = '' } = input;
  // Without a member for the resolution, an image has 1k.
  const isSized = takesResolution(model) || [undefined, '1k'].includes(resolution);
  const common = [
    ...['prompt', ...(n === 1 || countName(model, input) ? ['n'] : [])],
    ...(isSized ? ['resolution'] : []),
  ];
  const one = images.length > 1 ? [] : ['images'];
  if (model.includes('nano-banana')) return [...common, 'size', 'aspect_ratio', 'images'];
  // An edit has the shape of its source.
  if (model.includes('grok')) {
    return [...common, ...one, ...(images.length > 0 ? [] : ['size', 'aspect_ratio'])];
  }
  if (model.includes('flux')) {
    const edge = Math.max(...Object.values(parseSize(size) ?? { none: 0 }));
    const longest = model.includes('flux-2') ? MAX_FLUX_EDGE.second : MAX_FLUX_EDGE.first;
    const sizes = edge <= longest ? ['size'] : [];
    return [...common, ...sizes, 'aspect_ratio', 'seed', 'output_format'];
  }
  if (model.includes('ideogram')) return [...common, 'size', 'aspect_ratio', 'seed'];
  const more = ['size', 'aspect_ratio', 'seed', 'negative_prompt', 'output_format'];
  return [...common, ...more, ...one];
}

/** Aspect ratios of OpenAI's models on Replicate, by size. Their longer edge has 1,536 pixels. */
const ASPECT_RATIOS: Readonly<Record<string, string>> = {
  '1024x1024': '1:1',
  '1536x1024': '3:2',
  '1024x1536': '2:3',
};

/**
 * OpenAI's models on Replicate. Throws RetryableUpstreamError for a size or a mask that they do not
 * take, because another channel may take it.
 */
function tokenPricedImage(input: ImageInput): JsonObject {
  const { size = 'auto', mask } = input;
  const aspect_ratio = ASPECT_RATIOS[size];
  if (aspect_ratio === undefined && size !== 'auto') {
    throw new RetryableUpstreamError('server', `size ${size} is not offered`);
  }
  if (mask !== undefined) throw new RetryableUpstreamError('server', 'mask is not offered');
  return {
    prompt: input.prompt,
    number_of_images: input.n,
    quality: input.quality,
    background: input.background,
    moderation: input.moderation,
    output_format: input.output_format,
    output_compression: input.output_compression,
    input_images: input.images,
    user_id: input.user,
    aspect_ratio,
  };
}

function tokenPricedMembers({ size = 'auto' }: ImageInput): readonly string[] {
  const isOffered = size === 'auto' || ASPECT_RATIOS[size] !== undefined;
  return [
    ...['prompt', 'n', 'quality', 'background', 'moderation', 'output_format'],
    ...['output_compression', 'images', ...(isOffered ? ['size'] : [])],
  ];
}
