/**
 * Video requests in Runway's words. Each model has its own members and pixel sizes on each path
 * (@runwayml/sdk: TextToVideoCreateParams and its siblings).
 */
import type { VideoInput } from '../../catalogue/inputs.ts';
import { withoutUndefined } from '../../json/object.ts';
import { RetryableUpstreamError } from '../contract.ts';
import type { JsonObject } from './exchange.ts';
import { together } from './references.ts';

type Ratios = Readonly<Record<string, string>>;

/** Pixel sizes of Runway's own models by aspect ratio. */
const RATIOS: Ratios = {
  '16:9': '1280:720',
  '9:16': '720:1280',
  '4:3': '1104:832',
  '3:4': '832:1104',
  '1:1': '960:960',
  '21:9': '1584:672',
};
/** Runway's own models make a video from text in these sizes only. */
const RATIOS_FROM_TEXT: Ratios = { '16:9': '1280:720', '9:16': '720:1280' };

/**
 * Pixel sizes by resolution and aspect ratio, for models that offer several resolutions. Runway has
 * no parameter `resolution`. The pixel size in `ratio` also sets the resolution.
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

/** Returns the pixel sizes of a model by aspect ratio; undefined if it lacks the resolution. */
function ratiosOf(
  model: string,
  { operation, resolution = '720p' }: VideoInput,
): Ratios | undefined {
  const sizes = RATIOS_BY_RESOLUTION.find(([pattern]) => pattern.test(model))?.[1];
  if (sizes) return sizes[resolution];
  return operation === 'text-to-video' ? RATIOS_FROM_TEXT : RATIOS;
}

/** Returns the path and the body of a request; undefined if Runway has no place for an input. */
export function runwayRequest(
  physical_model: string,
  input: VideoInput,
): { path: string; body: JsonObject } {
  const { aspect_ratio = '16:9', resolution } = input;
  const ratio = ratiosOf(physical_model, input)?.[aspect_ratio];
  const request = ratio === undefined ? undefined : requestWith(physical_model, ratio, input);
  if (request) return { path: request.path, body: withoutUndefined(request.body) };
  const asked = ratio === undefined ? aspect_ratio : input.operation;
  const detail = resolution === undefined ? '' : ` in ${resolution}`;
  throw new RetryableUpstreamError('server', `${asked}${detail} is not offered`);
}

function requestWith(
  model: string,
  ratio: string,
  input: VideoInput,
): { path: string; body: JsonObject } | undefined {
  const { operation, image, start_image, end_image, video_url, seed } = input;
  const common = { model, promptText: input.prompt, ratio, seed };
  const timed = {
    ...common,
    duration: input.duration,
    audio: input.output_audio,
    negativePrompt: input.negative_prompt,
  };
  switch (operation) {
    case 'text-to-video':
      return { path: '/v1/text_to_video', body: timed };
    case 'image-to-video':
      return { path: '/v1/image_to_video', body: { ...timed, promptImage: image } };
    case 'start-end-to-video': {
      const first = { uri: start_image ?? image, position: 'first' };
      const promptImage = [first, { uri: end_image, position: 'last' }];
      return { path: '/v1/image_to_video', body: { ...timed, promptImage } };
    }
    case 'reference-to-video':
      if (!isSeedance(model)) return undefined;
      return { path: '/v1/text_to_video', body: { ...timed, ...referencesOf(input) } };
    case 'video-to-video': {
      const path = '/v1/video_to_video';
      if (isSeedance(model)) {
        const { video_url: promptVideo, ...others } = input;
        return { path, body: { ...timed, promptVideo, ...referencesOf(others) } };
      }
      // Aleph's result has the length and the shape of its source.
      return { path, body: { model, promptText: input.prompt, videoUri: video_url, seed } };
    }
    case 'motion-control': {
      const character = { type: 'image', uri: image };
      const reference = { type: 'video', uri: video_url };
      const body = { model: 'act_two', character, reference, ratio, seed };
      return { path: '/v1/character_performance', body };
    }
    default:
      return undefined;
  }
}

const isSeedance = (model: string) => model.startsWith('seedance');

/** The references of Seedance, by their kinds. */
function referencesOf(
  input: Pick<
    VideoInput,
    'reference_images' | 'video_url' | 'video_urls' | 'audio_url' | 'audio_urls'
  >,
): JsonObject {
  const { reference_images, video_url, video_urls, audio_url, audio_urls } = input;
  const list = (type: string, uris: readonly string[] | undefined, uri?: string) =>
    together(uris, uri)?.map((each) => ({ type, uri: each }));
  return {
    references: reference_images?.map((uri) => ({ uri })),
    referenceVideos: list('video', video_urls, video_url),
    referenceAudio: list('audio', audio_urls, audio_url),
  };
}

/**
 * For operations in which the provider decides the length of the video. The request has no
 * duration: the `duration` of the input only sets the price, so it counts as sent.
 */
const LIKE_SOURCE = ['duration'];

/** Returns the members of the input that a request to this model contains (P18). */
export function runwayMembers(model: string, input: VideoInput): readonly string[] {
  const { operation, aspect_ratio = '16:9' } = input;
  const ratios = ratiosOf(model, input);
  const isSized = /^(?:veo|seedance)/.test(model) && ratios !== undefined;
  const hasRatio = (ratios ?? RATIOS)[aspect_ratio] !== undefined;
  const common = [
    ...['prompt', 'seed', ...(isSized ? ['resolution'] : [])],
    ...(hasRatio ? ['aspect_ratio'] : []),
  ];
  const timed = [
    ...[...common, 'duration', ...(/^(?:veo|seedance)/.test(model) ? ['output_audio'] : [])],
    ...(model.startsWith('veo') ? ['negative_prompt'] : []),
  ];
  const references = ['reference_images', 'video_url', 'video_urls', 'audio_url', 'audio_urls'];
  switch (operation) {
    case 'text-to-video':
      return timed;
    case 'reference-to-video':
      return isSeedance(model) ? [...timed, ...references] : timed;
    case 'video-to-video':
      return isSeedance(model)
        ? [...timed, ...references]
        : ['prompt', 'seed', 'video_url', ...LIKE_SOURCE];
    case 'motion-control':
      return ['image', 'video_url', 'aspect_ratio', 'seed', ...LIKE_SOURCE];
    default:
      return [...timed, 'image', 'start_image', 'end_image'];
  }
}
