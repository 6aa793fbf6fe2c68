/**
 * What the real protocol of a provider sends for a generation. A server in this process receives it,
 * and refuses it, so that nothing is submitted twice or polled.
 */

import type { GenerationInput } from '../../src/catalogue/inputs.ts';
import { demoInstallation } from '../../src/config/demo.ts';
import type { GenerationProtocolName } from '../../src/protocols/names.ts';
import { GENERATION_PROTOCOLS } from '../../src/upstreams/generation/protocols.ts';

/** The providers' own names of the models, where the protocol of the provider depends on the name. */
const PHYSICAL: Partial<Record<GenerationProtocolName, Readonly<Record<string, string>>>> = {
  fal: {
    'gpt-image-1': 'fal-ai/gpt-image-1/text-to-image',
    'gpt-image-2': 'openai/gpt-image-2',
    'gemini-3-pro-image-preview': 'fal-ai/nano-banana-pro',
    'gemini-2.5-flash-image': 'fal-ai/nano-banana',
    'gemini-2.0-flash-preview-image-generation': 'fal-ai/nano-banana',
    'grok-imagine-image': 'xai/grok-imagine-image',
    'grok-imagine-image-quality': 'xai/grok-imagine-image',
    'flux-1.1-pro': 'fal-ai/flux-pro/v1.1',
    'flux-2-pro': 'fal-ai/flux-2-pro',
    'veo-3.1': 'fal-ai/veo3.1',
    'veo-3.1-fast': 'fal-ai/veo3.1/fast',
    'kling-3.0': 'fal-ai/kling-video/v3/standard',
    'kling-3.0-motion-control': 'fal-ai/kling-video/v3/standard',
    'grok-imagine-video': 'xai/grok-imagine-video',
    'seedance-2.0': 'bytedance/seedance-2.0',
    'seedance-2.0-fast': 'bytedance/seedance-2.0/fast',
    'ideogram-v3': 'fal-ai/ideogram/v3',
    'stable-diffusion-3.5-large': 'fal-ai/stable-diffusion-v35-large',
  },
  replicate: {
    'gpt-image-1': 'openai/gpt-image-1',
    'gpt-image-2': 'openai/gpt-image-2',
    'gemini-3-pro-image-preview': 'google/nano-banana-pro',
    'gemini-2.5-flash-image': 'google/nano-banana',
    'grok-imagine-image': 'xai/grok-imagine-image',
    'flux-1.1-pro': 'black-forest-labs/flux-1.1-pro',
    'flux-2-pro': 'black-forest-labs/flux-2-pro',
    'ideogram-v3': 'ideogram-ai/ideogram-v3-quality',
    'stable-diffusion-3.5-large': 'stability-ai/stable-diffusion-3.5-large',
    'veo-3.1': 'google/veo-3.1',
    'veo-3.1-fast': 'google/veo-3.1-fast',
    'seedance-2.0': 'bytedance/seedance-2.0',
    'seedance-2.0-fast': 'bytedance/seedance-2.0-fast',
    'kling-3.0': 'kwaivgi/kling-v3-video',
    'kling-3.0-motion-control': 'kwaivgi/kling-v3-motion-control',
    'topaz-video-upscale': 'topazlabs/video-upscale',
  },
  runway: {
    'veo-3.1': 'veo3.1',
    'veo-3.1-fast': 'veo3.1_fast',
    'seedance-2.0': 'seedance2',
    'seedance-2.0-fast': 'seedance2_fast',
  },
};

const DEMO = new Map(
  demoInstallation('http://unused.invalid').channels.flatMap(({ protocol, models }) =>
    Object.entries(models).map(([id, physical]) => [`${protocol}/${id}`, physical]),
  ),
);

/** The provider's own name of a model of the catalogue. */
export const physicalModel = (protocol: GenerationProtocolName, model: string): string =>
  PHYSICAL[protocol]?.[model] ?? DEMO.get(`${protocol}/${model}`) ?? `owner/${model}`;

/** Protocols that send one request for each image. */
const ONE_BY_ONE: readonly GenerationProtocolName[] = ['gemini', 'stability'];

interface Outgoing {
  /** The requests in the order of their texts: method, path and body. */
  readonly requests: readonly string[];
  /** Why the protocol sent nothing; undefined if it sent something. */
  readonly refusal?: string;
}

export interface OutgoingRecorder {
  /** Returns what the protocol sends to submit `input`. */
  submit(
    protocol: GenerationProtocolName,
    model: string,
    input: GenerationInput,
  ): Promise<Outgoing>;
  stop(): Promise<void>;
}

/** Starts the server that receives the submissions. */
export function startOutgoingRecorder(): OutgoingRecorder {
  let requests: string[] = [];
  let expected = 1;
  let waiting: (() => void)[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const path = new URL(request.url).pathname;
      requests.push(`${request.method} ${path} ${await textOf(request)}`);
      // The first refusal ends a submission, so none is sent before all requests have arrived.
      await new Promise<void>((resolve) => {
        waiting.push(resolve);
        if (requests.length < expected) return;
        for (const answer of waiting) answer();
        waiting = [];
      });
      return Response.json({ error: { message: 'refused by the test' } }, { status: 400 });
    },
  });
  return {
    async submit(protocol, model, input) {
      requests = [];
      expected = ONE_BY_ONE.includes(protocol) && input.scene === 'image' ? input.n : 1;
      const call = {
        target: {
          channel_id: 'test',
          base_url: server.url.origin,
          api_key: 'secret',
          timeout_ms: 10_000,
        },
        physical_model: physicalModel(protocol, model),
        public_model: model,
        input,
        idempotency_key: '00000000-0000-7000-8000-000000000000',
        signal: new AbortController().signal,
      };
      const error = await Promise.resolve()
        .then(() => GENERATION_PROTOCOLS[protocol].submit(call))
        .then(() => 'accepted', String);
      const sent = requests.toSorted();
      return sent.length > 0 ? { requests: sent } : { requests: sent, refusal: error };
    },
    stop: () => server.stop(true),
  };
}

/** Returns the body as text. The boundary of a form is random, so its fields are listed. */
async function textOf(request: Request): Promise<string> {
  const type = request.headers.get('content-type') ?? '';
  if (!type.startsWith('multipart/')) return request.text();
  const form = await request.formData();
  return JSON.stringify(
    [...form].map(([name, value]) => [name, typeof value === 'string' ? value : value.size]),
  );
}
