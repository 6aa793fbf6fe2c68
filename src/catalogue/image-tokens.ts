import type { ImageInput } from './inputs.ts';

/**
 * The side of the square (tile) that one output token covers, in pixels, for each quality (OpenAI
 * docs: image generation, cost).
 */
const TILE_PIXELS: Record<string, number> = { low: 64, medium: 32, high: 16 };
/**
 * The size that `auto` counts as. It is the largest of the family's three common sizes, so that the
 * count is an upper bound.
 */
const AUTO_SIZE = { width: 1024, height: 1536 };
/** Pixels of one megapixel as providers count them: 1024x1024 is one, 1920x1080 is two. */
const PIXELS_PER_MEGAPIXEL = 1024 * 1024;

/** Width and height of `WIDTHxHEIGHT`, pixels; undefined for everything else. */
export function parseSize(size: string | undefined): { width: number; height: number } | undefined {
  const match = /^([1-9]\d{0,4})x([1-9]\d{0,4})$/.exec(size ?? '');
  return match ? { width: Number(match[1]), height: Number(match[2]) } : undefined;
}

/**
 * Returns the most output tokens of one image. Each tile is one token, and each row of tiles needs
 * one token more. An image of 1024x1024 has at most 272 tokens at low quality, 1,056 at medium and
 * 4,160 at high quality (OpenAI docs).
 */
export function maxImageTokens(input: Pick<ImageInput, 'size' | 'quality'>): number {
  const tile = TILE_PIXELS[input.quality ?? 'auto'] ?? 16;
  const { width, height } = parseSize(input.size) ?? AUTO_SIZE;
  const rows = Math.ceil(height / tile);
  return (Math.ceil(width / tile) + 1) * rows;
}

/** Tokens of one preview of an image (OpenAI docs: Image generation, cost). */
const TOKENS_PER_PARTIAL = 100;

/** Returns the most output tokens of a call's previews. */
export function maxPartialTokens({
  partial_images = 0,
}: Pick<ImageInput, 'partial_images'>): number {
  return partial_images * TOKENS_PER_PARTIAL;
}

/** Megapixels of a size, rounded up; 1 if there is no size in pixels. */
export function megapixelsOf(size: string | undefined): number {
  const parsed = parseSize(size);
  if (!parsed) return 1;
  return Math.ceil((parsed.width * parsed.height) / PIXELS_PER_MEGAPIXEL);
}

/**
 * The most tokens of one input image. The size of the image is not known, and the models read it at
 * high fidelity. A photo of 12 megapixels has up to 14,364 tokens.
 */
const TOKENS_PER_INPUT = 15_000;

/** Returns the most tokens of a call's input images and its mask. */
export function maxInputImageTokens({ images = [], mask }: ImageInput): number {
  return (images.length + (mask === undefined ? 0 : 1)) * TOKENS_PER_INPUT;
}
