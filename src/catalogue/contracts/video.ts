import { validator } from '../../errors/validate.ts';
import type { GenerationInput, KlingElement, VideoInput, VideoOperation } from '../inputs.ts';
import type { Offers } from '../schema.ts';
import { invalidParameter, pickParameters, resolveAliases } from './check.ts';
import type { Body, GenerationContract } from './contract.ts';
import { checkReference, isInline, type MediaKind } from './media.ts';
import { checkInputs, inferOperation, START_IMAGES } from './video-operations.ts';
import { VIDEO_PARAMETERS, videoSchema } from './video-schema.ts';

/**
 * Other names that clients may use for a parameter. The canonical name is on the right (spec: Video
 * generation, rule 1).
 */
const ALIASES = {
  referenceImages: 'reference_images',
  referenceImageType: 'reference_image_type',
  outputAudio: 'output_audio',
};

/** The duration of a video if the offers have no `durations`. */
const DEFAULT_DURATION_S = 5;

/** The contract of a video model (spec: Video generation). */
export function videoContract(id: string, offers: Offers): GenerationContract {
  const operations = offers.operations ?? ['text-to-video'];
  const schema = videoSchema(offers);
  const names = Object.keys(schema.properties);
  const check = validator(schema);
  return {
    schema,
    operations,
    rules: rulesOf(operations, offers),
    accept(body: Body): GenerationInput {
      const given = resolveAliases(body, ALIASES);
      refuseForeignParameters(id, names, given);
      const known = pickParameters(given, names);
      check(known);
      const operation = operationOf(id, operations, known);
      checkInputs(operation, known);
      if (hasSource(operation)) refuseBesideSource(id, known, offers);
      checkMedia(known, offers);
      checkCounts(known, offers);
      checkElements(known as Partial<VideoInput>, operation);
      return normalise(operation, known as GivenParameters, offers);
    },
  };
}

/**
 * Throws WeirError for a parameter that the model does not have. The value `false` is accepted for
 * every parameter, because `false` requests nothing.
 */
function refuseForeignParameters(id: string, names: readonly string[], given: Body): void {
  const foreign = VIDEO_PARAMETERS.find(
    (name) => name in given && given[name] !== false && !names.includes(name),
  );
  if (foreign)
    throw invalidParameter(
      foreign,
      `${id} does not take ${foreign}.`,
      `Send GET /v1/models/${id} for its parameters.`,
    );
}

function operationOf(
  id: string,
  operations: readonly VideoOperation[],
  given: Body,
): VideoOperation {
  const requested = given['operation'] as VideoOperation | undefined;
  const operation = requested ?? inferOperation(given, operations);
  if (operations.includes(operation)) return operation;
  const hint = `Use one of ${operations.join(', ')}.`;
  if (requested) throw invalidParameter('operation', `${id} does not offer ${operation}.`, hint);
  throw invalidParameter(
    'operation',
    `These inputs request the operation ${operation}, which ${id} does not offer.`,
    hint,
  );
}

/** True for an operation whose output follows a source video. */
const hasSource = (operation: VideoOperation) =>
  operation === 'video-to-video' || operation === 'motion-control';

/**
 * Throws WeirError if a parameter does not reach the provider beside a source video. Such a parameter
 * would change nothing but the price (P17).
 */
function refuseBesideSource(id: string, given: Body, offers: Offers): void {
  const refused = [
    ...(offers.max_source_seconds ? ['duration'] : []),
    ...(offers.not_with_source ?? []),
  ].find((name) => given[name] !== undefined);
  if (refused === undefined) return;
  throw invalidParameter(
    refused,
    `${id} does not take ${refused} with a source video.`,
    `Leave ${refused} out.`,
  );
}

type GivenParameters = Omit<Partial<VideoInput>, 'operation' | 'image'> & {
  image?: string;
  image_url?: string;
  image_urls?: string[];
  operation?: VideoOperation;
  task_id?: string;
};

const MEDIA_PARAMETERS: readonly [param: string, kind: MediaKind][] = [
  ['image', 'image'],
  ['image_url', 'image'],
  ['image_urls', 'image'],
  ['start_image', 'image'],
  ['end_image', 'image'],
  ['reference_images', 'image'],
  ['video_url', 'video'],
  ['video_urls', 'video'],
  ['audio_url', 'audio'],
  ['audio_urls', 'audio'],
];

/**
 * Throws WeirError if an input is neither a public URL nor inline data of the right kind. Also
 * throws if some inputs are inline and others are URLs (spec: Video generation, rule 3).
 */
function checkMedia(given: Body, offers: Offers): void {
  let inline: string | undefined;
  let remote: string | undefined;
  for (const [param, kind] of MEDIA_PARAMETERS) {
    const value = given[param];
    const references = (Array.isArray(value) ? value : [value]).filter(
      (each): each is string => typeof each === 'string',
    );
    for (const reference of references) {
      checkReference(reference, param, kind, offers.inline_inputs ?? false);
      if (isInline(reference)) inline ??= param;
      else remote ??= param;
    }
  }
  const { image } = given;
  if (typeof image === 'string' && !isInline(image)) {
    throw invalidParameter('image', 'image must be a data: URL.', 'Send a URL as image_url.');
  }
  if (inline !== undefined && remote !== undefined) {
    throw invalidParameter(
      inline,
      `${inline} is inline and ${remote} is a URL. Send all inputs inline, or all as URLs.`,
    );
  }
}

/**
 * Throws WeirError if a call has more videos or audios than the model takes, or if two parameters
 * set the same frame (spec: Video generation, rule 2).
 */
function checkCounts(given: Body, offers: Offers): void {
  const count = (list: string, single: string) => {
    const value = given[list];
    return (Array.isArray(value) ? value.length : 0) + (given[single] === undefined ? 0 : 1);
  };
  const videos = offers.max_reference_videos;
  if (videos !== undefined && count('video_urls', 'video_url') > Math.max(videos, 1)) {
    throw invalidParameter(
      'video_urls',
      `video_urls and video_url must have at most ${videos} videos together.`,
    );
  }
  const audios = offers.max_reference_audios;
  if (audios !== undefined && count('audio_urls', 'audio_url') > Math.max(audios, 1)) {
    throw invalidParameter(
      'audio_urls',
      `audio_urls and audio_url must have at most ${audios} audios together.`,
    );
  }
  const starts = START_IMAGES.filter((name) => given[name] !== undefined);
  const [first, second] = starts;
  if (first && second)
    throw invalidParameter(
      second,
      `${first} and ${second} both set the first frame. Send only one of them.`,
    );
  if (given['end_image'] !== undefined && count('image_urls', '') > 1) {
    throw invalidParameter(
      'end_image',
      'image_urls and end_image both set the last frame. Send only one of them.',
    );
  }
}

const IMAGE_CONDITIONED: readonly VideoOperation[] = ['image-to-video', 'start-end-to-video'];

/**
 * Throws WeirError if `kling_elements` come without an image, if two of them have the same name, if
 * one has a URL that is not public, or if the prompt names an element that is not in the list.
 */
function checkElements(
  { kling_elements: elements, prompt = '' }: Partial<VideoInput>,
  operation: VideoOperation,
): void {
  if (!elements) return;
  if (!IMAGE_CONDITIONED.includes(operation)) {
    throw invalidParameter(
      'kling_elements',
      'kling_elements require image_url, image_urls, start_image or end_image.',
    );
  }
  const names = elements.map(({ name }) => name);
  if (new Set(names).size < names.length) {
    throw invalidParameter('kling_elements', 'kling_elements must have different names.');
  }
  for (const [index, element] of elements.entries()) checkElementUrls(index, element);
  for (const [, name] of prompt.matchAll(/(?:^|[^\w.])@([A-Za-z0-9_-]+)/g)) {
    if (name && !names.includes(name)) {
      throw invalidParameter('prompt', `prompt names @${name}, which is not in kling_elements.`);
    }
  }
}

function checkElementUrls(index: number, { element_input_urls }: KlingElement): void {
  for (const [position, url] of element_input_urls.entries()) {
    checkReference(url, `kling_elements.${index}.element_input_urls.${position}`, 'image', false);
  }
}

function normalise(
  operation: VideoOperation,
  given: GivenParameters,
  offers: Offers,
): GenerationInput {
  const { image_url, image_urls = [], image, start_image, end_image, task_id, ...rest } = given;
  const start = start_image ?? image_url ?? image ?? image_urls[0];
  const end = end_image ?? image_urls[1];
  const hasEndFrame = operation === 'start-end-to-video';
  const duration = durationOf(operation, given, offers);
  const setsResolution = hasSource(operation) && offers.not_with_source?.includes('resolution');
  const resolution = setsResolution ? undefined : (given.resolution ?? offers.resolutions?.[0]);
  const output_audio = given.output_audio ?? offers.output_audio;
  return {
    ...rest,
    scene: 'video',
    operation,
    ...(duration === undefined ? {} : { duration }),
    ...(start === undefined ? {} : { [hasEndFrame ? 'start_image' : 'image']: start }),
    ...(end === undefined ? {} : { end_image: end }),
    ...(task_id === undefined ? {} : { continued_job: task_id }),
    ...(resolution === undefined ? {} : { resolution }),
    ...(output_audio === undefined ? {} : { output_audio }),
  };
}

/**
 * Returns the duration in seconds. Returns undefined if the video will be as long as its source
 * video, because the length of the source is not known here.
 */
function durationOf(
  operation: VideoOperation,
  given: GivenParameters,
  offers: Offers,
): number | undefined {
  if (hasSource(operation) && offers.max_source_seconds) return undefined;
  return given.duration ?? offers.durations?.[0] ?? DEFAULT_DURATION_S;
}

/** The rule about the parameters that a call with a source video cannot have. */
function sourceRules(operations: readonly VideoOperation[], offers: Offers): string[] {
  const names = offers.not_with_source ?? [];
  if (names.length === 0 || !operations.some(hasSource)) return [];
  return [`With a source video, these parameters are refused: ${names.join(', ')}.`];
}

function rulesOf(operations: readonly VideoOperation[], offers: Offers): string[] {
  return [
    `operation is one of ${operations.join(', ')}. If it is missing, it is inferred from the inputs.`,
    'All inputs must be URLs, or all must be inline.',
    ...(offers.parameters?.includes('kling_elements')
      ? ['kling_elements require image_url, image_urls, start_image or end_image.']
      : []),
    ...(offers.max_source_seconds
      ? [`The source video must last at most ${offers.max_source_seconds} seconds.`]
      : []),
    ...sourceRules(operations, offers),
  ];
}
