import type { VideoInput } from '../../catalogue/inputs.ts';
import { withoutUndefined } from '../../json/object.ts';
import { readGenerationTokens, readSeconds } from '../../protocols/generation-usage.ts';
import { countIn } from '../../protocols/token-usage.ts';
import { RetryableUpstreamError } from '../contract.ts';
import {
  type GenerationCall,
  type GenerationProtocol,
  type JobCall,
  LostSubmissionError,
  type Progress,
} from './contract.ts';
import {
  asObject,
  asText,
  failed,
  isModerated,
  type JsonObject,
  messageIn,
  queryJob,
  submitJob,
} from './exchange.ts';

const TASKS = '/contents/generations/tasks';
const keyOf = ({ target }: JobCall) => ({ authorization: `Bearer ${target.api_key}` });

/** ByteDance's Seedance on Ark (Volcengine and BytePlus docs: Video generation API). */
export const arkProtocol: GenerationProtocol = {
  name: 'ark',
  idempotent: false,

  async submit(call) {
    const { input } = call;
    if (input.scene !== 'video')
      throw new RetryableUpstreamError('server', 'this protocol makes only videos');
    const body = bodyFor(call, input);
    const answer = await submitJob(call, { path: TASKS, headers: keyOf(call), body });
    if ('type' in answer) return answer;
    const id = asText(answer.body['id']);
    if (!id) throw new LostSubmissionError('the response has no job id');
    return { type: 'accepted', job: { id } };
  },

  async poll(call, { id }) {
    const path = `${TASKS}/${encodeURIComponent(id)}`;
    const { status, body } = await queryJob(call, { path, headers: keyOf(call) }, [200, 404]);
    return status === 404 ? { type: 'missing', message: 'no such task' } : progressOf(body);
  },

  /** Ark cancels only a queued job. Its refusal for any other job is not an error here. */
  async cancel(call, { id }) {
    const path = `${TASKS}/${encodeURIComponent(id)}`;
    await queryJob(
      call,
      { method: 'DELETE', path, headers: keyOf(call) },
      [200, 204, 400, 404, 409],
    );
  },
};

function progressOf(task: JsonObject): Progress {
  switch (task['status']) {
    case 'queued':
      return { type: 'running', status: 'queued' };
    case 'running':
      return { type: 'running', status: 'processing' };
    case 'succeeded':
      return produced(task);
    case 'failed':
    case 'cancelled':
    case 'expired': {
      const message = messageIn({ body: asObject(task['error']), bytes: new Uint8Array() });
      return failed(
        message,
        isModerated(message) || /risk/i.test(message) ? 'moderation' : 'upstream',
      );
    }
    default:
      return { type: 'unknown', message: `status ${String(task['status'])}` };
  }
}

function produced(task: JsonObject): Progress {
  const url = asText(asObject(task['content'])['video_url']);
  if (!url) return failed('succeeded without a video', 'upstream');
  const seconds = readSeconds(task['duration']);
  const tokens = readGenerationTokens(task['usage'], (usage) => ({
    ...{ text_input: 0, image_input: 0, cached_input: 0 },
    output: countIn(usage, 'completion_tokens'),
  }));
  const output = { kind: 'video', url, ...withoutUndefined({ duration: seconds }) } as const;
  return {
    type: 'produced',
    outputs: [output],
    usage: {
      ...(seconds === undefined ? {} : { seconds }),
      ...(tokens && tokens.output > 0 ? { tokens } : {}),
    },
  };
}

function bodyFor({ physical_model }: GenerationCall, input: VideoInput): JsonObject {
  const { image, start_image, end_image, reference_images = [], video_url, audio_url } = input;
  const videos = [...(video_url ? [video_url] : []), ...(input.video_urls ?? [])];
  const audios = [...(audio_url ? [audio_url] : []), ...(input.audio_urls ?? [])];
  const hasReferences = reference_images.length + videos.length + audios.length > 0;
  const first = start_image ?? image;
  const content = [
    ...(input.prompt ? [{ type: 'text', text: input.prompt }] : []),
    // Ark refuses a request that has both a first frame and references. So if there are references,
    // the first image becomes one of them.
    ...(first ? [imagePart(first, hasReferences ? 'reference_image' : 'first_frame')] : []),
    ...(end_image ? [imagePart(end_image, 'last_frame')] : []),
    ...reference_images.map((url) => imagePart(url, 'reference_image')),
    ...videos.map((url) => ({ type: 'video_url', video_url: { url }, role: 'reference_video' })),
    ...audios.map((url) => ({ type: 'audio_url', audio_url: { url }, role: 'reference_audio' })),
  ];
  return withoutUndefined({
    model: physical_model,
    content,
    resolution: input.resolution,
    ratio: first && !hasReferences ? 'adaptive' : input.aspect_ratio,
    duration: input.duration,
    seed: input.seed,
    watermark: input.watermark,
    generate_audio: input.output_audio,
  });
}

function imagePart(url: string, role: string): JsonObject {
  return { type: 'image_url', image_url: { url }, role };
}
