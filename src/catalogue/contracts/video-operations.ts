import type { VideoOperation } from '../inputs.ts';
import { refuse } from './check.ts';
import type { Body } from './contract.ts';

/** Parameters that say where a video begins. */
export const START_IMAGES = ['start_image', 'image_url', 'image', 'image_urls'] as const;
const REFERENCES = ['reference_images', 'video_urls', 'audio_urls', 'audio_url'] as const;

/** Sounds alone show nothing to refer to (Seedance docs: reference audios). */
const VISIBLE_REFERENCES = ['reference_images', 'video_urls', 'video_url'];

/** Media that an operation works from: each group needs one of its parameters; `also` may be there. */
interface Needs {
  readonly groups: readonly (readonly string[])[];
  readonly also: readonly string[];
}

const ROLE = ['reference_image_type'];
const SOURCES = [
  ...START_IMAGES,
  ...ROLE,
  'reference_images',
  'video_urls',
  'audio_url',
  'audio_urls',
];

const NEEDS: Record<VideoOperation, Needs> = {
  'text-to-video': { groups: [], also: [] },
  'image-to-video': { groups: [START_IMAGES], also: ['kling_elements'] },
  'start-end-to-video': { groups: [START_IMAGES, ['end_image']], also: ['kling_elements'] },
  'reference-to-video': {
    groups: [[...REFERENCES, 'video_url']],
    also: ROLE,
  },
  'video-to-video': { groups: [['video_url']], also: SOURCES },
  'motion-control': { groups: [['video_url'], START_IMAGES], also: [] },
  'video-extension': {
    groups: [['task_id', 'video_url']],
    also: ['extend_at', 'extend_times', ...START_IMAGES],
  },
  'audio-to-video': { groups: [['audio_url', 'audio_urls']], also: SOURCES },
};

/** Every parameter that only some operations work from. */
const MEDIA = [
  ...new Set(Object.values(NEEDS).flatMap(({ groups, also }) => [...groups.flat(), ...also])),
];

/**
 * What a call without `operation` means (spec: Video generation, `operation`). Between readings the
 * one that the model offers is meant.
 */
export function inferOperation(given: Body, offered: readonly VideoOperation[]): VideoOperation {
  const [only, ...others] = offered;
  if (only && others.length === 0) return only;
  const readings = readingsOf(given);
  const first = readings[0] ?? 'text-to-video';
  return readings.find((each) => offered.includes(each)) ?? first;
}

/** Most specific first. */
function readingsOf(given: Body): VideoOperation[] {
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

/** Throws WeirError where an operation lacks what it works from, or is given what it cannot use. */
export function checkInputs(operation: VideoOperation, given: Body): void {
  const { groups, also } = NEEDS[operation];
  const has = (name: string) => given[name] !== undefined || impliedBy(name, given);
  for (const group of groups) {
    if (group.some(has)) continue;
    const [param = ''] = group;
    throw refuse(param, `${operation} needs ${group.join(' or ')}.`);
  }
  if (operation === 'reference-to-video' && !VISIBLE_REFERENCES.some(has)) {
    throw refuse('reference_images', 'Reference audios go with an image or a video.');
  }
  const used = [...groups.flat(), ...also];
  const unused = MEDIA.find((name) => given[name] !== undefined && !used.includes(name));
  if (unused) {
    throw refuse(
      unused,
      `${operation} does not use ${unused}.`,
      'Leave it out, or name another operation.',
    );
  }
}

/** The second of `image_urls` is where a video ends. */
function impliedBy(name: string, given: Body): boolean {
  const images = given['image_urls'];
  return name === 'end_image' && Array.isArray(images) && images.length > 1;
}
