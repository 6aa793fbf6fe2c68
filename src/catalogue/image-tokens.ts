import type { ImageInput } from './inputs.ts';

/** One output token covers a square of this side, pixels (OpenAI docs: image generation, cost). */
const TILE_PIXELS: Record<string, number> = { low: 64, medium: 32, high: 16 };
/** Each partial picture that is asked for costs this many output tokens (ibid.). */
const TOKENS_PER_PARTIAL = 100;
/** What `auto` chooses from at most: the largest of the family's three common sizes. */
const AUTO_SIZE = { width: 1024, height: 1536 };
const PIXELS_PER_MEGAPIXEL = 1_000_000;

/** Width and height of `WIDTHxHEIGHT`, pixels; undefined for everything else. */
export function parseSize(size: string | undefined): { width: number; height: number } | undefined {
  const match = /^([1-9]\d{0,4})x([1-9]\d{0,4})$/.exec(size ?? '');
  return match ? { width: Number(match[1]), height: Number(match[2]) } : undefined;
}

/**
 * Output tokens of one picture at most, where tokens are billed: a grid of tiles and one more for
 * each row (272, 1,056 and 4,160 for 1024x1024 at low, medium and high: OpenAI docs).
 */
export function maxImageTokens(
  input: Pick<ImageInput, 'size' | 'quality' | 'partial_images'>,
): number {
  const tile = TILE_PIXELS[input.quality ?? 'auto'] ?? 16;
  const { width, height } = parseSize(input.size) ?? AUTO_SIZE;
  const rows = Math.ceil(height / tile);
  return (Math.ceil(width / tile) + 1) * rows + (input.partial_images ?? 0) * TOKENS_PER_PARTIAL;
}

/** Begun millions of pixels of a size; 1 where none is said. */
export function megapixelsOf(size: string | undefined): number {
  const parsed = parseSize(size);
  if (!parsed) return 1;
  // 1024x1024 is sold as one megapixel.
  return Math.max(1, Math.ceil((parsed.width * parsed.height) / PIXELS_PER_MEGAPIXEL - 0.05));
}

/** A picture that is read with high fidelity, with room (OpenAI docs: Images, cost of inputs). */
const TOKENS_PER_INPUT = 8_000;

/** Tokens that the pictures which a call works from can count at most. */
export function maxImageRequestTokens({ images = [], mask }: ImageInput): number {
  return (images.length + (mask === undefined ? 0 : 1)) * TOKENS_PER_INPUT;
}
