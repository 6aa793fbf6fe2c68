import { validator } from '../../errors/validate.ts';
import type { GenerationInput, KlingElement, VideoInput, VideoOperation } from '../inputs.ts';
import type { Offers } from '../schema.ts';
import { canonical, pick, refuse } from './check.ts';
import type { Body, GenerationContract } from './contract.ts';
import { checkReference, isInline, type MediaKind } from './media.ts';
import { checkInputs, inferOperation, START_IMAGES } from './video-operations.ts';
import { VIDEO_PARAMETERS, videoSchema } from './video-schema.ts';

/** Rule 1: canonical names are snake_case; these are taken as well. */
const ALIASES = {
  referenceImages: 'reference_images',
  referenceImageType: 'reference_image_type',
  outputAudio: 'output_audio',
};

/** Seconds where a model neither offers durations nor works from a source. */
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
      const given = canonical(body, ALIASES);
      refuseForeign(id, names, given);
      const known = pick(given, names);
      check(known);
      const operation = operationOf(id, operations, known);
      checkInputs(operation, known);
      checkMedia(known, offers);
      checkCounts(known, offers);
      checkElements(known as Partial<VideoInput>, operation);
      return normalise(operation, known as GivenParameters, offers);
    },
  };
}

/** `false` for a switch that a model does not have asks for nothing. */
function refuseForeign(id: string, names: readonly string[], given: Body): void {
  const foreign = VIDEO_PARAMETERS.find(
    (name) => name in given && given[name] !== false && !names.includes(name),
  );
  if (foreign)
    throw refuse(foreign, `${id} does not take ${foreign}.`, `See GET /v1/models/${id}.`);
}

function operationOf(
  id: string,
  operations: readonly VideoOperation[],
  given: Body,
): VideoOperation {
  const asked = given['operation'] as VideoOperation | undefined;
  const operation = asked ?? inferOperation(given, operations);
  if (operations.includes(operation)) return operation;
  const offered = `It offers ${operations.join(', ')}.`;
  if (asked) throw refuse('operation', `${id} does not offer ${operation}.`, offered);
  throw refuse('operation', `These inputs mean ${operation}, which ${id} does not offer.`, offered);
}

type GivenParameters = Omit<Partial<VideoInput>, 'operation' | 'image'> & {
  image?: string;
  image_url?: string;
  image_urls?: string[];
  operation?: VideoOperation;
  task_id?: string;
};

const MEDIA: readonly [param: string, kind: MediaKind][] = [
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

/** Each reference is usable, and they are either all inline or all remote (rule 3). */
function checkMedia(given: Body, offers: Offers): void {
  let inline: string | undefined;
  let remote: string | undefined;
  for (const [param, kind] of MEDIA) {
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
    throw refuse('image', 'image must be a data: URL.', 'Send a URL as image_url.');
  }
  if (inline !== undefined && remote !== undefined) {
    throw refuse(inline, `${inline} is inline and ${remote} is a URL: send all inputs one way.`);
  }
}

/** Rule 2, for whatever number a model takes. */
function checkCounts(given: Body, offers: Offers): void {
  const count = (list: string, single: string) => {
    const value = given[list];
    return (Array.isArray(value) ? value.length : 0) + (given[single] === undefined ? 0 : 1);
  };
  const videos = offers.max_reference_videos;
  if (videos !== undefined && count('video_urls', 'video_url') > Math.max(videos, 1)) {
    throw refuse('video_urls', `video_urls must not make more than ${videos} videos.`);
  }
  const audios = offers.max_reference_audios;
  if (audios !== undefined && count('audio_urls', 'audio_url') > Math.max(audios, 1)) {
    throw refuse('audio_urls', `audio_urls must not make more than ${audios} audios.`);
  }
  const starts = START_IMAGES.filter((name) => given[name] !== undefined);
  const [first, second] = starts;
  if (first && second) throw refuse(second, `${first} and ${second} both say where to begin.`);
  if (given['end_image'] !== undefined && count('image_urls', '') > 1) {
    throw refuse('end_image', 'image_urls and end_image both say where to end.');
  }
}

const IMAGE_CONDITIONED: readonly VideoOperation[] = ['image-to-video', 'start-end-to-video'];

/** `kling_elements` go with a picture; a prompt speaks of elements that are there. */
function checkElements(
  { kling_elements: elements, prompt = '' }: Partial<VideoInput>,
  operation: VideoOperation,
): void {
  if (!elements) return;
  if (!IMAGE_CONDITIONED.includes(operation)) {
    throw refuse(
      'kling_elements',
      'kling_elements need image_url, image_urls, start_image or end_image.',
    );
  }
  const names = elements.map(({ name }) => name);
  if (new Set(names).size < names.length) {
    throw refuse('kling_elements', 'kling_elements must have different names.');
  }
  for (const [index, element] of elements.entries()) checkElementUrls(index, element);
  for (const [, name] of prompt.matchAll(/(?:^|[^\w.])@([A-Za-z0-9_-]+)/g)) {
    if (name && !names.includes(name)) {
      throw refuse('prompt', `The prompt speaks of @${name}, which is none of kling_elements.`);
    }
  }
}

function checkElementUrls(index: number, { element_input_urls }: KlingElement): void {
  for (const [place, url] of element_input_urls.entries()) {
    checkReference(url, `kling_elements.${index}.element_input_urls.${place}`, 'image', false);
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
  const isBetween = operation === 'start-end-to-video';
  const resolution = given.resolution ?? offers.resolutions?.[0];
  const output_audio = given.output_audio ?? offers.output_audio;
  return {
    ...rest,
    scene: 'video',
    operation,
    duration: durationOf(operation, given, offers),
    ...(start === undefined ? {} : { [isBetween ? 'start_image' : 'image']: start }),
    ...(end === undefined ? {} : { end_image: end }),
    ...(task_id === undefined ? {} : { continued_job: task_id }),
    ...(resolution === undefined ? {} : { resolution }),
    ...(output_audio === undefined ? {} : { output_audio }),
  };
}

/** What follows a source is as long as the source: at most what a source may have. */
function durationOf(operation: VideoOperation, given: GivenParameters, offers: Offers): number {
  const followsSource = operation === 'motion-control' || operation === 'video-to-video';
  if (followsSource && offers.max_source_seconds) return offers.max_source_seconds;
  return given.duration ?? offers.durations?.[0] ?? offers.max_source_seconds ?? DEFAULT_DURATION_S;
}

function rulesOf(operations: readonly VideoOperation[], offers: Offers): string[] {
  return [
    `operation is inferred from the inputs where it is left out; one of ${operations.join(', ')}.`,
    'All inputs are URLs, or all are inline.',
    ...(offers.parameters?.includes('kling_elements')
      ? ['kling_elements go with image_url, image_urls, start_image or end_image.']
      : []),
    ...(offers.max_source_seconds
      ? [`The source has at most ${offers.max_source_seconds} seconds.`]
      : []),
  ];
}
