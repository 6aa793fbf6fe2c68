import type { Offers } from '../schema.ts';
import { invalidParameter } from './check.ts';
import { exactRatio, requireSize } from './image-size.ts';

/** The parameters of an image's shape. */
interface Shape {
  readonly size?: string;
  readonly aspect_ratio?: string;
  readonly resolution?: string;
}

/**
 * Sizes, and the aspect ratios for which the providers use them. The exact ratio of such a size is
 * slightly different. The sizes are OpenAI's (OpenAI docs: Create image) and Gemini's (Gemini API
 * docs: Aspect ratios).
 */
const USUAL_SIZES: Readonly<Record<string, string>> = {
  ...{ '1792x1024': '16:9', '1024x1792': '9:16' },
  ...{ '1344x768': '16:9', '768x1344': '9:16', '1184x864': '4:3', '864x1184': '3:4' },
  ...{ '1152x896': '5:4', '896x1152': '4:5', '1536x672': '21:9' },
};

/** The most pixels that a size of each resolution may have, e.g. 1792x1024 is 1k, 3840x2160 is 4k. */
const MOST_PIXELS: readonly [resolution: string, pixels: number][] = [
  ['1k', 2_250_000],
  ['2k', 8_000_000],
  ['4k', Number.POSITIVE_INFINITY],
];
/** How many sizes a hint suggests. */
const SUGGESTED_SIZES = 2;
/** The edges of a suggested size are the numbers of its ratio, times a multiple of this, pixels. */
const SUGGESTED_STEP = 8;

/**
 * Applies rule 2 of the spec (Image generation): `size` is converted to `aspect_ratio` and, if the
 * model has resolutions, to `resolution`. Throws WeirError if the model has no such ratio or
 * resolution, or if `size` contradicts `aspect_ratio` or `resolution`. No value is rounded.
 */
export function shapeOf(offers: Offers, given: Shape) {
  const { aspect_ratio, resolution } = given;
  const resolutions = offers.resolutions ?? [];
  const size = given.size === 'auto' ? undefined : given.size;
  if (size !== undefined) checkAgreement(size, aspect_ratio);
  const ratio = aspect_ratio ?? (size && ratioOf(size, offers.aspect_ratios));
  const pixels = size === undefined ? undefined : resolutionOf(size, resolutions);
  if (pixels !== undefined && resolution !== undefined && pixels !== resolution) {
    throw contradiction(`size ${size}`, `resolution ${resolution}`);
  }
  const chosen = resolution ?? pixels ?? resolutions[0];
  return {
    ...(ratio === undefined ? {} : { aspect_ratio: ratio }),
    ...(chosen === undefined ? {} : { resolution: chosen as '1k' | '2k' | '4k' }),
  };
}

/** Throws WeirError if `size` has another ratio than `aspect_ratio`. */
export function checkAgreement(size: string, aspect_ratio: string | undefined): void {
  if (aspect_ratio === undefined || USUAL_SIZES[size] === aspect_ratio) return;
  if (isSameRatio(exactRatio(size), aspect_ratio)) return;
  throw contradiction(`size ${size}`, `aspect_ratio ${aspect_ratio}`);
}

function contradiction(size: string, other: string) {
  return invalidParameter('size', `${size} and ${other} contradict each other.`, 'Send only one.');
}

/** Returns the ratio in `ratios` that `size` has; the exact ratio if the model takes every ratio. */
function ratioOf(size: string, ratios: readonly string[] | undefined): string {
  const exact = exactRatio(size);
  if (ratios === undefined) return exact;
  const usual = USUAL_SIZES[size];
  const found = ratios.find((each) => isSameRatio(each, exact) || each === usual);
  if (found !== undefined) return found;
  throw invalidParameter(
    'size',
    `size ${size} has none of the aspect ratios ${ratios.join(', ')}.`,
    `Use ${nearSizes(size, ratios).join(' or ')}, or send aspect_ratio.`,
  );
}

/** Returns sizes with nearly as many pixels as `size`, of the ratios that are nearest to its ratio. */
function nearSizes(size: string, ratios: readonly string[]): string[] {
  const { width, height } = requireSize(size);
  const target = Math.log(width / height);
  return ratios
    .map((ratio) => ({ ratio, difference: Math.abs(Math.log(quotientOf(ratio)) - target) }))
    .toSorted((a, b) => a.difference - b.difference)
    .slice(0, SUGGESTED_SIZES)
    .map(({ ratio }) => {
      const [across, down] = partsOf(ratio);
      const parts = Math.sqrt((width * height) / (across * down)) / SUGGESTED_STEP;
      const scale = Math.max(1, Math.round(parts)) * SUGGESTED_STEP;
      return `${across * scale}x${down * scale}`;
    });
}

/**
 * Returns the smallest resolution that has enough pixels for `size`; undefined if the model has no
 * resolutions. Throws WeirError if none has enough.
 */
function resolutionOf(size: string, resolutions: readonly string[]): string | undefined {
  if (resolutions.length === 0) return undefined;
  const { width, height } = requireSize(size);
  const found = MOST_PIXELS.find(
    ([name, pixels]) => resolutions.includes(name) && width * height <= pixels,
  );
  if (found) return found[0];
  throw invalidParameter(
    'size',
    `size ${size} has more pixels than the resolutions ${resolutions.join(', ')}.`,
    'Use a smaller size, or send aspect_ratio and resolution.',
  );
}

function partsOf(ratio: string): [across: number, down: number] {
  const [across = 1, down = 1] = ratio.split(':').map(Number);
  return [across, down];
}

function quotientOf(ratio: string): number {
  const [across, down] = partsOf(ratio);
  return across / down;
}

/** True if two ratios are equal, e.g. `16:10` and `8:5`. */
function isSameRatio(one: string, other: string): boolean {
  const [a, b] = partsOf(one);
  const [c, d] = partsOf(other);
  return a * d === b * c;
}
