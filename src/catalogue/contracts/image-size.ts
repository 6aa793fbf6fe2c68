import { parseSize } from '../image-tokens.ts';
import { refuse } from './check.ts';

/** Bounds of the token-priced family's `size` (spec: Image generation, rule 1). */
const STEP_PIXELS = 16;
const MAX_EDGE_PIXELS = 3_840;
const MAX_RATIO = 3;
const MIN_PIXELS = 655_360;
const MAX_PIXELS = 8_294_400;

/** Throws WeirError unless `size` is one that token-priced models draw. */
export function checkTokenPricedSize(size: string): void {
  if (size === 'auto') return;
  const { width, height } = sizeOf(size);
  const edges = [width, height].toSorted((a, b) => b - a) as [number, number];
  if (width % STEP_PIXELS !== 0 || height % STEP_PIXELS !== 0) {
    throw refuse('size', `size must have a width and a height that are multiples of 16.`);
  }
  if (edges[0] > MAX_EDGE_PIXELS) {
    throw refuse('size', `size must have no edge longer than ${MAX_EDGE_PIXELS} pixels.`);
  }
  if (edges[0] > edges[1] * MAX_RATIO) {
    throw refuse('size', `size must not be longer than ${MAX_RATIO}:1.`);
  }
  if (width * height < MIN_PIXELS || width * height > MAX_PIXELS) {
    throw refuse('size', `size must have ${MIN_PIXELS} to ${MAX_PIXELS} pixels.`);
  }
}

/** Edges of pictures of families that draw any size within their own bounds. */
export function checkEdges(size: string, min: number, max: number): void {
  const { width, height } = sizeOf(size);
  if (Math.min(width, height) < min || Math.max(width, height) > max) {
    throw refuse('size', `size must have edges of ${min} to ${max} pixels.`);
  }
}

/** Throws WeirError for what is no `WIDTHxHEIGHT`. */
function sizeOf(size: string): { width: number; height: number } {
  const parsed = parseSize(size);
  if (!parsed) throw refuse('size', 'size must be WIDTHxHEIGHT in pixels, e.g. 1024x1024.');
  return parsed;
}

/** Of `ratios` (`W:H`), the one nearest to the shape of `size`. */
export function nearestRatio(size: string, ratios: readonly string[]): string | undefined {
  const { width, height } = sizeOf(size);
  const shape = Math.log(width / height);
  return ratios
    .map((ratio) => ({ ratio, off: Math.abs(Math.log(quotient(ratio)) - shape) }))
    .filter(({ off }) => Number.isFinite(off))
    .toSorted((a, b) => a.off - b.off)[0]?.ratio;
}

function quotient(ratio: string): number {
  const [width, height] = ratio.split(':').map(Number);
  return (width ?? Number.NaN) / (height ?? Number.NaN);
}

/** `W:H` in lowest terms. */
export function exactRatio(size: string): string {
  const { width, height } = sizeOf(size);
  let [a, b] = [width, height];
  while (b > 0) [a, b] = [b, a % b];
  return `${width / a}:${height / a}`;
}

/** Pixels that a picture of each class has at most: 1792x1024 still counts as 1k, 3840x2160 as 4k. */
const CLASS_MAX_PIXELS: readonly [resolution: string, pixels: number][] = [
  ['1k', 2_250_000],
  ['2k', 8_000_000],
  ['4k', Number.POSITIVE_INFINITY],
];

/** Of `resolutions`, the smallest that `size` fits in, else the largest. */
export function nearestResolution(
  size: string,
  resolutions: readonly string[],
): string | undefined {
  const { width, height } = sizeOf(size);
  const offered = CLASS_MAX_PIXELS.filter(([name]) => resolutions.includes(name));
  const fitting = offered.find(([, pixels]) => width * height <= pixels) ?? offered.at(-1);
  return fitting?.[0];
}
