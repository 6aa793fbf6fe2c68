import type { GenerationProtocolName } from '../protocol-names.ts';
import type { GenerationProtocol } from './contract.ts';

/** The providers of images, videos and music, by the name in a channel's `protocol`. */
export const GENERATION_PROTOCOLS: Readonly<
  Partial<Record<GenerationProtocolName, GenerationProtocol>>
> = {};
