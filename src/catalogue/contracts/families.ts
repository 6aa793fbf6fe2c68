import type { GenerationFamily } from '../families.ts';
import type { Offers } from '../schema.ts';
import type { GenerationContract } from './contract.ts';
import { imageContract } from './image.ts';
import { musicContract } from './music.ts';
import { solidContract } from './solid.ts';
import { soundContract } from './sound.ts';
import { videoContract } from './video.ts';
import { START_IMAGES } from './video-operations.ts';

const GEMINI_RATIOS = ['1:1', '2:3', '3:2', '3:4', '4:3', '4:5', '5:4', '9:16', '16:9', '21:9'];

/** What the models of each family offer. The declaration of a model can replace single members. */
const FAMILY_OFFERS: Record<GenerationFamily, Offers> = {
  'token-priced-image': { max_images: 10, async: true, max_input_images: 16 },
  'classic-image': {
    max_images: 1,
    max_prompt_chars: 4_000,
    sizes: ['1024x1024', '1792x1024', '1024x1792'],
  },
  'gemini-image': { max_images: 4, aspect_ratios: GEMINI_RATIOS, max_input_images: 3 },
  'grok-image': {
    max_images: 10,
    max_input_images: 1,
    aspect_ratios: ['1:1', '16:9', '9:16', '4:3', '3:4', '3:2', '2:3', '2:1', '1:2'],
    resolutions: ['1k', '2k'],
  },
  'flux-image': { max_images: 1, async: true, size_step: 32 },
  'midjourney-image': { max_images: 1, by_task: true },
  'ideogram-image': {
    max_images: 8,
    by_task: true,
    aspect_ratios: [
      ...['1:1', '16:9', '9:16', '3:2', '2:3', '4:3', '3:4', '4:5'],
      ...['5:4', '1:2', '2:1', '1:3', '3:1', '10:16', '16:10'],
    ],
  },
  'stable-diffusion-image': {
    max_images: 4,
    max_prompt_chars: 10_000,
    aspect_ratios: ['1:1', '16:9', '9:16', '3:2', '2:3', '5:4', '4:5', '21:9', '9:21'],
  },
  'veo-video': {
    operations: ['text-to-video', 'image-to-video', 'start-end-to-video', 'reference-to-video'],
    durations: [8, 4, 6],
    aspect_ratios: ['16:9', '9:16'],
    resolutions: ['720p', '1080p', '4k'],
    parameters: ['negative_prompt', 'reference_image_type'],
    output_audio: true,
    max_reference_images: 3,
    inline_inputs: true,
  },
  'kling-video': {
    operations: ['text-to-video', 'image-to-video', 'start-end-to-video'],
    durations: [5, 10],
    aspect_ratios: ['16:9', '9:16', '1:1'],
    resolutions: ['720p', '1080p'],
    parameters: ['negative_prompt', 'cfg_scale', 'watermark'],
    output_audio: false,
    max_prompt_chars: 2_500,
    inline_inputs: true,
    // Kling's videos have the shape of their first frame.
    not_with_image: ['aspect_ratio'],
    not_with_source: ['aspect_ratio', 'duration', 'output_audio'],
  },
  'multimodal-reference-video': {
    operations: [
      'text-to-video',
      'image-to-video',
      'start-end-to-video',
      'reference-to-video',
      'video-to-video',
    ],
    durations: [5, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
    aspect_ratios: ['16:9', '4:3', '1:1', '3:4', '9:16', '21:9'],
    resolutions: ['720p', '480p'],
    parameters: ['seed', 'watermark'],
    output_audio: true,
    max_reference_images: 9,
    max_reference_videos: 3,
    max_reference_audios: 3,
    inline_inputs: true,
    // Seedance's videos have the shape of their first frame.
    not_with_image: ['aspect_ratio'],
  },
  'runway-video': {
    operations: ['text-to-video', 'image-to-video'],
    durations: [5, 10],
    aspect_ratios: ['16:9', '9:16', '1:1'],
    parameters: ['seed'],
    max_prompt_chars: 1_000,
    inline_inputs: true,
    // Aleph's results have the shape and the length of their source.
    not_with_source: ['aspect_ratio', 'duration', ...START_IMAGES],
  },
  'grok-video': {
    operations: ['text-to-video', 'image-to-video', 'reference-to-video', 'video-to-video'],
    durations: [6, 1, 2, 3, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15],
    aspect_ratios: ['16:9', '9:16', '1:1', '4:3', '3:4', '3:2', '2:3'],
    resolutions: ['720p', '480p'],
    max_reference_images: 7,
    inline_inputs: true,
    // xAI's edits keep the shape of their source, and take nothing but the source and a prompt.
    not_with_source: ['aspect_ratio', 'resolution', 'reference_images', ...START_IMAGES],
  },
  'upscaler-video': {
    operations: ['video-to-video'],
    parameters: ['fps'],
    prompt_optional: true,
    max_source_seconds: 60,
    not_with_source: [...START_IMAGES],
  },
  'suno-music': { actions: ['MUSIC', 'LYRICS'], songs: 2 },
  'mesh-3d': { inline_inputs: true },
  'sound-effects': { durations: [5, 1, 2, 3, 4, 6, 7, 8, 9, 10, 15, 20, 22] },
};

/** Returns the offers of a model. If `declared` lacks a member, the family's value applies. */
export function offersOf(family: GenerationFamily, declared: Offers = {}): Offers {
  return { ...FAMILY_OFFERS[family], ...declared };
}

/** Returns the contract of a model: its family's contract, limited to the model's offers. */
export function contractOf(
  family: GenerationFamily,
  id: string,
  offers: Offers,
): GenerationContract {
  switch (family) {
    case 'token-priced-image':
    case 'classic-image':
    case 'gemini-image':
    case 'grok-image':
    case 'flux-image':
    case 'midjourney-image':
    case 'ideogram-image':
    case 'stable-diffusion-image':
      return imageContract({ family, id }, offers);
    case 'veo-video':
    case 'kling-video':
    case 'multimodal-reference-video':
    case 'runway-video':
    case 'grok-video':
    case 'upscaler-video':
      return videoContract({ family, id }, offers);
    case 'suno-music':
      return musicContract({ family, id }, offers);
    case 'mesh-3d':
      return solidContract({ family, id }, offers);
    case 'sound-effects':
      return soundContract({ family, id }, offers);
    default:
      return family satisfies never;
  }
}
