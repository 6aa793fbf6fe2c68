import { parseSize } from '../image-tokens.ts';
import { invalidParameter } from './check.ts';

/** Limits of `size` in the token-priced family (spec: Image generation, rule 1). */
const STEP_PIXELS = 16;
const MAX_EDGE_PIXELS = 3_840;
const MAX_RATIO = 3;
const MIN_PIXELS = 655_360;
const MAX_PIXELS = 8_294_400;
/** How many sizes a hint names. */
const SUGGESTED_SIZES = 2;

/** Throws WeirError if the models of the token-priced family do not accept `size`. */
export function checkTokenPricedSize(size: string): void {
  if (size === 'auto') return;
  const { width, height } = requireSize(size);
  const edges = [width, height].toSorted((a, b) => b - a) as [number, number];
  checkStep(size, STEP_PIXELS);
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

/** Throws WeirError if an edge of `size` is not a multiple of `step` pixels. The hint names near sizes. */
export function checkStep(size: string, step: number): void {
  const { width, height } = requireSize(size);
  if (width % step === 0 && height % step === 0) return;
  const around = (edge: number) => {
    const below = Math.floor(edge / step) * step;
    return [...new Set([below, edge % step === 0 ? below : below + step])].filter(
      (each) => each > 0,
    );
  };
  const near = around(width)
    .flatMap((across) => around(height).map((down) => ({ across, down })))
    .map(({ across, down }) => ({
      size: `${across}x${down}`,
      distance: Math.abs(across - width) + Math.abs(down - height),
    }))
    .toSorted((a, b) => a.distance - b.distance)
    .slice(0, SUGGESTED_SIZES);
  throw invalidParameter(
    'size',
    `size must have a width and a height that are multiples of ${step}.`,
    `Use ${near.map((each) => each.size).join(' or ')}.`,
  );
}

/** Returns the edges of `size`, pixels. Throws WeirError if `size` is not `WIDTHxHEIGHT`. */
export function requireSize(size: string): { width: number; height: number } {
  const parsed = parseSize(size);
  if (!parsed)
    throw invalidParameter('size', 'size must be WIDTHxHEIGHT in pixels, e.g. 1024x1024.');
  return parsed;
}

/** Returns the ratio `W:H` of `size`, in lowest terms. */
export function exactRatio(size: string): string {
  const { width, height } = requireSize(size);
  let [a, b] = [width, height];
  while (b > 0) [a, b] = [b, a % b];
  return `${width / a}:${height / a}`;
}
