/**
 * Prices that do not come from Weir. Prices of tokens come from the independent list
 * `@pydantic/genai-prices`. The prices of media are written here by hand, from the providers' pages.
 */
import { calcPrice } from '@pydantic/genai-prices';
import type { JobWork, LineTokens } from './provider-work.ts';

/** The date of the compared prices. */
const COMPARED_AT = new Date('2026-11-20T00:00:00Z');

const known = new Map<string, number | undefined>();

/**
 * Returns the price of these tokens by the independent list, in nano-USD, rounded up once;
 * undefined if the list has no such model of this vendor.
 */
export function publishedTokenPrice(
  model: string,
  vendor: string,
  tokens: LineTokens,
): number | undefined {
  const { input_tokens, cached_input_tokens, cache_write_tokens, output_tokens } = tokens;
  const name = [vendor, model, ...Object.values(tokens)].join();
  if (known.has(name)) return known.get(name);
  const found = calcPrice(
    {
      input_tokens: input_tokens + cached_input_tokens + cache_write_tokens,
      cache_read_tokens: cached_input_tokens,
      cache_write_tokens,
      output_tokens,
    },
    model,
    { providerId: vendor, timestamp: COMPARED_AT },
  );
  const price = found ? Math.ceil(Number((found.total_price * 1e9).toFixed(3))) : undefined;
  known.set(name, price);
  return price;
}

/** USD for one unit of a job. */
interface UnitPrice {
  unit: 'image' | 'second' | 'song' | 'job';
  usd: number;
}

/** The prices of requests that name only a model and a prompt, so of each model's default quality. */
const BY_HAND: Readonly<Record<string, UnitPrice>> = {
  // OpenAI, images: standard quality, 1024×1024
  'dall-e-3': { unit: 'image', usd: 0.04 },
  // Gemini API: 1,290 tokens at 30 USD a million
  'gemini-2.5-flash-image': { unit: 'image', usd: 0.039 },
  // Stability: 6.5 credits at 0.01 USD
  'stable-diffusion-3.5-large': { unit: 'image', usd: 0.065 },
  // Ideogram: default speed
  'ideogram-v3': { unit: 'image', usd: 0.06 },
  // xAI: an image; a second of 720p
  'grok-imagine-image': { unit: 'image', usd: 0.02 },
  'grok-imagine-video': { unit: 'second', usd: 0.07 },
  // Black Forest Labs: the first megapixel
  'flux-2-pro': { unit: 'image', usd: 0.03 },
  // Gemini API: a second of Veo 3.1 with sound
  'veo-3.1': { unit: 'second', usd: 0.4 },
  // fal.ai: a second of 720p without sound
  'kling-3.0': { unit: 'second', usd: 0.084 },
  // Runway: 12 credits a second at 0.01 USD
  'runway-gen4.5': { unit: 'second', usd: 0.12 },
  // fal.ai: a second of 720p
  'seedance-2.0': { unit: 'second', usd: 0.3034 },
  // Resellers: a fast imagine; a song
  midjourney: { unit: 'image', usd: 0.05 },
  suno_music: { unit: 'song', usd: 0.03 },
};

/** OpenAI, images: USD for a million tokens. */
const TOKENS_BY_HAND: Readonly<
  Record<string, { text_input: number; image_input: number; output: number }>
> = {
  'gpt-image-1': { text_input: 5, image_input: 10, output: 40 },
};

/** Returns the published price of a job, in nano-USD; undefined if it is not in the tables above. */
export function publishedJobPrice(model: string, job: JobWork): number | undefined {
  const price = BY_HAND[model];
  if (price) {
    const units = { image: job.outputs, song: job.outputs, second: job.seconds ?? 0, job: 1 };
    return Math.round(price.usd * 1e9) * units[price.unit];
  }
  const rates = TOKENS_BY_HAND[model];
  if (!rates || !job.tokens) return undefined;
  const { text_input, image_input, output } = job.tokens;
  // One USD for a million tokens is 1,000 nano-USD for a token.
  return (
    1_000 *
    (text_input * rates.text_input + image_input * rates.image_input + output * rates.output)
  );
}
