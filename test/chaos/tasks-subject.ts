/**
 * The providers of the kill matrix. Most are generation protocols of Weir, over HTTP to the
 * simulator. The others are kinds of provider that no protocol has, e.g. one that recognizes a
 * repeated submission.
 */
import type { GenerationProtocolName } from '../../src/protocols/names.ts';
import { type RunningSimulator, startSimulator } from '../support/simulator.ts';
import { startChaosProvider, TRAITS, type Trait } from './tasks-provider.ts';

export interface Subject extends Trait {
  /** Starts the provider of one case. */
  open(): Promise<Provider>;
}

export interface Provider {
  /** The text of a weir.yaml. */
  config: string;
  env: Record<string, string>;
  /** The client's create call. If `fails` is true, the job must fail. */
  create(fails: boolean): { path: string; body: object };
  /** Number of submissions that the provider accepted. */
  accepted(): Promise<number>;
  /** The simulator's books of this provider; undefined if it is none of the simulated ones. */
  books?: { simulator_url: string; accounts: readonly string[] };
  stop(): Promise<void>;
}

const PATHS = { image: '/v1/images/generations', video: '/v1/videos/generations' };

const kinds: Subject[] = TRAITS.map((trait) => ({
  ...trait,
  async open() {
    const provider = startChaosProvider(trait);
    const scene = trait.by_job ? 'video' : 'image';
    const [protocol, model] = trait.by_job ? ['veo', 'veo-3.1'] : ['openai-images', 'dall-e-3'];
    return {
      config: configOf(protocol, provider.url, model, 'physical', 'k'),
      env: { CHAOS_TRAIT: trait.name },
      create: (fails) => ({
        path: PATHS[scene],
        body: { model, prompt: fails ? 'fail' : 'a cat' },
      }),
      async accepted() {
        return [...provider.accepted().values()].reduce((sum, each) => sum + each, 0);
      },
      stop: () => provider.stop(),
    };
  },
}));

interface Spoken {
  readonly protocol: GenerationProtocolName;
  /** Path prefix of the protocol at the simulator. */
  readonly base: string;
  readonly model: string;
  readonly physical: string;
  readonly scene: 'images' | 'videos' | 'music';
  readonly inline?: true;
  readonly finds?: true;
}

/** One row for each protocol, and for each way in which the protocol returns results. */
const SPOKEN: readonly Spoken[] = [
  spoken('openai-images', '/openai/v1', 'gpt-image-1', 'gpt-image-1', 'images', 'inline'),
  spoken('azure-images', '/azure', 'gpt-image-1', 'pictures', 'images', 'inline'),
  spoken('gemini', '/google/v1beta', 'gemini-2.5-flash-image', 'image', 'images', 'inline'),
  spoken('stability', '/stability', 'stable-diffusion-3.5-large', 'sd3.5', 'images', 'inline'),
  spoken('ideogram', '/ideogram', 'ideogram-v3', 'ideogram-v3', 'images', 'inline'),
  spoken('xai', '/xai/v1', 'grok-imagine-image', 'grok-imagine-image', 'images', 'inline'),
  spoken('xai', '/xai/v1', 'grok-imagine-video', 'grok-imagine-video', 'videos'),
  spoken('veo', '/google/v1beta', 'veo-3.1', 'veo-3.1-generate-preview', 'videos'),
  spoken('bfl', '/bfl/v1', 'flux-2-pro', 'flux-2-pro', 'images'),
  spoken('kling', '/kling', 'kling-3.0', 'kling-v3', 'videos', 'finds'),
  spoken('runway', '/runway', 'runway-gen4.5', 'gen4.5', 'videos'),
  spoken('ark', '/ark/api/v3', 'seedance-2.0', 'seedance-2-0', 'videos'),
  spoken('midjourney', '/midjourney/mj', 'midjourney', 'MID_JOURNEY', 'images', 'finds'),
  spoken('suno', '/suno', 'suno_music', 'chirp-v5', 'music'),
  spoken('fal', '/fal', 'veo-3.1', 'fal-ai/veo3.1', 'videos'),
  spoken('replicate', '/replicate/v1', 'flux-2-pro', 'owner/model', 'images'),
];

function spoken(
  protocol: GenerationProtocolName,
  base: string,
  model: string,
  physical: string,
  scene: Spoken['scene'],
  trait?: 'inline' | 'finds',
): Spoken {
  return { protocol, base, model, physical, scene, ...(trait ? { [trait]: true } : {}) };
}

let simulator: Promise<RunningSimulator> | undefined;

/** The simulator of all cases. It survives every kill. */
function sharedSimulator(): Promise<RunningSimulator> {
  simulator ??= startSimulator();
  return simulator;
}

export async function stopSharedSimulator(): Promise<void> {
  const running = await simulator;
  simulator = undefined;
  await running?.stop();
}

const protocols: Subject[] = SPOKEN.map((each) => ({
  name: each.protocol === 'xai' ? `xai ${each.scene}` : each.protocol,
  by_job: !each.inline,
  idempotent: false,
  finds: each.finds ?? false,
  async open() {
    const { url } = await sharedSimulator();
    const account = crypto.randomUUID();
    const { protocol, model, physical, scene } = each;
    return {
      config: configOf(protocol, url + each.base, model, physical, `sim-${account}`),
      env: {},
      create: (fails) => ({
        path: `/v1/${scene}/generations`,
        body: {
          model,
          prompt: `A cat [[sim task_ms=200${fails ? ' fail=moderation' : ''}]]`,
        },
      }),
      async accepted() {
        const response = await fetch(`${url}/_sim/jobs?account=${account}`);
        return ((await response.json()) as { jobs: unknown[] }).jobs.length;
      },
      books: { simulator_url: url, accounts: [account] },
      stop: async () => {},
    };
  },
}));

export const SUBJECTS: readonly Subject[] = [...protocols, ...kinds];

function configOf(
  protocol: string,
  base_url: string,
  model: string,
  physical: string,
  api_key: string,
): string {
  const channel = { id: 'a', protocol, base_url, api_key, models: { [model]: physical } };
  return JSON.stringify({ channels: [channel] });
}
