import type { GenerationProtocolName } from '../../protocols/names.ts';
import { arkProtocol } from './ark.ts';
import { bflProtocol } from './bfl.ts';
import type { GenerationProtocol } from './contract.ts';
import { falProtocol } from './fal.ts';
import { geminiProtocol } from './gemini.ts';
import { ideogramProtocol } from './ideogram.ts';
import { klingProtocol } from './kling.ts';
import { midjourneyProtocol } from './midjourney.ts';
import { azureImagesProtocol, openaiImagesProtocol } from './openai-images.ts';
import { withEndingPolls } from './refused-poll.ts';
import { replicateProtocol } from './replicate.ts';
import { runwayProtocol } from './runway.ts';
import { stabilityProtocol } from './stability.ts';
import { sunoProtocol } from './suno.ts';
import { veoProtocol } from './veo.ts';
import { xaiProtocol } from './xai.ts';

/** The implementation for each value of a channel's `protocol`. */
export const GENERATION_PROTOCOLS: Readonly<Record<GenerationProtocolName, GenerationProtocol>> = {
  'openai-images': openaiImagesProtocol,
  'azure-images': azureImagesProtocol,
  gemini: geminiProtocol,
  veo: withEndingPolls(veoProtocol),
  xai: withEndingPolls(xaiProtocol),
  stability: stabilityProtocol,
  ideogram: ideogramProtocol,
  bfl: withEndingPolls(bflProtocol),
  kling: withEndingPolls(klingProtocol),
  runway: withEndingPolls(runwayProtocol),
  ark: withEndingPolls(arkProtocol),
  midjourney: withEndingPolls(midjourneyProtocol),
  suno: withEndingPolls(sunoProtocol),
  fal: withEndingPolls(falProtocol),
  replicate: withEndingPolls(replicateProtocol),
};
