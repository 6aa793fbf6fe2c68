import type { TokenUsage } from '../upstreams/contract.ts';
import type { TokenPriceDeclaration } from './schema.ts';

/**
 * Prices as integers: pico-USD (10⁻¹² USD) a token. A price list speaks of USD per million tokens,
 * and one USD per million is exactly 1,000,000 pico-USD a token, so nothing is rounded before the
 * end of the sum.
 */
export interface TokenPrice {
  readonly input: number;
  readonly cached_input: number;
  readonly cache_write: number;
  readonly output: number;
}

const PICO_PER_TOKEN_AT_ONE_USD_PER_MTOK = 1_000_000;
const PICO_PER_NANO = 1_000;

export function tokenPrice(declared: TokenPriceDeclaration): TokenPrice {
  const pico = (usdPerMtok: number) => Math.round(usdPerMtok * PICO_PER_TOKEN_AT_ONE_USD_PER_MTOK);
  const input = pico(declared.input_usd_per_mtok);
  return {
    input,
    cached_input: pico(declared.cached_input_usd_per_mtok ?? declared.input_usd_per_mtok),
    cache_write: pico(declared.cache_write_usd_per_mtok ?? declared.input_usd_per_mtok),
    output: pico(declared.output_usd_per_mtok),
  };
}

/**
 * What a call costs, nano-USD: the exact sum, rounded up once. Throws RangeError beyond what a JS
 * number holds exactly (9 million USD).
 */
export function priceOf(usage: TokenUsage, price: TokenPrice): number {
  const pico =
    usage.input_tokens * price.input +
    usage.cached_input_tokens * price.cached_input +
    usage.cache_write_tokens * price.cache_write +
    usage.output_tokens * price.output;
  if (!Number.isSafeInteger(pico)) throw new RangeError('a price beyond what is counted exactly');
  return Math.ceil(pico / PICO_PER_NANO);
}

/** The most that `input_tokens` and `output_tokens` can cost, however the input is cached. */
export function maxPriceOf(input_tokens: number, output_tokens: number, price: TokenPrice): number {
  const dearest = Math.max(price.input, price.cached_input, price.cache_write);
  return priceOf(
    { input_tokens, output_tokens, cached_input_tokens: 0, cache_write_tokens: 0 },
    { ...price, input: dearest },
  );
}

/** How many output tokens `nano_usd` pay for after `input_tokens`; 0 = not even one. */
export function outputTokensFor(nano_usd: number, input_tokens: number, price: TokenPrice): number {
  const left = nano_usd - maxPriceOf(input_tokens, 0, price);
  if (left < 0) return 0;
  if (price.output === 0) return Number.MAX_SAFE_INTEGER;
  return Math.floor((left * PICO_PER_NANO) / price.output);
}
