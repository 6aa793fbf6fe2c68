import type { GenerationInput, ImageInput } from '../../catalogue/inputs.ts';
import { withoutUndefined } from '../../json/object.ts';
import { RetryableUpstreamError } from '../contract.ts';
import {
  type GenerationProtocol,
  type JobCall,
  LostSubmissionError,
  type Progress,
  type UpstreamOutput,
} from './contract.ts';
import {
  asObject,
  asText,
  failed,
  isModerated,
  type JsonObject,
  queryJob,
  submitJob,
} from './exchange.ts';

const keyOf = ({ target }: JobCall) => ({ authorization: `Bearer ${target.api_key}` });

/**
 * Replicate's predictions (Replicate docs: HTTP API). The physical model is `owner/name` for an official
 * model, else `owner/name:version`.
 */
export const replicateProtocol: GenerationProtocol = {
  name: 'replicate',
  idempotent: false,

  async submit(call) {
    const [model = '', version] = call.physical_model.split(':');
    const input = inputFor(model, call.input);
    const answer = await submitJob(call, {
      path: version ? '/predictions' : `/models/${model}/predictions`,
      headers: keyOf(call),
      body: version ? { version, input } : { input },
    });
    if ('type' in answer) return answer;
    const id = asText(answer.body['id']);
    if (!id) throw new LostSubmissionError('the response has no job id');
    // The output does not tell whether it is an image, a video or audio. So `path` stores the
    // scene, the kind of generation that was requested.
    return { type: 'accepted', job: { id, path: call.input.scene } };
  },

  async poll(call, { id, path: scene = '' }) {
    const path = `/predictions/${encodeURIComponent(id)}`;
    const { status, body } = await queryJob(call, { path, headers: keyOf(call) }, [200, 404]);
    return status === 404
      ? { type: 'missing', message: 'no such prediction' }
      : progressOf(body, scene);
  },

  async cancel(call, { id }) {
    const path = `/predictions/${encodeURIComponent(id)}/cancel`;
    await queryJob(call, { method: 'POST', path, headers: keyOf(call) }, [200, 404, 422]);
  },
};

function progressOf(prediction: JsonObject, scene: string): Progress {
  switch (prediction['status']) {
    case 'starting':
      return { type: 'running', status: 'queued' };
    case 'processing':
      return { type: 'running', status: 'processing' };
    case 'succeeded': {
      const outputs = outputsIn(prediction['output'], scene);
      if (outputs.length === 0) return failed('succeeded without an output', 'upstream');
      return { type: 'produced', outputs, usage: {} };
    }
    case 'failed':
    case 'canceled':
    case 'aborted': {
      const message = asText(prediction['error']) ?? String(prediction['status']);
      return failed(message, isModerated(message) ? 'moderation' : 'upstream');
    }
    default:
      return { type: 'unknown', message: `status ${String(prediction['status'])}` };
  }
}

const KINDS = {
  image: 'image',
  video: 'video',
  music: 'audio',
  '3d': 'model',
  audio: 'audio',
} as const;

/**
 * Returns the URLs in a prediction's output. The model decides whether the output is a URL, a list
 * of URLs, or an object with URLs.
 */
function outputsIn(output: unknown, scene: string): UpstreamOutput[] {
  const kind = KINDS[scene as keyof typeof KINDS] ?? 'image';
  const all = Array.isArray(output)
    ? output
    : typeof output === 'string'
      ? [output]
      : Object.values(asObject(output));
  const urls = all.filter((each): each is string => /^https?:/.test(String(each)));
  return urls.map((url) => ({ kind, url }));
}

/** Returns the input under the names that most models share. Some models have names of their own. */
function inputFor(model: string, input: GenerationInput): JsonObject {
  switch (input.scene) {
    case 'image':
      return withoutUndefined(
        model.includes('gpt-image') ? tokenPricedImage(input) : image(model, input),
      );
    case 'video':
      return withoutUndefined({
        ...(model.includes('kling')
          ? // Kling's modes are its resolutions: `standard` is 720p, and `pro` is 1080p.
            { mode: input.resolution === '1080p' ? 'pro' : 'standard' }
          : { resolution: input.resolution }),
        ...(model.includes('upscale') ? { target_fps: input.fps } : { fps: input.fps }),
        prompt: input.prompt,
        negative_prompt: input.negative_prompt,
        image: input.image ?? input.start_image,
        start_image: input.start_image,
        end_image: input.end_image,
        reference_images: input.reference_images,
        video: input.video_url,
        audio: input.audio_url,
        duration: input.duration,
        aspect_ratio: input.aspect_ratio,
        generate_audio: input.output_audio,
        seed: input.seed,
      });
    case 'music':
      return withoutUndefined({ prompt: input.prompt, tags: input.tags });
    case '3d':
      return withoutUndefined({ prompt: input.prompt, image: input.image, seed: input.seed });
    case 'audio':
      return withoutUndefined({ prompt: input.prompt, duration: input.duration, seed: input.seed });
    default:
      return input satisfies never;
  }
}

function image(model: string, input: ImageInput): JsonObject {
  const [width, height] = (input.size ?? '').split('x').map(Number);
  return {
    prompt: input.prompt,
    negative_prompt: input.negative_prompt,
    num_outputs: input.n > 1 ? input.n : undefined,
    seed: input.seed,
    output_format: input.output_format,
    // The Gemini models take several images.
    ...(model.includes('nano-banana')
      ? { image_input: input.images }
      : { image: input.images?.[0] }),
    resolution: input.resolution?.toUpperCase(),
    ...(width && height ? { width, height } : { aspect_ratio: input.aspect_ratio }),
  };
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
