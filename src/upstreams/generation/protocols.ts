import type { GenerationProtocolName } from '../protocol-names.ts';
import { bflProtocol } from './bfl.ts';
import type { GenerationProtocol } from './contract.ts';
import { falProtocol } from './fal.ts';
import { midjourneyProtocol } from './midjourney.ts';
import { azureImagesProtocol, openaiImagesProtocol } from './openai-images.ts';
import { sunoProtocol } from './suno.ts';

/** The providers of images, videos and music, by the name in a channel's `protocol`. */
export const GENERATION_PROTOCOLS: Readonly<
  Partial<Record<GenerationProtocolName, GenerationProtocol>>
> = {
  'openai-images': openaiImagesProtocol,
  'azure-images': azureImagesProtocol,
  bfl: bflProtocol,
  midjourney: midjourneyProtocol,
  suno: sunoProtocol,
  fal: falProtocol,
};
