import type { ChatModel } from '../../catalogue/catalogue.ts';
import type { TokenPrice } from '../../catalogue/price.ts';

/**
 * The `family` of the models whose provider writes to its cache only if the request asks for it.
 */
export const CACHE_ON_REQUEST_FAMILY = 'anthropic-messages';

/**
 * A request with audio contains one of these words. A video has a sound track, and a file by
 * reference may be audio. A body with an escaped character matches too, because the character could
 * hide such a word.
 */
const MAY_HAVE_AUDIO = /audio|video|file|\\u/i;

/**
 * Returns `price` without the prices of tokens that the request cannot cause: these prices are 0.
 * The rest is what the reservation of the call must cover.
 */
export function highestPrice(price: TokenPrice, model: ChatModel, body_text: string): TokenPrice {
  // Other providers write to their cache without a request for it. So the budget always includes
  // their price of cache writes.
  const isCacheOptional =
    model.family === CACHE_ON_REQUEST_FAMILY || price.cache_write_1h !== undefined;
  const withCache = isCacheOptional ? withoutUnusedCache(price, model, body_text) : price;
  if (price.audio_input === undefined || MAY_HAVE_AUDIO.test(body_text)) return withCache;
  return { ...withCache, audio_input: 0, cached_audio_input: 0 };
}

/**
 * Returns the price without cache writes that the request cannot cause. Anthropic charges more for
 * a cache write than for plain input, and writes to its cache only on request.
 */
function withoutUnusedCache(price: TokenPrice, model: ChatModel, body_text: string): TokenPrice {
  const mayWriteCache =
    model.family !== CACHE_ON_REQUEST_FAMILY || mayContain(body_text, '"cache_control"');
  const mayWriteFor1h = mayWriteCache && mayContain(body_text, '"1h"');
  return {
    ...price,
    ...(mayWriteCache ? {} : { cache_write: 0 }),
    ...(mayWriteFor1h ? {} : { cache_write_1h: 0 }),
  };
}

/**
 * True if the body may contain the word. An escaped character could hide the word. So a body with an
 * escaped character counts as if it had the word.
 */
export function mayContain(body_text: string, word: string): boolean {
  return body_text.includes(word) || body_text.includes('\\u');
}
