import type { ImageInput, SoundInput, VideoInput } from '../../catalogue/inputs.ts';
import { withoutUndefined } from '../../json/object.ts';
import { readSeconds } from '../../protocols/generation-usage.ts';
import type { GenerationCall, GenerationProtocol, JobCall, UpstreamOutput } from './contract.ts';
import { LostSubmissionError } from './contract.ts';
import { nameElements } from './elements.ts';
import {
  asNumber,
  asObject,
  asText,
  failed,
  isModerated,
  type JsonObject,
  messageIn,
  queryJob,
  submitJob,
} from './exchange.ts';
import { pixelsOf, ratioOf } from './pixels.ts';

const keyOf = ({ target }: JobCall) => ({ authorization: `Key ${target.api_key}` });

/** Jobs in fal's queue, for every kind of generation (fal docs: Queue API). */
export const falProtocol: GenerationProtocol = {
  name: 'fal',
  idempotent: false,

  async submit(call) {
    const { path, body } = requestFor(call);
    const answer = await submitJob(call, { path, headers: keyOf(call), body });
    if ('type' in answer) return answer;
    const { request_id, status_url, response_url } = answer.body;
    const [id, poll_url, result] = [request_id, status_url, response_url].map(asText);
    if (!id || !poll_url || !result)
      throw new LostSubmissionError('the response lacks the job id or a polling URL');
    // The polling URL and the result URL do not contain the sub-path of the model. So Weir cannot
    // build them from the model id, and stores the URLs that fal returned.
    return { type: 'accepted', job: { id, poll_url, path: result } };
  },

  async poll(call, { poll_url = '', path = '' }) {
    const headers = keyOf(call);
    const { status, body } = await queryJob(call, { path: poll_url, headers }, [200, 202, 404]);
    if (status === 404) return { type: 'missing', message: messageIn({ body, bytes: NO_BYTES }) };
    switch (body['status']) {
      case 'IN_QUEUE':
        return { type: 'running', status: 'queued' };
      case 'IN_PROGRESS':
        return { type: 'running', status: 'processing' };
      case 'COMPLETED':
        return result(call, path);
      default:
        return { type: 'unknown', message: `status ${String(body['status'])}` };
    }
  },

  async cancel(call, { poll_url = '' }) {
    const path = poll_url.replace(/\/status$/, '/cancel');
    await queryJob(call, { method: 'PUT', path, headers: keyOf(call) }, [200, 202, 400, 404]);
  },
};

const NO_BYTES = new Uint8Array();

/**
 * Reads the result of a job with the status COMPLETED. This status does not mean success: only the
 * result tells whether the job succeeded.
 */
async function result(call: JobCall, path: string) {
  const answer = await queryJob(call, { path, headers: keyOf(call) }, [200, 400, 404, 422]);
  const { status, body } = answer;
  if (status !== 200) {
    const message = messageIn(answer);
    if (status === 404) return { type: 'missing', message } as const;
    return failed(
      message,
      isModerated(message) ? 'moderation' : status === 422 ? 'input' : 'upstream',
    );
  }
  const outputs = outputsIn(body);
  if (outputs.length === 0) return failed('completed without a result', 'upstream');
  // Some models report the duration of a file. The sum is used only if every file has one.
  const durations = outputs.flatMap(({ duration }) => duration ?? []);
  const isWhole = durations.length === outputs.length;
  const seconds = isWhole ? durations.reduce((sum, each) => sum + each, 0) : undefined;
  return { type: 'produced', outputs, usage: withoutUndefined({ seconds }) } as const;
}

const KINDS = {
  images: 'image',
  image: 'image',
  video: 'video',
  videos: 'video',
  audio: 'audio',
  audio_file: 'audio',
  model_mesh: 'model',
  model_glb: 'model',
} as const;

function outputsIn(body: JsonObject): UpstreamOutput[] {
  const outputs: UpstreamOutput[] = [];
  for (const [member, kind] of Object.entries(KINDS)) {
    const value = body[member];
    for (const file of Array.isArray(value) ? value : value === undefined ? [] : [value]) {
      const { url, content_type, width, height, duration } = asObject(file);
      const address = asText(url);
      if (!address) continue;
      outputs.push({
        kind,
        url: address,
        ...withoutUndefined({
          content_type: asText(content_type),
          width: asNumber(width),
          height: asNumber(height),
          duration: readSeconds(duration),
        }),
      });
    }
  }
  return outputs;
}

function requestFor({ physical_model, input }: GenerationCall): { path: string; body: JsonObject } {
  switch (input.scene) {
    case 'image':
      return { path: `/${physical_model}`, body: imageBody(physical_model, input) };
    case 'video':
      return videoRequest(physical_model, input);
    case 'music':
      return {
        path: `/${physical_model}`,
        body: withoutUndefined({ prompt: input.prompt, tags: input.tags, lyrics: undefined }),
      };
    case '3d': {
      // Some models have one endpoint for text and one for images. Their physical model contains
      // `{source}`.
      const path = physical_model.replace('{source}', input.image ? 'image' : 'text');
      const { prompt, image, seed } = input;
      return {
        path: `/${path}`,
        body: withoutUndefined({ prompt, image_url: image, input_image_url: image, seed }),
      };
    }
    case 'audio':
      return { path: `/${physical_model}`, body: soundBody(physical_model, input) };
    default:
      return input satisfies never;
  }
}

/**
 * ElevenLabs' models name the inputs `duration_seconds` and `text`. Other models name them
 * `seconds_total` and `prompt`.
 */
function soundBody(model: string, { prompt, duration, seed }: SoundInput): JsonObject {
  return model.includes('elevenlabs')
    ? { text: prompt, duration_seconds: duration }
    : withoutUndefined({ prompt, seconds_total: duration, seed });
}

function imageBody(model: string, input: ImageInput): JsonObject {
  const byRatio = /nano-banana|gemini|imagen|ultra|kontext|grok/.test(model);
  const isTokenPriced = /gpt-image/.test(model);
  return withoutUndefined({
    prompt: input.prompt,
    num_images: input.n,
    negative_prompt: input.negative_prompt,
    seed: input.seed,
    output_format: input.output_format,
    image_urls: input.images,
    mask_image_url: input.mask,
    // fal's endpoints for `gpt-image` have no value `auto`. Without a value they use their default.
    quality: input.quality === 'auto' ? undefined : input.quality,
    background: isTokenPriced ? input.background : undefined,
    ...(byRatio
      ? { aspect_ratio: ratioOf(input), resolution: input.resolution?.toUpperCase() }
      : { image_size: imageSize(model, input) }),
  });
}

/**
 * Returns fal's `image_size`. If the input has only an aspect ratio, this is fal's name for the
 * ratio, or width and height if fal has no name for it. If the input has a size, this is width and
 * height, or the text `WIDTHxHEIGHT` for models with `gpt-image-1` in their names.
 */
function imageSize(model: string, { size, aspect_ratio = '' }: ImageInput): unknown {
  const pixels = pixelsOf({ ...(size === undefined ? {} : { size }), aspect_ratio });
  if (pixels.width === undefined) return undefined;
  if (size === undefined || size === 'auto') return PRESETS[aspect_ratio] ?? pixels;
  return model.includes('gpt-image-1') ? size : pixels;
}

/** Size names by aspect ratio (fal docs: image_size). */
const PRESETS: Readonly<Record<string, string>> = {
  '1:1': 'square_hd',
  '4:3': 'landscape_4_3',
  '16:9': 'landscape_16_9',
  '3:4': 'portrait_4_3',
  '9:16': 'portrait_16_9',
};

/**
 * How Weir requests one video operation from fal. `suffix` is what follows the model in the path,
 * for each family of models; '' if nothing follows. `inputs` returns the operation's own inputs
 * under fal's names.
 */
interface Template {
  readonly suffix: Readonly<Record<'veo' | 'kling' | 'other', string>>;
  readonly inputs: (input: VideoInput, model: keyof Template['suffix']) => JsonObject;
}

const elementsOf = (elements: VideoInput['kling_elements']) =>
  elements?.map(({ element_input_urls: [frontal, ...others] }) => ({
    frontal_image_url: frontal,
    reference_image_urls: others,
  }));

const NO_SUFFIX = { veo: '', kling: '', other: '' };
const TEMPLATES: Record<VideoInput['operation'], Template> = {
  'text-to-video': {
    suffix: { veo: '', kling: '/text-to-video', other: '' },
    inputs: () => ({}),
  },
  'image-to-video': {
    suffix: { veo: '/image-to-video', kling: '/image-to-video', other: '' },
    inputs: ({ image, end_image, kling_elements }) => ({
      image_url: image,
      end_image_url: end_image,
      elements: elementsOf(kling_elements),
    }),
  },
  'start-end-to-video': {
    suffix: { veo: '/first-last-frame-to-video', kling: '/image-to-video', other: '' },
    inputs: ({ start_image, image, end_image, kling_elements }, model) =>
      model === 'veo'
        ? { first_frame_url: start_image ?? image, last_frame_url: end_image }
        : {
            start_image_url: start_image ?? image,
            end_image_url: end_image,
            elements: elementsOf(kling_elements),
          },
  },
  'reference-to-video': {
    suffix: { veo: '/reference-to-video', kling: '/reference-to-video', other: '' },
    inputs: ({ reference_images }, model) =>
      model === 'other'
        ? { reference_image_urls: reference_images }
        : { image_urls: reference_images },
  },
  'video-to-video': {
    suffix: NO_SUFFIX,
    inputs: ({ video_url, reference_images, fps }) => ({
      video_url,
      image_urls: reference_images,
      target_fps: fps,
    }),
  },
  'video-extension': {
    suffix: { veo: '/extend-video', kling: '', other: '' },
    inputs: ({ video_url }) => ({ video_url }),
  },
  'audio-to-video': {
    suffix: NO_SUFFIX,
    inputs: ({ image, audio_url }) => ({ image_url: image, audio_url }),
  },
  'motion-control': {
    suffix: { veo: '', kling: '/motion-control', other: '' },
    inputs: ({ image, video_url }) => ({ image_url: image, video_url }),
  },
};

function videoRequest(
  physical_model: string,
  input: VideoInput,
): { path: string; body: JsonObject } {
  const model = physical_model.includes('veo')
    ? 'veo'
    : physical_model.includes('kling')
      ? 'kling'
      : 'other';
  const { suffix, inputs } = TEMPLATES[input.operation];
  const isUpscaler = physical_model.includes('upscale');
  const common = isUpscaler
    ? {}
    : {
        prompt: nameElements(input.prompt, input.kling_elements ?? [], (at) => `@Element${at}`),
        negative_prompt: input.negative_prompt,
        // Veo takes `8s`; the other models take `8`.
        duration: input.duration && (model === 'veo' ? `${input.duration}s` : `${input.duration}`),
        aspect_ratio: input.aspect_ratio,
        resolution: model === 'kling' ? undefined : input.resolution,
        generate_audio: input.output_audio,
        seed: input.seed,
        cfg_scale: input.cfg_scale,
      };
  return {
    path: `/${model === 'kling' ? klingPath(physical_model, input) : physical_model}${suffix[model]}`,
    body: withoutUndefined({ ...common, ...inputs(input, model) }),
  };
}

/**
 * Returns the path of a Kling model for the resolution. fal has no parameter for the resolution:
 * instead the path contains `standard` for 720p and `pro` for 1080p.
 */
function klingPath(physical_model: string, { resolution }: VideoInput): string {
  if (resolution === undefined) return physical_model;
  const mode = resolution === '1080p' ? 'pro' : 'standard';
  return physical_model.replace(/\/(?:standard|pro)(?=\/|$)/, `/${mode}`);
}
