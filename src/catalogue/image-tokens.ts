import type { ImageInput } from './inputs.ts';

/**
 * For each quality, one output token covers a square with sides of this length, pixels (OpenAI
 * docs: image generation, cost).
 */
const TILE_PIXELS: Record<string, number> = { low: 64, medium: 32, high: 16 };
/** Output tokens of each requested partial image (OpenAI docs: image generation, cost). */
const TOKENS_PER_PARTIAL = 100;
/**
 * The size that is assumed for `auto`, to count the most tokens. It is the largest of the family's
 * three common sizes.
 */
const AUTO_SIZE = { width: 1024, height: 1536 };
const PIXELS_PER_MEGAPIXEL = 1_000_000;

/** Width and height of `WIDTHxHEIGHT`, pixels; undefined for everything else. */
export function parseSize(size: string | undefined): { width: number; height: number } | undefined {
  const match = /^([1-9]\d{0,4})x([1-9]\d{0,4})$/.exec(size ?? '');
  return match ? { width: Number(match[1]), height: Number(match[2]) } : undefined;
}

/**
 * Returns the most output tokens of one image. Each tile has one token, and each row of tiles has
 * one more. An image of 1024x1024 has at most 272, 1,056 and 4,160 tokens at low, medium and high
 * quality (OpenAI docs).
 */
export function maxImageTokens(
  input: Pick<ImageInput, 'size' | 'quality' | 'partial_images'>,
): number {
  const tile = TILE_PIXELS[input.quality ?? 'auto'] ?? 16;
  const { width, height } = parseSize(input.size) ?? AUTO_SIZE;
  const rows = Math.ceil(height / tile);
  return (Math.ceil(width / tile) + 1) * rows + (input.partial_images ?? 0) * TOKENS_PER_PARTIAL;
}

/** Megapixels of a size, rounded up; 1 if there is no size in pixels. */
export function megapixelsOf(size: string | undefined): number {
  const parsed = parseSize(size);
  if (!parsed) return 1;
  // Providers price 1024x1024 as one megapixel, although it has 1.05 million pixels.
  return Math.max(1, Math.ceil((parsed.width * parsed.height) / PIXELS_PER_MEGAPIXEL - 0.05));
}

/** Tokens of one input image at high fidelity, with a margin (OpenAI docs: Images, cost of inputs). */
const TOKENS_PER_INPUT = 8_000;

/** Returns the most tokens of a call's input images and its mask. */
export function maxInputImageTokens({ images = [], mask }: ImageInput): number {
  return (images.length + (mask === undefined ? 0 : 1)) * TOKENS_PER_INPUT;
}
