/** Converts an image's shape to width and height, or to an aspect ratio, as its provider needs. */
import { exactRatio } from '../../catalogue/contracts/image-size.ts';
import { parseSize } from '../../catalogue/image-tokens.ts';
import type { ImageInput } from '../../catalogue/inputs.ts';

/** FLUX models take edges that are multiples of this (BFL docs: width). */
const STEP_PIXELS = 32;
const EDGES = { min: 256, max: 1_440 };
/** The largest size for the price of one image, pixels. A larger image costs more. */
const MEGAPIXEL = 1_024 * 1_024;

type Shape = Pick<ImageInput, 'size' | 'aspect_ratio'>;

/**
 * Returns the requested width and height in pixels. If there is only `aspect_ratio`, returns a
 * width and height with about that ratio and at most one megapixel. Returns `{}` if both are
 * missing.
 */
export function pixelsOf({ size, aspect_ratio }: Shape): { width?: number; height?: number } {
  const requested = size === undefined ? undefined : parseSize(size);
  if (requested) return requested;
  const [across = 0, down = 0] = (aspect_ratio ?? '').split(':').map(Number);
  if (!across || !down) return {};
  const scale = Math.sqrt(MEGAPIXEL / (across * down));
  const edge = (parts: number) =>
    Math.min(
      EDGES.max,
      Math.max(EDGES.min, Math.floor((parts * scale) / STEP_PIXELS) * STEP_PIXELS),
    );
  return { width: edge(across), height: edge(down) };
}

/** Returns the aspect ratio; that of `size` if only `size` is given. */
export function ratioOf({ size, aspect_ratio }: Shape): string | undefined {
  if (aspect_ratio !== undefined || size === undefined || !parseSize(size)) return aspect_ratio;
  return exactRatio(size);
}
