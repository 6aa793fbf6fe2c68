/**
 * For each protocol of generations: which packages prove it, on how many payloads, and what no package
 * proves. The tests of this folder compare the numbers with what they check.
 */
import type { GenerationProtocolName } from '../../../src/protocols/names.ts';

export interface Witness {
  readonly provider: string;
  readonly protocol: GenerationProtocolName;
  /** Packages, with what each proves. */
  readonly proved_by: readonly string[];
  readonly payloads: {
    /** Different requests of Weir that have the type which a package declares. */
    readonly types: number;
    /** Requests of Weir that equal those of a package, for the same call. */
    readonly same: number;
    /** Calls of a package that the simulator answers as the package expects. */
    readonly simulator: number;
    /** Requests from documentation and from strangers' code that the simulator takes. */
    readonly requests: number;
    /** Answers from documentation and from strangers' code, read and charged as their source says. */
    readonly answers: number;
  };
  /** What no package proves. */
  readonly unproved: readonly string[];
}

const NOTHING = { types: 0, same: 0, simulator: 0 };

export const WITNESSES: readonly Witness[] = [
  {
    ...{ provider: 'OpenAI', protocol: 'openai-images' },
    proved_by: ['openai: types of images.generate', 'openai and @ai-sdk/openai: simulator, edits'],
    payloads: { types: 55, same: 2, simulator: 4, requests: 3, answers: 3 },
    unproved: [],
  },
  {
    ...{ provider: 'Azure OpenAI', protocol: 'azure-images' },
    proved_by: ['openai: types of images.generate'],
    payloads: { types: 55, same: 0, simulator: 0, requests: 1, answers: 1 },
    unproved: ['the paths of a deployment'],
  },
  {
    ...{ provider: 'Google', protocol: 'gemini' },
    proved_by: ['@google/genai: types, simulator', '@ai-sdk/google: requests, simulator'],
    payloads: { types: 65, same: 1, simulator: 2, requests: 2, answers: 5 },
    unproved: [],
  },
  {
    ...{ provider: 'Google', protocol: 'veo' },
    proved_by: ['@ai-sdk/google: requests, simulator'],
    payloads: { types: 0, same: 3, simulator: 3, requests: 2, answers: 3 },
    unproved: [
      'continuation of a video',
      '@google/genai 3.1 creates videos only on Vertex AI, so it proves nothing here',
    ],
  },
  {
    ...{ provider: 'xAI', protocol: 'xai' },
    proved_by: ['@ai-sdk/xai: requests, simulator'],
    payloads: { types: 0, same: 5, simulator: 5, requests: 5, answers: 8 },
    unproved: ['extensions of videos'],
  },
  {
    ...{ provider: 'Black Forest Labs', protocol: 'bfl' },
    proved_by: ['@ai-sdk/black-forest-labs: requests, simulator'],
    payloads: { types: 0, same: 1, simulator: 1, requests: 2, answers: 6 },
    unproved: [],
  },
  {
    ...{ provider: 'ByteDance', protocol: 'ark' },
    proved_by: ['@ai-sdk/bytedance: requests, simulator'],
    payloads: { types: 0, same: 3, simulator: 3, requests: 3, answers: 4 },
    unproved: ['reference videos'],
  },
  {
    ...{ provider: 'fal', protocol: 'fal' },
    proved_by: [
      '@fal-ai/client: types of the endpoints, simulator',
      '@ai-sdk/fal: requests, simulator',
      'fal.ai/models/…/llms.txt: endpoints that the package lacks',
    ],
    payloads: { types: 844, same: 1, simulator: 2, requests: 1, answers: 5 },
    unproved: ['range of cfg_scale of Kling 3 (documented for Kling 1)', 'tags of music'],
  },
  {
    ...{ provider: 'Runway', protocol: 'runway' },
    proved_by: ['@runwayml/sdk: types of all paths, simulator'],
    payloads: { types: 492, same: 1, simulator: 1, requests: 2, answers: 5 },
    unproved: ['length limits of prompts'],
  },
  {
    ...{ provider: 'Replicate', protocol: 'replicate' },
    proved_by: [
      'replicate: simulator',
      '@ai-sdk/replicate: requests, simulator',
      'replicate.com/<model>/versions/…/api: inputs of twelve models',
    ],
    payloads: { types: 678, same: 2, simulator: 3, requests: 1, answers: 5 },
    unproved: ['the inputs of models without a row in documented-predictions.ts'],
  },
  {
    ...{ provider: 'Kling', protocol: 'kling' },
    proved_by: ['@ai-sdk/klingai (its tests), kling-api, cometapi.com: requests, answers'],
    payloads: { ...NOTHING, requests: 5, answers: 4 },
    unproved: [
      'elements, and the search of a lost task',
      'errors, except through the documented codes',
    ],
  },
  {
    ...{ provider: 'Ideogram', protocol: 'ideogram' },
    proved_by: ['its documentation, @aigne/ideogram: requests, answers'],
    payloads: { ...NOTHING, requests: 2, answers: 3 },
    unproved: ['JSON instead of a form: strangers send it, the documentation has only forms'],
  },
  {
    ...{ provider: 'Stability AI', protocol: 'stability' },
    proved_by: ['litellm-core, stability-ai: requests, answers'],
    payloads: { ...NOTHING, requests: 2, answers: 2 },
    unproved: ['the simulator, by a package: the packages call only the provider’s own host'],
  },
  {
    ...{ provider: 'Midjourney', protocol: 'midjourney' },
    proved_by: ['novicezk/midjourney-proxy: requests, answers'],
    payloads: { ...NOTHING, requests: 2, answers: 4 },
    unproved: ['there is no official API; the protocol is that of midjourney-proxy'],
  },
  {
    ...{ provider: 'Suno', protocol: 'suno' },
    proved_by: ['Suno-API and the documents of five relays: requests, answers'],
    payloads: { ...NOTHING, requests: 3, answers: 7 },
    unproved: ['there is no official API; the protocol is that of relays'],
  },
];
