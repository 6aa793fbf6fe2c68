import type { ImageSize } from './image-size.ts';

/**
 * Returns the most input tokens that a provider bills for one image of a size. Returns Infinity if
 * the size is unknown and no figure of the provider limits the tokens.
 */
export type ImageBound = (size: () => ImageSize | undefined) => number;

/** Every image has at most this number of tokens, because the provider scales larger images down. */
const atMost =
  (tokens: number): ImageBound =>
  () =>
    tokens;

/** The provider divides the image into square patches, without scaling it down. */
const patches =
  (side_pixels: number): ImageBound =>
  (size) => {
    const image = size();
    if (!image) return Number.POSITIVE_INFINITY;
    return Math.ceil(image.width / side_pixels) * Math.ceil(image.height / side_pixels);
  };

const TOKENS_PER_TILE = 258;
const MAX_TILE_PIXELS = 768;

/**
 * Gemini 2.x cuts a large image into tiles. The side of a tile is about two thirds of the image's
 * shorter side (Gemini API docs: Image understanding). Tiles are assumed to have at most 768
 * pixels, so that the result is an upper bound.
 */
const tiles: ImageBound = (size) => {
  const image = size();
  if (!image) return Number.POSITIVE_INFINITY;
  const { width, height } = image;
  const side = Math.max(1, Math.min(MAX_TILE_PIXELS, Math.floor(Math.min(width, height) / 1.5)));
  return Math.ceil(width / side) * Math.ceil(height / side) * TOKENS_PER_TILE;
};

/** Tokens of an image that OpenAI divides into tiles. The longest image has 8 tiles. */
const openaiTiles = (base: number, tile: number) => atMost(base + 8 * tile);

/** An image with `MEDIA_RESOLUTION_ULTRA_HIGH`. */
const GEMINI_3 = atMost(2_240);

/**
 * The most input tokens of an image, by the model's id or the start of it. The longest match
 * applies.
 * Sources: OpenAI docs (Images and vision: Calculating costs), Anthropic docs (Vision: Evaluate
 * image size), Gemini API docs (Media resolution; Image understanding).
 */
const BOUNDS: Readonly<Record<string, ImageBound>> = {
  'gpt-4o': openaiTiles(85, 170),
  'gpt-4o-mini': openaiTiles(2_833, 5_667),
  // The docs describe both tiles and 1,536 patches for this model. The larger bound applies.
  'gpt-4.1': atMost(1_536),
  'gpt-4.1-mini': atMost(Math.ceil(1_536 * 1.62)),
  'gpt-4.1-nano': atMost(Math.ceil(1_536 * 2.46)),
  o3: openaiTiles(75, 150),
  'o4-mini': atMost(Math.ceil(1_536 * 1.72)),
  'gpt-5': atMost(1_536),
  'gpt-5.1': atMost(1_536),
  'gpt-5.2': atMost(1_536),
  'gpt-5-mini': atMost(Math.ceil(1_536 * 1.62)),
  'gpt-5-nano': atMost(Math.ceil(1_536 * 2.46)),
  'gpt-5.4': atMost(10_000),
  'gpt-5.4-mini': atMost(Math.ceil(1_536 * 1.62)),
  'gpt-5.4-nano': atMost(Math.ceil(1_536 * 2.46)),
  'gpt-5.5': atMost(10_000),
  // By default, an image keeps its size. `detail` can only make it smaller.
  'gpt-5.6': patches(32),
  // Since Claude Opus 4.7, an image may have 2,576 pixels on its longer side.
  claude: atMost(4_784),
  'claude-opus-4-1': atMost(1_600),
  'claude-opus-4-5': atMost(1_600),
  'claude-opus-4-6': atMost(1_600),
  'claude-sonnet-4': atMost(1_600),
  'claude-haiku-4': atMost(1_600),
  'gemini-2.5': tiles,
  'gemini-3': GEMINI_3,
  'gemini-3.1': GEMINI_3,
  'gemini-3.5': GEMINI_3,
  'gemini-3.6': GEMINI_3,
  'gemini-3.7': GEMINI_3,
  'gemini-3.8': GEMINI_3,
};

/** The keys of `BOUNDS`, the longest first, so that the longest match is found first. */
const PREFIXES = Object.keys(BOUNDS).sort((a, b) => b.length - a.length);

/** The bound for models that the table does not name: only the context window limits an image. */
const unknown: ImageBound = () => Number.POSITIVE_INFINITY;

/** Returns the upper bound of the input tokens of an image for this model. */
export function imageBoundOf(model_id: string): ImageBound {
  const prefix = PREFIXES.find((each) => model_id === each || model_id.startsWith(`${each}-`));
  return prefix === undefined ? unknown : (BOUNDS[prefix] ?? unknown);
}
