import type { VideoOperation } from '../inputs.ts';
import type { Offers } from '../schema.ts';
import { invalidParameter } from './check.ts';
import type { Body } from './contract.ts';

/** Parameters that set the first frame of a video. A call may have at most one of them. */
export const START_IMAGES = ['start_image', 'image_url', 'image', 'image_urls'] as const;
const REFERENCES = ['reference_images', 'video_urls', 'audio_urls', 'audio_url'] as const;

/** A call with reference audios needs one of these parameters (Seedance docs: reference audios). */
const VISIBLE_REFERENCES = ['reference_images', 'video_urls', 'video_url'];

/**
 * The inputs of an operation. `required` holds groups of parameters. A call needs at least one
 * parameter of each group. The parameters of `optional` may be missing.
 */
interface OperationInputs {
  readonly required: readonly (readonly string[])[];
  readonly optional: readonly string[];
}

const REFERENCE_TYPE = ['reference_image_type'];
const SOURCE_PARAMETERS = [
  ...START_IMAGES,
  ...REFERENCE_TYPE,
  'reference_images',
  'video_urls',
  'audio_url',
  'audio_urls',
];

const OPERATION_INPUTS: Record<VideoOperation, OperationInputs> = {
  'text-to-video': { required: [], optional: [] },
  'image-to-video': { required: [START_IMAGES], optional: ['kling_elements'] },
  'start-end-to-video': { required: [START_IMAGES, ['end_image']], optional: ['kling_elements'] },
  'reference-to-video': {
    required: [[...REFERENCES, 'video_url']],
    optional: REFERENCE_TYPE,
  },
  'video-to-video': { required: [['video_url']], optional: SOURCE_PARAMETERS },
  'motion-control': { required: [['video_url'], START_IMAGES], optional: [] },
  'video-extension': {
    required: [['task_id', 'video_url']],
    optional: ['extend_at', 'extend_times', ...START_IMAGES],
  },
  'audio-to-video': { required: [['audio_url', 'audio_urls']], optional: SOURCE_PARAMETERS },
};

/** Every parameter that only some operations use. */
const MEDIA_PARAMETERS = [
  ...new Set(
    Object.values(OPERATION_INPUTS).flatMap(({ required, optional }) => [
      ...required.flat(),
      ...optional,
    ]),
  ),
];

/** Reference parameters. A model takes one only if the named member of its offers is above 0. */
const REFERENCE_OFFERS: Readonly<Record<string, keyof Offers>> = {
  reference_images: 'max_reference_images',
  video_url: 'max_reference_videos',
  video_urls: 'max_reference_videos',
  audio_url: 'max_reference_audios',
  audio_urls: 'max_reference_audios',
};

/** The inputs of an operation, limited to the model's offers. */
function inputsOf(operation: VideoOperation, offers: Offers): OperationInputs {
  const { required, optional } = OPERATION_INPUTS[operation];
  const isOffered = (name: string) => {
    const offer = REFERENCE_OFFERS[name];
    return offer === undefined || Number(offers[offer] ?? 0) > 0;
  };
  return {
    // In the other operations, `video_url` or `audio_url` is not a reference, but the source. A
    // model that offers the operation takes its source.
    required:
      operation === 'reference-to-video'
        ? required.map((group) => group.filter(isOffered))
        : required,
    optional: optional.filter(isOffered),
  };
}

/** True for an operation that edits a source video, or copies its motion. */
export const hasSource = (operation: VideoOperation) =>
  operation === 'video-to-video' || operation === 'motion-control';

/** Returns the parameters that the provider does not take for an operation (P18). */
function refusedWith(operation: VideoOperation, offers: Offers): readonly string[] {
  if (operation === 'image-to-video' || operation === 'start-end-to-video') {
    return offers.not_with_image ?? [];
  }
  if (!hasSource(operation)) return [];
  return [...(offers.max_source_seconds ? ['duration'] : []), ...(offers.not_with_source ?? [])];
}

/** True if the model has the parameter, but the provider does not take it for this operation. */
export function isRefusedWith(operation: VideoOperation, name: string, offers: Offers): boolean {
  return refusedWith(operation, offers).includes(name);
}

/** True if the operation allows the parameter. It is not checked whether the model has it. */
export function isTakenBy(operation: VideoOperation, name: string, offers: Offers): boolean {
  if (isRefusedWith(operation, name, offers)) return false;
  if (!MEDIA_PARAMETERS.includes(name)) return true;
  const { required, optional } = inputsOf(operation, offers);
  return required.flat().includes(name) || optional.includes(name);
}

/**
 * Throws WeirError if the call has a parameter that the provider does not take for this operation.
 * The parameter would change nothing, or only the price (P17, P18).
 */
export function refuseBesideInput(
  id: string,
  operation: VideoOperation,
  given: Body,
  offers: Offers,
): void {
  const refused = refusedWith(operation, offers).find((name) => given[name] !== undefined);
  if (refused === undefined) return;
  const beside = hasSource(operation) ? 'a source video' : 'a first frame';
  throw invalidParameter(
    refused,
    `${id} does not take ${refused} with ${beside}.`,
    `Leave ${refused} out.`,
  );
}

/**
 * Returns the operation of a call that does not have the parameter `operation` (spec: Video
 * generation). If the inputs fit several operations, returns the first of these that the model
 * offers.
 */
export function inferOperation(given: Body, offered: readonly VideoOperation[]): VideoOperation {
  const [only, ...others] = offered;
  if (only && others.length === 0) return only;
  const possible = possibleOperations(given);
  const first = possible[0] ?? 'text-to-video';
  return possible.find((operation) => offered.includes(operation)) ?? first;
}

/** Returns the operations that the inputs fit, the most specific operation first. */
function possibleOperations(given: Body): VideoOperation[] {
  const has = (names: readonly string[]) => names.some((name) => given[name] !== undefined);
  if (has(['task_id', 'extend_at', 'extend_times'])) return ['video-extension'];
  if (has(['video_url'])) {
    return has(START_IMAGES)
      ? ['motion-control', 'video-to-video']
      : ['video-to-video', 'reference-to-video'];
  }
  if (has(['reference_images', 'video_urls', 'reference_image_type']))
    return ['reference-to-video'];
  if (has(['audio_url', 'audio_urls'])) return ['audio-to-video', 'reference-to-video'];
  if (has(['end_image'])) return ['start-end-to-video'];
  const images = given['image_urls'];
  if (Array.isArray(images) && images.length > 1) return ['start-end-to-video'];
  if (has(START_IMAGES)) return ['image-to-video'];
  return ['text-to-video'];
}

/**
 * Throws WeirError if the call has an input that the operation does not use, or lacks an input that
 * the operation requires.
 */
export function checkInputs(operation: VideoOperation, given: Body, offers: Offers): void {
  const { required, optional } = inputsOf(operation, offers);
  const used = [...required.flat(), ...optional];
  const unused = MEDIA_PARAMETERS.find((name) => given[name] !== undefined && !used.includes(name));
  if (unused) {
    throw invalidParameter(
      unused,
      `${operation} does not use ${unused}.`,
      `Leave ${unused} out, or send another operation.`,
    );
  }
  if (isImplied('end_image', given) && !used.includes('end_image')) {
    throw invalidParameter(
      'image_urls',
      `${operation} does not use a last frame, but image_urls has a second image.`,
      'Send only one image in image_urls.',
    );
  }
  const has = (name: string) => given[name] !== undefined || isImplied(name, given);
  for (const group of required) {
    if (group.some(has)) continue;
    const [param = ''] = group;
    throw invalidParameter(param, `${operation} needs ${group.join(' or ')}.`);
  }
  if (operation === 'reference-to-video' && !VISIBLE_REFERENCES.some(has)) {
    throw invalidParameter(
      'reference_images',
      'reference-to-video with audio needs reference_images, video_urls or video_url as well.',
    );
  }
}

/**
 * True for `end_image` if `image_urls` has a second image. That second image is the last frame.
 */
function isImplied(name: string, given: Body): boolean {
  const images = given['image_urls'];
  return name === 'end_image' && Array.isArray(images) && images.length > 1;
}
