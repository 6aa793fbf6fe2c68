import { validator } from '../../errors/validate.ts';
import type { GenerationInput, VideoInput, VideoOperation } from '../inputs.ts';
import type { Offers } from '../schema.ts';
import {
  invalidParameter,
  type ModelName,
  pickParameters,
  refuseUnknown,
  resolveAliases,
} from './check.ts';
import type { Body, GenerationContract } from './contract.ts';
import { checkCounts, checkElements, checkMedia } from './video-media.ts';
import {
  checkInputs,
  hasSource,
  inferOperation,
  isRefusedWith,
  isTakenBy,
  refuseBesideInput,
} from './video-operations.ts';
import { VIDEO_PARAMETERS, videoSchemas } from './video-schema.ts';

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
export function videoContract(model: ModelName, offers: Offers): GenerationContract {
  const { id } = model;
  const operations = offers.operations ?? ['text-to-video'];
  const schemas = videoSchemas(offers, operations);
  const names = Object.keys(schemas.checked.properties);
  const check = validator(schemas.checked);
  const parameters = {
    published: Object.keys(schemas.published.properties),
    checked: names,
    aliases: ALIASES,
    elsewhere: VIDEO_PARAMETERS,
  };
  return {
    schema: schemas.published,
    operations,
    rules: rulesOf(operations, offers),
    accept(body: Body): GenerationInput {
      refuseUnknown(model, body, parameters);
      const known = pickParameters(resolveAliases(body, ALIASES), names);
      check(known);
      const operation = operationOf(id, operations, known);
      checkInputs(operation, known, offers);
      refuseBesideInput(id, operation, known, offers);
      checkMedia(known, offers);
      checkCounts(known, offers);
      checkElements(known as Partial<VideoInput>, operation);
      return normalise(operation, known as GivenParameters, offers);
    },
  };
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

type GivenParameters = Omit<Partial<VideoInput>, 'operation' | 'image'> & {
  image?: string;
  image_url?: string;
  image_urls?: string[];
  operation?: VideoOperation;
  task_id?: string;
};

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
  const isTaken = (name: string) => isTakenBy(operation, name, offers);
  const resolution = isTaken('resolution')
    ? (given.resolution ?? offers.resolutions?.[0])
    : undefined;
  const output_audio = isTaken('output_audio')
    ? (given.output_audio ?? offers.output_audio)
    : undefined;
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

/** The rules about parameters that some of the model's operations do not take. */
function operationRules(operations: readonly VideoOperation[], offers: Offers): string[] {
  const { published } = videoSchemas(offers, operations);
  const names = Object.keys(published.properties);
  const refusedBy = (with_what: string, concerned: readonly VideoOperation[]) => {
    const offered = concerned.filter((operation) => operations.includes(operation));
    const refused = names.filter((name) =>
      offered.some((operation) => isRefusedWith(operation, name, offers)),
    );
    if (refused.length === 0) return [];
    return [`With ${with_what}, these parameters are refused: ${refused.join(', ')}.`];
  };
  return [
    ...refusedBy('a first frame', ['image-to-video', 'start-end-to-video']),
    ...refusedBy('a source video', ['video-to-video', 'motion-control']),
  ];
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
    ...operationRules(operations, offers),
  ];
}
