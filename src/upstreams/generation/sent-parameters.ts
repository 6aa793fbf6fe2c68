import type { GenerationInput, ImageInput, VideoInput } from '../../catalogue/inputs.ts';
import type { GenerationProtocolName } from '../../protocols/names.ts';
import { falMembers } from './fal-request.ts';
import { replicateMembers } from './replicate-request.ts';
import { runwayMembers } from './runway-request.ts';

/**
 * Members of an input that a provider's request need not contain: Weir itself does what they
 * request, or they are on the list of parameters that may be left out (P18).
 */
const NEEDS_NO_PLACE = ['scene', 'operation', 'action', 'response_format', 'user'];

/** The client's name of a member that has another name in the input. */
const PUBLIC_NAMES: Readonly<Record<string, string>> = {
  images: 'image',
  image: 'image_url',
  continued_job: 'task_id',
};

/**
 * Returns the client's name of the first parameter of `input` that a request of this protocol to
 * this model cannot contain; undefined if the request can contain all of them (P18). A channel of
 * another protocol may be able to send the parameter.
 */
export function unsentParameter(
  protocol: string,
  physical_model: string,
  input: GenerationInput,
): string | undefined {
  const sentBy = SENT[protocol as GenerationProtocolName];
  if (!sentBy) return undefined;
  const sent = sentBy(physical_model, input);
  const unsent = Object.entries(input).find(
    ([name, value]) =>
      value !== undefined && !NEEDS_NO_PLACE.includes(name) && !sent.includes(name),
  );
  return unsent && (PUBLIC_NAMES[unsent[0]] ?? unsent[0]);
}

type Members = readonly string[];

const OPENAI_IMAGES = [
  ...['prompt', 'n', 'size', 'quality', 'images', 'mask', 'style', 'background', 'output_format'],
  ...['output_compression', 'moderation', 'stream', 'partial_images'],
];

/** For each protocol, the members of an input that its requests contain. */
const SENT: Record<GenerationProtocolName, (model: string, input: GenerationInput) => Members> = {
  'openai-images': () => OPENAI_IMAGES,
  'azure-images': () => OPENAI_IMAGES,
  gemini: () => ['prompt', 'n', 'aspect_ratio', 'resolution', 'seed', 'images'],
  stability: () => ['prompt', 'n', 'negative_prompt', 'aspect_ratio', 'seed', 'output_format'],
  ideogram: () => ['prompt', 'n', 'negative_prompt', 'aspect_ratio', 'size', 'seed'],
  bfl: (_, input) => [
    ...['prompt', 'seed', 'size', 'aspect_ratio', ...onlyOne(input)],
    ...(imageOf(input).output_format === 'webp' ? [] : ['output_format']),
  ],
  midjourney: (_, input) => [
    ...['prompt', 'aspect_ratio', 'images'],
    ...(imageOf(input).n === 1 ? ['n'] : []),
  ],
  suno: (_, input) =>
    input.scene === 'music' && input.action === 'LYRICS'
      ? ['prompt']
      : ['prompt', 'title', 'tags', 'mv', 'continue_clip_id', 'continue_at'],
  veo: (_, input) => [
    ...['prompt', 'negative_prompt', 'image', 'start_image', 'end_image', 'reference_images'],
    ...['reference_image_type', 'continued_job', 'aspect_ratio', 'resolution', 'duration'],
    // The Gemini API has no switch for the sound, which is always on (Gemini API docs: Veo).
    ...(videoOf(input).output_audio === false ? [] : ['output_audio']),
  ],
  xai: (_, input) =>
    input.scene === 'image'
      ? ['prompt', 'n', 'aspect_ratio', 'resolution', ...imagesIfOne(input)]
      : xaiVideo(input),
  kling: (_, input) => kling(input),
  ark: (_, input) => ark(input),
  runway: (model, input) => (input.scene === 'video' ? runwayMembers(model, input) : []),
  fal: falMembers,
  replicate: replicateMembers,
};

const imageOf = (input: GenerationInput): Partial<ImageInput> =>
  input.scene === 'image' ? input : {};
const videoOf = (input: GenerationInput): Partial<VideoInput> =>
  input.scene === 'video' ? input : {};

/** The parameter `images` if the input has at most one image; else no parameter. */
const imagesIfOne = (input: GenerationInput): Members =>
  (imageOf(input).images?.length ?? 0) > 1 ? [] : ['images'];

/** For a provider that makes one image: `n` if it is 1, and `images` if there is at most one. */
const onlyOne = (input: GenerationInput): Members => [
  ...(imageOf(input).n === 1 ? ['n'] : []),
  ...imagesIfOne(input),
];

/** An edit of a video takes only the source video and a prompt (xAI docs: Video generations). */
function xaiVideo(input: GenerationInput): Members {
  const shaped = ['prompt', 'duration', 'aspect_ratio', 'resolution'];
  switch (videoOf(input).operation) {
    case 'text-to-video':
      return shaped;
    case 'image-to-video':
      return [...shaped, 'image'];
    case 'reference-to-video':
      return [...shaped, 'reference_images'];
    case 'video-extension':
      return ['prompt', 'video_url', 'duration'];
    default:
      return ['prompt', 'video_url'];
  }
}

function kling(input: GenerationInput): Members {
  const { operation, resolution = '720p', output_audio } = videoOf(input);
  // Kling's modes are its resolutions: `std` is 720p, and `pro` is 1080p.
  const isMode = ['720p', '1080p'].includes(resolution);
  const common = ['prompt', 'watermark', ...(isMode ? ['resolution'] : [])];
  if (operation === 'motion-control') return [...common, 'image', 'video_url', ...LIKE_SOURCE];
  if (operation === 'video-extension') {
    // Kling adds a fixed number of seconds to the extended video, which decides the mode and the sound.
    // The resolution and the duration only set the price.
    const priced = [...(isMode ? ['resolution'] : []), ...LIKE_SOURCE];
    const silent = output_audio === true ? [] : ['output_audio'];
    return ['prompt', 'negative_prompt', 'cfg_scale', 'continued_job', ...silent, ...priced];
  }
  const more = [...common, 'negative_prompt', 'cfg_scale', 'output_audio', 'kling_elements'];
  switch (operation) {
    case 'text-to-video':
      return [...more, 'duration', 'aspect_ratio'];
    case 'reference-to-video':
      return [...more, 'duration', 'aspect_ratio', 'reference_images'];
    default:
      return [...more, 'duration', 'image', 'start_image', 'end_image'];
  }
}

/**
 * For operations in which the provider decides the length of the video. The request has no
 * duration: the `duration` of the input only sets the price, so it counts as sent.
 */
const LIKE_SOURCE = ['duration'];

function ark(input: GenerationInput): Members {
  const { image, start_image, reference_images, video_url, video_urls, audio_url, audio_urls } =
    videoOf(input);
  const hasReferences = [reference_images, video_url, video_urls, audio_url, audio_urls].some(
    (each) => each !== undefined,
  );
  const hasFirstFrame = (image ?? start_image) !== undefined && !hasReferences;
  return [
    ...['prompt', 'image', 'start_image', 'end_image', 'reference_images', 'video_url'],
    ...['video_urls', 'audio_url', 'audio_urls', 'duration', 'resolution', 'seed', 'watermark'],
    ...['output_audio', ...(hasFirstFrame ? [] : ['aspect_ratio'])],
  ];
}
