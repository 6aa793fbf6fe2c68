/**
 * Video requests in fal's words. Each family of models has its own endpoints, and each endpoint its
 * own members (@fal-ai/client: types/endpoints; fal docs: Model APIs). One table gives both the body of
 * a request and the members of the input that the request contains.
 */
import type { VideoInput, VideoOperation } from '../../catalogue/inputs.ts';
import { nameElements } from './elements.ts';
import type { JsonObject } from './exchange.ts';
import { bodyOf, type Field, field as makeField, membersOf } from './fields.ts';
import { together } from './references.ts';

type VideoField = Field<VideoInput>;

const field = (to: string, ...from: readonly (keyof VideoInput)[]): VideoField =>
  makeField(to, ...from);

/** An endpoint: what follows the model in the path, and its members. */
interface Endpoint {
  readonly suffix: string;
  readonly fields: readonly VideoField[];
}

interface Family {
  readonly model: RegExp;
  readonly endpoints: Readonly<Partial<Record<VideoOperation, Endpoint | undefined>>>;
}

const PROMPT = field('prompt', 'prompt');
const NEGATIVE = field('negative_prompt', 'negative_prompt');
const RATIO = field('aspect_ratio', 'aspect_ratio');
const RESOLUTION = field('resolution', 'resolution');
const SOUND = field('generate_audio', 'output_audio');
const SEED = field('seed', 'seed');
const FIRST = field('image_url', 'image', 'start_image');
const LAST = field('end_image_url', 'end_image');
const FILM = field('video_url', 'video_url');

/** Most models take `8`, Veo takes `8s`, and Grok takes the number. */
const secondsAs = (text: (seconds: number) => unknown): VideoField => ({
  ...{ to: 'duration', from: ['duration'] },
  value: ({ duration }) => (duration === undefined ? undefined : text(duration)),
});
const SECONDS = secondsAs(String);

/** Weir's clients send 0 to 20; fal takes 0 to 1 (fal docs: Kling, Range of cfg_scale). */
const CFG_SCALE: VideoField = {
  ...{ to: 'cfg_scale', from: ['cfg_scale'] },
  value: ({ cfg_scale }) => (cfg_scale === undefined ? undefined : cfg_scale / MAX_CFG_SCALE),
};
const MAX_CFG_SCALE = 20;

const ELEMENTS: VideoField = {
  ...{ to: 'elements', from: ['kling_elements'] },
  value: ({ kling_elements }) =>
    kling_elements?.map(({ element_input_urls: [frontal, ...others] }) => ({
      frontal_image_url: frontal,
      reference_image_urls: others,
    })),
};
/** The prompt of a Kling model, with fal's names for the elements. */
const KLING_PROMPT: VideoField = {
  ...{ to: 'prompt', from: ['prompt'] },
  value: ({ prompt, kling_elements = [] }) =>
    nameElements(prompt, kling_elements, (at) => `@Element${at}`),
};
/** The person of a result looks as in the reference video, which may then last 30 seconds. */
const ORIENTATION: VideoField = { to: 'character_orientation', from: [], value: () => 'video' };

/** The references of Seedance. A source video is one of them. */
const SEEDANCE_REFERENCES: readonly VideoField[] = [
  field('image_urls', 'reference_images'),
  {
    ...{ to: 'video_urls', from: ['video_urls', 'video_url'] },
    value: ({ video_urls, video_url }) => together(video_urls, video_url),
  },
  {
    ...{ to: 'audio_urls', from: ['audio_urls', 'audio_url'] },
    value: ({ audio_urls, audio_url }) => together(audio_urls, audio_url),
  },
];

const VEO = [PROMPT, secondsAs((seconds) => `${seconds}s`), RATIO, RESOLUTION, SOUND];
const VEO_FRAMES = [...VEO, NEGATIVE, SEED];
const KLING = [KLING_PROMPT, NEGATIVE, SECONDS, SOUND];
const KLING_3 = [...KLING, CFG_SCALE];
const KLING_FRAMES = [field('start_image_url', 'image', 'start_image'), LAST, ELEMENTS];
const OLD_KLING_FRAMES = [FIRST, field('tail_image_url', 'end_image')];
const SEEDANCE = [PROMPT, SECONDS, RATIO, RESOLUTION, SOUND, SEED];
const GROK = [PROMPT, secondsAs(Number), RATIO, RESOLUTION];
const ANY = [PROMPT, NEGATIVE, SECONDS, RATIO, RESOLUTION, SOUND, SEED, CFG_SCALE];
const MOTION: Endpoint = {
  suffix: '/motion-control',
  fields: [PROMPT, field('image_url', 'image'), FILM, ORIENTATION],
};

/** The endpoints of a Kling model that makes a video from text, or from a first frame. */
const klingEndpoints = (fields: readonly VideoField[], frames: readonly VideoField[]) => ({
  'text-to-video': { suffix: '/text-to-video', fields: [...fields, RATIO] },
  'image-to-video': { suffix: '/image-to-video', fields: [...fields, ...frames] },
  'start-end-to-video': { suffix: '/image-to-video', fields: [...fields, ...frames] },
  'motion-control': MOTION,
});

const VEO_ENDPOINTS: Family['endpoints'] = {
  'text-to-video': { suffix: '', fields: VEO_FRAMES },
  'image-to-video': { suffix: '/image-to-video', fields: [...VEO_FRAMES, FIRST] },
  'start-end-to-video': {
    suffix: '/first-last-frame-to-video',
    fields: [
      ...VEO_FRAMES,
      field('first_frame_url', 'start_image', 'image'),
      field('last_frame_url', 'end_image'),
    ],
  },
  'reference-to-video': {
    suffix: '/reference-to-video',
    fields: [...VEO, field('image_urls', 'reference_images')],
  },
  'video-extension': { suffix: '/extend-video', fields: [...VEO_FRAMES, FILM] },
};

/** The first family that fits the physical model is used. */
const FAMILIES: readonly Family[] = [
  {
    model: /upscale/,
    endpoints: { 'video-to-video': { suffix: '', fields: [FILM, field('target_fps', 'fps')] } },
  },
  // The fast models have no endpoint for references.
  { model: /veo.*\/fast/, endpoints: { ...VEO_ENDPOINTS, 'reference-to-video': undefined } },
  { model: /veo/, endpoints: VEO_ENDPOINTS },
  { model: /kling-video\/v3/, endpoints: klingEndpoints(KLING_3, KLING_FRAMES) },
  {
    model: /kling-video\/v2\.6/,
    endpoints: klingEndpoints(KLING, KLING_FRAMES.slice(0, 2)),
  },
  {
    model: /kling-video\/o1/,
    endpoints: klingEndpoints([KLING_PROMPT, SECONDS], KLING_FRAMES.slice(0, 2)),
  },
  {
    model: /kling-video\/o3/,
    endpoints: {
      ...klingEndpoints([KLING_PROMPT, SECONDS, SOUND], [FIRST, LAST]),
      'reference-to-video': {
        suffix: '/reference-to-video',
        fields: [KLING_PROMPT, SECONDS, SOUND, RATIO, field('image_urls', 'reference_images')],
      },
      'video-to-video': {
        suffix: '/video-to-video/edit',
        fields: [KLING_PROMPT, FILM, field('image_urls', 'reference_images')],
      },
    },
  },
  {
    model: /kling/,
    endpoints: klingEndpoints([KLING_PROMPT, NEGATIVE, SECONDS, CFG_SCALE], OLD_KLING_FRAMES),
  },
  {
    model: /seedance/,
    endpoints: {
      'text-to-video': { suffix: '/text-to-video', fields: SEEDANCE },
      'image-to-video': { suffix: '/image-to-video', fields: [...SEEDANCE, FIRST, LAST] },
      'start-end-to-video': { suffix: '/image-to-video', fields: [...SEEDANCE, FIRST, LAST] },
      'reference-to-video': {
        suffix: '/reference-to-video',
        fields: [...SEEDANCE, ...SEEDANCE_REFERENCES],
      },
      'video-to-video': {
        suffix: '/reference-to-video',
        fields: [...SEEDANCE, ...SEEDANCE_REFERENCES],
      },
    },
  },
  {
    model: /grok/,
    endpoints: {
      'text-to-video': { suffix: '/text-to-video', fields: GROK },
      'image-to-video': { suffix: '/image-to-video', fields: [...GROK, FIRST] },
      'reference-to-video': {
        suffix: '/reference-to-video',
        fields: [...GROK, field('reference_image_urls', 'reference_images')],
      },
      'video-to-video': { suffix: '/edit-video', fields: [PROMPT, FILM] },
      'video-extension': { suffix: '/extend-video', fields: [PROMPT, FILM, secondsAs(Number)] },
    },
  },
];

/** The members under the names that most models share, for a model of no known family. */
const OTHER: Family['endpoints'] = {
  'text-to-video': { suffix: '', fields: ANY },
  'image-to-video': { suffix: '', fields: [...ANY, FIRST, LAST] },
  'start-end-to-video': { suffix: '', fields: [...ANY, FIRST, LAST] },
  'reference-to-video': {
    suffix: '',
    fields: [...ANY, field('reference_image_urls', 'reference_images')],
  },
  'video-to-video': {
    suffix: '',
    fields: [...ANY, FILM, field('image_urls', 'reference_images'), field('target_fps', 'fps')],
  },
  'video-extension': { suffix: '', fields: [...ANY, FILM] },
  'audio-to-video': { suffix: '', fields: [...ANY, FIRST, field('audio_url', 'audio_url')] },
  'motion-control': { suffix: '', fields: [...ANY, FIRST, FILM] },
};

const endpointOf = (model: string, { operation }: VideoInput): Endpoint | undefined =>
  (FAMILIES.find((family) => family.model.test(model))?.endpoints ?? OTHER)[operation];

/** Returns the path and the body of a video request; undefined if the model lacks the operation. */
export function falVideoRequest(
  physical_model: string,
  input: VideoInput,
): { path: string; body: JsonObject } | undefined {
  const endpoint = endpointOf(physical_model, input);
  if (!endpoint) return undefined;
  const model = pathOf(physical_model, input);
  // A configuration may name the endpoint instead of its model.
  const suffix = /-to-video$/.test(model) ? '' : endpoint.suffix;
  return { path: `/${model}${suffix}`, body: bodyOf(endpoint.fields, input) };
}

/**
 * Returns the path of a model. fal has no parameter for the resolution of a Kling model: instead the
 * path contains `standard` for 720p and `pro` for 1080p.
 */
function pathOf(physical_model: string, { resolution }: VideoInput): string {
  if (resolution === undefined || !physical_model.includes('kling')) return physical_model;
  const mode = resolution === '1080p' ? 'pro' : 'standard';
  return physical_model.replace(/\/(?:standard|pro)(?=\/|$)/, `/${mode}`);
}

/** Members that only some operations use. */
const MEDIA: readonly string[] = [
  ...['image', 'start_image', 'end_image', 'reference_images', 'video_url', 'video_urls'],
  ...['audio_url', 'audio_urls', 'continued_job'],
];

/** Returns the members of the input that a video request of this model contains. */
export function falVideoMembers(model: string, input: VideoInput): readonly string[] {
  const endpoint = endpointOf(model, input);
  // The client learns that the model takes none of the inputs of this operation.
  if (!endpoint) return Object.keys(input).filter((name) => !MEDIA.includes(name));
  const names = membersOf(endpoint.fields);
  // An upscaler takes no prompt. `prompt` counts as sent, because it may be left out here (P18).
  if (model.includes('upscale')) return [...names, 'prompt'];
  if (!model.includes('kling')) return names;
  const isSized = /\/(?:standard|pro)(?:\/|$)/.test(model) || input.resolution === '720p';
  return isSized ? [...names, 'resolution'] : names;
}
