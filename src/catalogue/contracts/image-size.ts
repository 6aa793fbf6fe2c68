import { parseSize } from '../image-tokens.ts';
import { invalidParameter } from './check.ts';

/** Limits of `size` in the token-priced family (spec: Image generation, rule 1). */
const STEP_PIXELS = 16;
const MAX_EDGE_PIXELS = 3_840;
const MAX_RATIO = 3;
const MIN_PIXELS = 655_360;
const MAX_PIXELS = 8_294_400;

/** Throws WeirError if the models of the token-priced family do not accept `size`. */
export function checkTokenPricedSize(size: string): void {
  if (size === 'auto') return;
  const { width, height } = requireSize(size);
  const edges = [width, height].toSorted((a, b) => b - a) as [number, number];
  if (width % STEP_PIXELS !== 0 || height % STEP_PIXELS !== 0) {
    throw invalidParameter('size', `size must have a width and a height that are multiples of 16.`);
  }
  if (edges[0] > MAX_EDGE_PIXELS) {
    throw invalidParameter('size', `size must have edges of at most ${MAX_EDGE_PIXELS} pixels.`);
  }
  if (edges[0] > edges[1] * MAX_RATIO) {
    throw invalidParameter('size', `size must have a ratio of at most ${MAX_RATIO}:1.`);
  }
  if (width * height < MIN_PIXELS || width * height > MAX_PIXELS) {
    throw invalidParameter('size', `size must have ${MIN_PIXELS} to ${MAX_PIXELS} pixels.`);
  }
}

/** Throws WeirError if an edge of `size` has less than `min` or more than `max` pixels. */
export function checkEdges(size: string, min: number, max: number): void {
  const { width, height } = requireSize(size);
  if (Math.min(width, height) < min || Math.max(width, height) > max) {
    throw invalidParameter('size', `size must have edges of ${min} to ${max} pixels.`);
  }
}

/** Returns the edges of `size`, pixels. Throws WeirError if `size` is not `WIDTHxHEIGHT`. */
function requireSize(size: string): { width: number; height: number } {
  const parsed = parseSize(size);
  if (!parsed)
    throw invalidParameter('size', 'size must be WIDTHxHEIGHT in pixels, e.g. 1024x1024.');
  return parsed;
}

/**
 * Returns the ratio in `ratios` (`W:H`) that is nearest to `size`; undefined if `ratios` has no
 * usable ratio.
 */
export function nearestRatio(size: string, ratios: readonly string[]): string | undefined {
  const { width, height } = requireSize(size);
  const target = Math.log(width / height);
  return ratios
    .map((ratio) => ({ ratio, difference: Math.abs(Math.log(ratioValue(ratio)) - target) }))
    .filter(({ difference }) => Number.isFinite(difference))
    .toSorted((a, b) => a.difference - b.difference)[0]?.ratio;
}

function ratioValue(ratio: string): number {
  const [width, height] = ratio.split(':').map(Number);
  return (width ?? Number.NaN) / (height ?? Number.NaN);
}

/** Returns the ratio `W:H` of `size`, in lowest terms. */
export function exactRatio(size: string): string {
  const { width, height } = requireSize(size);
  let [a, b] = [width, height];
  while (b > 0) [a, b] = [b, a % b];
  return `${width / a}:${height / a}`;
}

/**
 * The most pixels that a size of each resolution may have. For example, 1792x1024 is 1k and
 * 3840x2160 is 4k.
 */
const CLASS_MAX_PIXELS: readonly [resolution: string, pixels: number][] = [
  ['1k', 2_250_000],
  ['2k', 8_000_000],
  ['4k', Number.POSITIVE_INFINITY],
];

/**
 * Returns the smallest of `resolutions` that has enough pixels for `size`. If none has enough,
 * returns the largest. Undefined if `resolutions` is empty.
 */
export function nearestResolution(
  size: string,
  resolutions: readonly string[],
): string | undefined {
  const { width, height } = requireSize(size);
  const offered = CLASS_MAX_PIXELS.filter(([name]) => resolutions.includes(name));
  const fitting = offered.find(([, pixels]) => width * height <= pixels) ?? offered.at(-1);
  return fitting?.[0];
}
