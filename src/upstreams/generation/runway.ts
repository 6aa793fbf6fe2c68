import type { VideoInput } from '../../catalogue/inputs.ts';
import { withoutUndefined } from '../../json/object.ts';
import { RetryableUpstreamError } from '../contract.ts';
import {
  type GenerationCall,
  type GenerationProtocol,
  type JobCall,
  LostSubmissionError,
  type Progress,
} from './contract.ts';
import {
  asList,
  asText,
  failed,
  type JsonObject,
  progressIn,
  queryJob,
  submitJob,
} from './exchange.ts';

const VERSION = '2024-11-06';
const POLL_MS = 5_000;
const headersOf = ({ target }: JobCall) => ({
  authorization: `Bearer ${target.api_key}`,
  'x-runway-version': VERSION,
});

type Ratios = Readonly<Record<string, string>>;

/** Pixel sizes by aspect ratio (Runway docs: ratio). */
const RATIOS: Ratios = {
  '16:9': '1280:720',
  '9:16': '720:1280',
  '4:3': '1104:832',
  '3:4': '832:1104',
  '1:1': '960:960',
  '21:9': '1584:672',
};

/**
 * Pixel sizes by resolution and aspect ratio, for models that offer several resolutions. Runway has
 * no parameter `resolution`. The pixel size in `ratio` also sets the resolution (Runway docs:
 * ratio).
 */
const RATIOS_BY_RESOLUTION: readonly [model: RegExp, Readonly<Record<string, Ratios>>][] = [
  [
    /^veo/,
    {
      '720p': { '16:9': '1280:720', '9:16': '720:1280' },
      '1080p': { '16:9': '1920:1080', '9:16': '1080:1920' },
    },
  ],
  [
    /^seedance/,
    {
      '480p': {
        ...{ '16:9': '864:496', '9:16': '496:864', '4:3': '752:560', '3:4': '560:752' },
        ...{ '1:1': '640:640', '21:9': '992:432' },
      },
      '720p': {
        ...{ '16:9': '1280:720', '9:16': '720:1280', '4:3': '1112:834', '3:4': '834:1112' },
        ...{ '1:1': '960:960', '21:9': '1470:630' },
      },
    },
  ],
];

/**
 * Returns the pixel size of the video to make. Throws RetryableUpstreamError if Runway does not
 * offer the resolution, because another channel may offer it.
 */
function ratioOf(model: string, { aspect_ratio = '16:9', resolution }: VideoInput): string {
  const sizes = RATIOS_BY_RESOLUTION.find(([pattern]) => pattern.test(model))?.[1];
  const ratio =
    sizes && resolution !== undefined ? sizes[resolution]?.[aspect_ratio] : RATIOS[aspect_ratio];
  if (ratio !== undefined) return ratio;
  const asked = `${aspect_ratio}${resolution === undefined ? '' : ` in ${resolution}`}`;
  throw new RetryableUpstreamError('server', `${asked} is not offered`);
}

/** Runway's task API (Runway docs: API reference). */
export const runwayProtocol: GenerationProtocol = {
  name: 'runway',
  idempotent: false,

  async submit(call) {
    const { input } = call;
    if (input.scene !== 'video')
      throw new RetryableUpstreamError('server', 'this protocol makes only videos');
    const [path, body] = requestFor(call, input);
    const answer = await submitJob(call, { path, headers: headersOf(call), body });
    if ('type' in answer) return answer;
    const id = asText(answer.body['id']);
    if (!id) throw new LostSubmissionError('the response has no job id');
    return { type: 'accepted', job: { id } };
  },

  async poll(call, { id }) {
    const path = `/v1/tasks/${encodeURIComponent(id)}`;
    const { status, body } = await queryJob(call, { path, headers: headersOf(call) }, [200, 404]);
    if (status === 404) return { type: 'missing', message: 'no such task' };
    return progressOf(body);
  },

  async cancel(call, { id }) {
    const path = `/v1/tasks/${encodeURIComponent(id)}`;
    await queryJob(call, { method: 'DELETE', path, headers: headersOf(call) }, [200, 204, 404]);
  },
};

function progressOf(task: JsonObject): Progress {
  switch (task['status']) {
    case 'PENDING':
    // THROTTLED means that the task waits until the account has capacity.
    case 'THROTTLED':
      return { type: 'running', status: 'queued', retry_after_ms: POLL_MS };
    case 'RUNNING': {
      const progress = progressIn(task['progress'], 1);
      return { type: 'running', status: 'processing', retry_after_ms: POLL_MS, ...progress };
    }
    case 'SUCCEEDED': {
      const urls = asList(task['output']).flatMap((each) => asText(each) ?? []);
      const outputs = urls.map((url) => ({ kind: 'video' as const, url }));
      if (outputs.length === 0) return failed('succeeded without an output', 'upstream');
      return { type: 'produced', outputs, usage: {} };
    }
    case 'FAILED': {
      const code = asText(task['failureCode']) ?? '';
      const reason = code.includes('SAFETY')
        ? 'moderation'
        : code.startsWith('ASSET')
          ? 'input'
          : 'upstream';
      return failed(`${code} ${asText(task['failure']) ?? ''}`, reason);
    }
    case 'CANCELLED':
      return failed('cancelled', 'upstream');
    default:
      return { type: 'unknown', message: `status ${String(task['status'])}` };
  }
}

function requestFor({ physical_model }: GenerationCall, input: VideoInput): [string, JsonObject] {
  const { operation, image, start_image, end_image, reference_images, video_url } = input;
  const common = {
    model: physical_model,
    promptText: input.prompt,
    ratio: ratioOf(physical_model, input),
    seed: input.seed,
  };
  const timed = { ...common, duration: input.duration, audio: input.output_audio };
  switch (operation) {
    case 'text-to-video':
      return ['/v1/text_to_video', withoutUndefined(timed)];
    case 'image-to-video':
      return ['/v1/image_to_video', withoutUndefined({ ...timed, promptImage: image })];
    case 'start-end-to-video': {
      const first = { uri: start_image ?? image, position: 'first' };
      const promptImage = [first, { uri: end_image, position: 'last' }];
      return ['/v1/image_to_video', withoutUndefined({ ...timed, promptImage })];
    }
    case 'reference-to-video': {
      const promptImage = reference_images?.map((uri) => ({ uri }));
      return ['/v1/image_to_video', withoutUndefined({ ...timed, promptImage })];
    }
    case 'video-to-video': {
      const references = reference_images?.map((uri) => ({ type: 'image', uri }));
      // Aleph's result has the length and the shape of its source (Runway docs: Video to video).
      const { ratio: _, ...shapeless } = common;
      const source = physical_model.startsWith('seedance')
        ? { ...timed, promptVideo: video_url }
        : { ...shapeless, videoUri: video_url };
      return ['/v1/video_to_video', withoutUndefined({ ...source, references })];
    }
    case 'motion-control': {
      const character = { type: 'image', uri: image };
      const reference = { type: 'video', uri: video_url };
      const { ratio, seed } = common;
      const body = withoutUndefined({ model: 'act_two', character, reference, ratio, seed });
      return ['/v1/character_performance', body];
    }
    default:
      throw new RetryableUpstreamError('server', `${operation} is not offered`);
  }
}
