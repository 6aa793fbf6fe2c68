import { Value } from '@sinclair/typebox/value';
import { builtInModels } from '../catalogue/built-in.ts';
import { FAMILY_PROTOCOLS } from '../catalogue/families.ts';
import { DEFAULT_MIN_SAMPLES } from '../catalogue/ranking.ts';
import type { ChannelProtocol } from '../protocols/names.ts';
import type { TransportName } from '../upstreams/contract.ts';
import { type Installation, installationOf } from './installation.ts';
import { type WeirYaml, WeirYamlSchema } from './schema.ts';

/**
 * The simulator's path for each protocol. A model uses the first of its protocols that has a path
 * here.
 */
const PATHS: Partial<Record<ChannelProtocol, string>> = {
  openai: '/openai/v1',
  anthropic: '/anthropic',
  cohere: '/cohere',
  deepl: '/deepl',
  'openai-images': '/openai/v1',
  gemini: '/google/v1beta',
  veo: '/google/v1beta',
  xai: '/xai/v1',
  stability: '/stability',
  ideogram: '/ideogram',
  bfl: '/bfl/v1',
  kling: '/kling',
  runway: '/runway',
  ark: '/ark/api/v3',
  midjourney: '/midjourney/mj',
  suno: '/suno',
  fal: '/fal',
};

/**
 * The ids that some models have at the simulator, because the protocol of the provider requires
 * these ids. Every other model has the id `<id>-sim` at the simulator.
 */
const PHYSICAL: Record<string, string> = {
  'gpt-image-2': 'gpt-image-2',
  'gpt-image-1': 'gpt-image-1',
  'dall-e-3': 'dall-e-3',
  'gemini-3-pro-image-preview': 'gemini-3-pro-image-preview',
  'gemini-2.5-flash-image': 'gemini-2.5-flash-image',
  'gemini-2.0-flash-preview-image-generation': 'gemini-2.0-flash-preview-image-generation',
  'grok-imagine-image': 'grok-imagine-image',
  'grok-imagine-image-quality': 'grok-imagine-image-2.0',
  'flux-1.1-pro': 'flux-pro-1.1',
  'flux-2-pro': 'flux-2-pro',
  midjourney: 'MID_JOURNEY',
  'ideogram-v3': 'ideogram-v3',
  'stable-diffusion-3.5-large': 'sd3.5-large',
  'veo-3.1': 'veo-3.1-generate-preview',
  'veo-3.1-fast': 'veo-3.1-fast-generate-preview',
  'kling-3.0': 'kling-v3',
  'kling-3.0-motion-control': 'kling-v3',
  'seedance-2.0': 'dreamina-seedance-2-0-260128',
  'seedance-2.0-fast': 'dreamina-seedance-2-0-fast-260128',
  'runway-gen4.5': 'gen4.5',
  'runway-gen4-turbo': 'gen4_turbo',
  'runway-aleph-2': 'aleph2',
  'grok-imagine-video': 'grok-imagine-video',
  'topaz-video-upscale': 'fal-ai/topaz/upscale/video',
  'deepl-translate': 'quality_optimized',
  suno_music: 'chirp-v5',
  suno_lyrics: 'chirp-v5',
  trellis: 'fal-ai/trellis',
  'hunyuan3d-2.1': 'fal-ai/hunyuan3d-v21',
  'tripo-2.5': 'tripo3d/tripo/v2.5/{source}-to-3d',
  'elevenlabs-sound-effects': 'fal-ai/elevenlabs/sound-effects/v2',
  'stable-audio-2.5': 'fal-ai/stable-audio-25/text-to-audio',
};

const LIMITS = {
  priority: 0,
  weight: 1,
  max_concurrency: 1_000,
  timeout_ms: 120_000,
  enabled: true,
};

/**
 * Returns the installation that Weir uses without a configuration file. `transport` carries the
 * requests to the simulator.
 */
export function demoInstallation(
  simulatorUrl: string,
  transport: TransportName = 'own',
): Installation {
  return installationOf(demoConfig(simulatorUrl), transport, { source: 'simulator' });
}

/** The cache with its defaults. `Value.Create` would take the default of the whole object, which is empty. */
const CACHE = Value.Parse(WeirYamlSchema.properties.cache, {});

/**
 * Returns the configuration that stands for a missing `weir.yaml`. The simulator serves every model of
 * the catalogue.
 */
export function demoConfig(simulatorUrl: string): WeirYaml {
  const served = new Map<ChannelProtocol, Record<string, string>>();
  for (const { id, family } of builtInModels()) {
    const protocol = FAMILY_PROTOCOLS[family].find((name) => PATHS[name] !== undefined);
    if (!protocol) throw new Error(`the simulator speaks no protocol of ${family}`);
    served.set(protocol, { ...served.get(protocol), [id]: PHYSICAL[id] ?? `${id}-sim` });
  }
  return {
    models: [],
    roles: {},
    ranking: { min_samples: DEFAULT_MIN_SAMPLES },
    cache: CACHE,
    own_keys: { fee_share: 0 },
    default_models: {},
    channels: [...served].map(([protocol, models]) => ({
      ...LIMITS,
      id: `demo-${protocol}`,
      protocol,
      base_url: simulatorUrl + PATHS[protocol],
      api_key: `sim-demo-${protocol}`,
      models,
    })),
  };
}
