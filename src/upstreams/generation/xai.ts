import type { ImageInput, VideoInput } from '../../catalogue/inputs.ts';
import { withoutUndefined } from '../../json/object.ts';
import { readSeconds } from '../../protocols/generation-usage.ts';
import { reportedPrice } from '../../protocols/reported-price.ts';
import { RetryableUpstreamError } from '../contract.ts';
import {
  type GenerationCall,
  type GenerationProtocol,
  type JobCall,
  LostSubmissionError,
  type Progress,
  type SubmitResult,
  type UpstreamOutput,
} from './contract.ts';
import {
  asList,
  asObject,
  asText,
  failed,
  type JsonObject,
  messageIn,
  progressIn,
  queryJob,
  submitJob,
} from './exchange.ts';

const keyOf = ({ target }: JobCall) => ({ authorization: `Bearer ${target.api_key}` });

/**
 * xAI's Grok Imagine (xAI docs: Image and Video generations). The response to a submission has the
 * images themselves; a video is a job that is polled.
 */
export const xaiProtocol: GenerationProtocol = {
  name: 'xai',
  idempotent: false,

  submit(call) {
    switch (call.input.scene) {
      case 'image':
        return submitImage(call, call.input);
      case 'video':
        return submitVideo(call, call.input);
      default:
        throw new RetryableUpstreamError('server', 'this protocol makes only images and videos');
    }
  },

  async poll(call, { id }) {
    const path = `/videos/${encodeURIComponent(id)}`;
    const { status, body } = await queryJob(call, { path, headers: keyOf(call) }, [200, 202, 404]);
    if (status === 404) return { type: 'missing', message: 'no such request' };
    // For a running job, the status is 202 and the body may be empty.
    if (status === 202) {
      return { type: 'running', status: 'processing', ...progressIn(body['progress']) };
    }
    return progressOf(body);
  },
};

async function submitImage(call: GenerationCall, input: ImageInput): Promise<SubmitResult> {
  const [image] = input.images ?? [];
  const body = withoutUndefined({
    model: call.physical_model,
    prompt: input.prompt,
    n: input.n,
    aspect_ratio: input.aspect_ratio,
    resolution: input.resolution,
    response_format: 'url',
    user: input.user,
    image: image ? { url: image, type: 'image_url' } : undefined,
  });
  const path = image ? '/images/edits' : '/images/generations';
  const answer = await submitJob(call, { path, headers: keyOf(call), body });
  if ('type' in answer) return answer;
  const pictures = asList(answer.body['data']).map(asObject);
  if (pictures.length === 0) throw new LostSubmissionError('a response without images');
  const outputs = pictures.flatMap((each) => pictureOf(each) ?? []);
  if (outputs.length === 0) return failed('the pictures were filtered', 'moderation');
  const paid_nano_usd = reportedPrice(answer.body['usage']);
  const usage = withoutUndefined({ images: outputs.length, paid_nano_usd });
  return { type: 'produced', outputs, usage };
}

function pictureOf(picture: JsonObject): UpstreamOutput | undefined {
  const [url, base64] = [asText(picture['url']), asText(picture['b64_json'])];
  if (picture['respect_moderation'] === false || (!url && !base64)) return undefined;
  return {
    kind: 'image',
    ...withoutUndefined({ url, base64, revised_prompt: asText(picture['revised_prompt']) }),
  };
}

async function submitVideo(call: GenerationCall, input: VideoInput): Promise<SubmitResult> {
  const [path, more] = operationOf(input);
  const body = withoutUndefined({
    model: call.physical_model,
    prompt: input.prompt,
    user: input.user,
    ...more,
  });
  const answer = await submitJob(call, { path, headers: keyOf(call), body });
  if ('type' in answer) return answer;
  const id = asText(answer.body['request_id']);
  if (!id) throw new LostSubmissionError('the response has no job id');
  return { type: 'accepted', job: { id } };
}

function operationOf(input: VideoInput): [path: string, body: JsonObject] {
  const { operation, duration, aspect_ratio, resolution, video_url, image, reference_images } =
    input;
  const shaped = { duration, aspect_ratio, resolution };
  switch (operation) {
    case 'text-to-video':
      return ['/videos/generations', shaped];
    case 'image-to-video':
      return ['/videos/generations', { ...shaped, image: { url: image } }];
    case 'reference-to-video': {
      const references = reference_images?.map((url) => ({ url }));
      return ['/videos/generations', { ...shaped, reference_images: references }];
    }
    case 'video-to-video':
      return ['/videos/edits', { video: { url: video_url } }];
    case 'video-extension':
      return ['/videos/extensions', { video: { url: video_url }, duration }];
    default:
      throw new RetryableUpstreamError('server', `${operation} is not offered`);
  }
}

function progressOf(body: JsonObject): Progress {
  // An answer with a video and no status is a result (vercel/ai: packages/xai/src/xai-video-model.ts).
  const isDone = body['status'] === undefined && asText(asObject(body['video'])['url']);
  switch (isDone ? 'done' : body['status']) {
    case 'pending':
      return { type: 'running', status: 'processing', ...progressIn(body['progress']) };
    case 'done': {
      const video = asObject(body['video']);
      if (video['respect_moderation'] === false) return failed('filtered', 'moderation');
      const [url, seconds] = [asText(video['url']), readSeconds(video['duration'])];
      if (!url) return failed('done without a video', 'upstream');
      const output = { kind: 'video', url, ...withoutUndefined({ duration: seconds }) } as const;
      const usage = withoutUndefined({ seconds, paid_nano_usd: reportedPrice(body['usage']) });
      return { type: 'produced', outputs: [output], usage };
    }
    case 'expired':
      return failed('expired', 'upstream');
    case 'failed':
      return failed(messageIn({ body, bytes: new Uint8Array() }));
    default:
      return { type: 'unknown', message: `status ${String(body['status'])}` };
  }
}
