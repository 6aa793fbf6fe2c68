import type { GenerationInput } from '../../catalogue/inputs.ts';
import { withoutUndefined } from '../../json/object.ts';
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
    const input = inputFor(call.input);
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
      ? { type: 'unknown', message: 'no such prediction' }
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

/** Returns the input under the names that most models share. */
function inputFor(input: GenerationInput): JsonObject {
  switch (input.scene) {
    case 'image': {
      const [width, height] = (input.size ?? '').split('x').map(Number);
      return withoutUndefined({
        prompt: input.prompt,
        negative_prompt: input.negative_prompt,
        num_outputs: input.n > 1 ? input.n : undefined,
        seed: input.seed,
        output_format: input.output_format,
        image: input.images?.[0],
        ...(width && height ? { width, height } : { aspect_ratio: input.aspect_ratio }),
      });
    }
    case 'video':
      return withoutUndefined({
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
        resolution: input.resolution,
        generate_audio: input.output_audio,
        seed: input.seed,
        fps: input.fps,
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
