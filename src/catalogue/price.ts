import type { TokenUsage } from '../protocols/token-usage.ts';
import type { PriceDeclaration } from './schema.ts';

/**
 * Prices as integers: pico-USD (10⁻¹² USD) per token. Price lists use USD per million tokens. One
 * USD per million tokens is exactly 1,000,000 pico-USD per token. So only the final sum is rounded.
 */
export interface TokenPrice {
  readonly input: number;
  readonly cached_input: number;
  readonly cache_write: number;
  /** Price of tokens that the provider caches for an hour. If missing, `cache_write` applies. */
  readonly cache_write_1h?: number;
  /** Price of input tokens that are audio. If missing, `input` applies. */
  readonly audio_input?: number;
  /** Price of cached input tokens that are audio. If missing, `cached_input` applies. */
  readonly cached_audio_input?: number;
  readonly output: number;
  /** Pico-USD of one web search that the provider runs. If missing, the model has no such tool. */
  readonly web_search?: number;
  /** If a call has more than `above` input tokens, `price` applies to every token. */
  readonly long?: { readonly above: number; readonly price: Omit<TokenPrice, 'long'> };
}

const PICO_PER_TOKEN_AT_ONE_USD_PER_MTOK = 1_000_000;
const PICO_PER_NANO = 1_000;
const PICO_PER_USD = 1_000_000_000_000;

/**
 * More tokens than any call has. The limit keeps the search for affordable tokens in the range of
 * exact integers.
 */
const MAX_TOKENS = 1_000_000_000;

/**
 * Returns the declared price (USD per million tokens) in pico-USD per token. If a cache price is
 * missing, the input price applies. Throws if input or output has no price, so that no model is
 * free by omission.
 */
export function tokenPrice(declared: PriceDeclaration): TokenPrice {
  const { input_usd_per_mtok, output_usd_per_mtok } = declared;
  if (input_usd_per_mtok === undefined || output_usd_per_mtok === undefined) {
    throw new Error('a price by tokens requires input_usd_per_mtok and output_usd_per_mtok');
  }
  const { long_context, usd_per_web_search } = declared;
  const search =
    usd_per_web_search === undefined
      ? {}
      : { web_search: Math.ceil(usd_per_web_search * PICO_PER_USD - 1e-3) };
  return {
    ...tierPrice({ ...declared, input_usd_per_mtok, output_usd_per_mtok }),
    ...search,
    ...(long_context
      ? {
          long: {
            above: long_context.above_input_tokens,
            price: { ...tierPrice(long_context), ...search },
          },
        }
      : {}),
  };
}

function tierPrice({
  input_usd_per_mtok,
  output_usd_per_mtok,
  ...cache
}: {
  input_usd_per_mtok: number;
  output_usd_per_mtok: number;
  cached_input_usd_per_mtok?: number;
  cache_write_usd_per_mtok?: number;
  cache_write_1h_usd_per_mtok?: number;
  audio_input_usd_per_mtok?: number;
  cached_audio_input_usd_per_mtok?: number;
}): Omit<TokenPrice, 'long'> {
  return {
    input: picoPerToken(input_usd_per_mtok),
    cached_input: picoPerToken(cache.cached_input_usd_per_mtok ?? input_usd_per_mtok),
    cache_write: picoPerToken(cache.cache_write_usd_per_mtok ?? input_usd_per_mtok),
    ...(cache.cache_write_1h_usd_per_mtok === undefined
      ? {}
      : { cache_write_1h: picoPerToken(cache.cache_write_1h_usd_per_mtok) }),
    ...(cache.audio_input_usd_per_mtok === undefined
      ? {}
      : { audio_input: picoPerToken(cache.audio_input_usd_per_mtok) }),
    ...(cache.cached_audio_input_usd_per_mtok === undefined
      ? {}
      : { cached_audio_input: picoPerToken(cache.cached_audio_input_usd_per_mtok) }),
    output: picoPerToken(output_usd_per_mtok),
  };
}

/**
 * Returns the price that applies to a call with `input_tokens` input tokens, cached tokens
 * included.
 */
export function priceAtLength(input_tokens: number, price: TokenPrice): TokenPrice {
  return price.long && input_tokens > price.long.above ? price.long.price : price;
}

/** Converts USD per million tokens to pico-USD per token. */
export function picoPerToken(usdPerMtok: number): number {
  const exact = usdPerMtok * PICO_PER_TOKEN_AT_ONE_USD_PER_MTOK;
  const rounded = Math.round(exact);
  // The tolerance is needed, because 1.1 × 10⁶ is not a whole number in binary. A price below one
  // pico-USD is rounded up, so that no price becomes 0.
  return rounded > 0 && Math.abs(exact - rounded) < 1e-3 ? rounded : Math.ceil(exact);
}

/**
 * Returns the charge of a call in nano-USD. The charge is the exact sum, rounded up once. Whole and
 * fractional nano-USD are summed separately, so that all products and sums are exact up to 9
 * million USD. Throws RangeError above 9 million USD.
 */
export function chargeFor(usage: TokenUsage, listed: TokenPrice): number {
  const { input_tokens, cached_input_tokens, cache_write_tokens } = usage;
  const price = priceAtLength(input_tokens + cached_input_tokens + cache_write_tokens, listed);
  const { cache_write_1h_tokens: long = 0, audio_input_tokens: audio = 0 } = usage;
  const { cached_audio_tokens: cached_audio = 0, web_searches = 0 } = usage;
  const cost = new Cost();
  cost.add(usage.input_tokens - audio, price.input);
  cost.add(usage.cached_input_tokens - cached_audio, price.cached_input);
  if (audio > 0) cost.add(audio, price.audio_input ?? price.input);
  if (cached_audio > 0) cost.add(cached_audio, price.cached_audio_input ?? price.cached_input);
  if (web_searches > 0) cost.add(web_searches, price.web_search ?? 0);
  cost.add(usage.cache_write_tokens - long, price.cache_write);
  if (long > 0) cost.add(long, price.cache_write_1h ?? price.cache_write);
  cost.add(usage.output_tokens, price.output);
  return cost.total();
}

/**
 * A sum of tokens times prices. Nano-USD and pico-USD are summed separately, so that both sums are
 * exact.
 */
class Cost {
  private nano = 0;
  private pico = 0;

  add(tokens: number, picoPerToken: number): void {
    const rest = picoPerToken % PICO_PER_NANO;
    this.nano += tokens * ((picoPerToken - rest) / PICO_PER_NANO);
    this.pico += tokens * rest;
  }

  /** Returns the sum in nano-USD, rounded up once. Throws RangeError if the sum is not exact. */
  total(): number {
    const total = this.nano + Math.ceil(this.pico / PICO_PER_NANO);
    if (!Number.isSafeInteger(total) || !Number.isSafeInteger(this.pico)) {
      throw new RangeError('the amount is too large to be counted exactly');
    }
    return total;
  }
}

/** Returns the charge of web searches in nano-USD, rounded up. */
export function chargeForSearches(searches: number, { web_search = 0 }: TokenPrice): number {
  const cost = new Cost();
  cost.add(searches, web_search);
  return cost.total();
}

/**
 * Returns the highest charge of these tokens in nano-USD, however the input is cached, and also if
 * all of it is audio. Web searches are not included.
 */
export function maxChargeFor(
  input_tokens: number,
  output_tokens: number,
  listed: TokenPrice,
): number {
  const price = priceAtLength(input_tokens, listed);
  const { input, cached_input, cache_write, cache_write_1h = cache_write } = price;
  const { audio_input = 0, cached_audio_input = 0 } = price;
  const text = Math.max(input, cached_input, cache_write, cache_write_1h);
  const cost = new Cost();
  cost.add(input_tokens, Math.max(text, audio_input, cached_audio_input));
  cost.add(output_tokens, price.output);
  return cost.total();
}

/**
 * Returns how many output tokens `nano_usd` can pay for, after it has paid for the input tokens.
 * The result is 0 to 10⁹.
 */
export function affordableOutputTokens(
  nano_usd: number,
  input_tokens: number,
  listed: TokenPrice,
): number {
  const price = priceAtLength(input_tokens, listed);
  const left = nano_usd - maxChargeFor(input_tokens, 0, price);
  if (left < 0) return 0;
  if (price.output === 0) return MAX_TOKENS;
  const covered = (tokens: number) => maxChargeFor(input_tokens, tokens, price) <= nano_usd;
  // The quotient is a float, and its last digit may be wrong. The loops correct it.
  let tokens = Math.min(MAX_TOKENS, Math.floor((left / price.output) * PICO_PER_NANO));
  while (tokens > 0 && !covered(tokens)) tokens -= 1;
  while (tokens < MAX_TOKENS && covered(tokens + 1)) tokens += 1;
  return tokens;
}
