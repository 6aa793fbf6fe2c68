import { picoPerToken, priceOf } from './price.ts';
import type { PriceDeclaration } from './schema.ts';

/** What a direct call costs: by what it reads, or by how long it listens. */
export type DirectPrice =
  | { readonly unit: 'token' /** Pico-USD a token. */; readonly input: number }
  | { readonly unit: 'second'; readonly nano_usd: number };

export interface DirectUsage {
  readonly input_tokens: number;
  /** Of sound, begun ones whole. */
  readonly seconds: number;
}

const NANO_PER_USD = 1_000_000_000;

/** Throws unless the declaration has `input_usd_per_mtok` or `usd_per_second`. */
export function directPrice(declared: PriceDeclaration): DirectPrice {
  const { input_usd_per_mtok, usd_per_second } = declared;
  if (input_usd_per_mtok !== undefined) {
    return { unit: 'token', input: picoPerToken(input_usd_per_mtok) };
  }
  if (usd_per_second === undefined) {
    throw new Error('a price needs input_usd_per_mtok or usd_per_second');
  }
  return { unit: 'second', nano_usd: Math.ceil(usd_per_second * NANO_PER_USD) };
}

/** Nano-USD. */
export function directCharge(price: DirectPrice, usage: DirectUsage): number {
  if (price.unit === 'second') return Math.ceil(usage.seconds) * price.nano_usd;
  const { input } = price;
  return priceOf(
    { ...usage, cached_input_tokens: 0, cache_write_tokens: 0, output_tokens: 0 },
    { input, cached_input: 0, cache_write: 0, output: 0 },
  );
}
