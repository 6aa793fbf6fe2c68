import type { KlingElement, VideoInput, VideoOperation } from '../inputs.ts';
import type { Offers } from '../schema.ts';
import { invalidParameter } from './check.ts';
import type { Body } from './contract.ts';
import { checkReference, isInline, type MediaKind } from './media.ts';
import { START_IMAGES } from './video-operations.ts';

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
export function checkMedia(given: Body, offers: Offers): void {
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
export function checkCounts(given: Body, offers: Offers): void {
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
export function checkElements(
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
