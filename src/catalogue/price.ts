import type { TokenUsage } from '../protocols/token-usage.ts';
import type { PriceDeclaration } from './schema.ts';

/**
 * Prices as integers: pico-USD (10⁻¹² USD) a token. A price list speaks of USD per million tokens,
 * and one USD per million is exactly 1,000,000 pico-USD a token, so nothing is rounded before the
 * end of the sum.
 */
export interface TokenPrice {
  readonly input: number;
  readonly cached_input: number;
  readonly cache_write: number;
  /** What is kept for an hour; like any other write if nothing is said. */
  readonly cache_write_1h?: number;
  readonly output: number;
  /** What every token costs instead, where a call has more tokens of input. */
  readonly long?: { readonly above: number; readonly price: Omit<TokenPrice, 'long'> };
}

const PICO_PER_TOKEN_AT_ONE_USD_PER_MTOK = 1_000_000;
const PICO_PER_NANO = 1_000;

/** More tokens than any call has: keeps a search inside what is counted exactly. */
const MAX_TOKENS = 1_000_000_000;

/**
 * The declared price (USD per million tokens) in pico-USD; a missing cache price is the input's.
 * Throws where input or output have no price: nothing is free by omission.
 */
export function tokenPrice(declared: PriceDeclaration): TokenPrice {
  const { input_usd_per_mtok, output_usd_per_mtok } = declared;
  if (input_usd_per_mtok === undefined || output_usd_per_mtok === undefined) {
    throw new Error('a price by tokens needs input_usd_per_mtok and output_usd_per_mtok');
  }
  const { long_context } = declared;
  return {
    ...tierPrice({ ...declared, input_usd_per_mtok, output_usd_per_mtok }),
    ...(long_context
      ? { long: { above: long_context.above_input_tokens, price: tierPrice(long_context) } }
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
}): Omit<TokenPrice, 'long'> {
  return {
    input: picoPerToken(input_usd_per_mtok),
    cached_input: picoPerToken(cache.cached_input_usd_per_mtok ?? input_usd_per_mtok),
    cache_write: picoPerToken(cache.cache_write_usd_per_mtok ?? input_usd_per_mtok),
    ...(cache.cache_write_1h_usd_per_mtok === undefined
      ? {}
      : { cache_write_1h: picoPerToken(cache.cache_write_1h_usd_per_mtok) }),
    output: picoPerToken(output_usd_per_mtok),
  };
}

/** The price of a call with so many tokens of input, however they are cached. */
export function priceAtLength(input_tokens: number, price: TokenPrice): TokenPrice {
  return price.long && input_tokens > price.long.above ? price.long.price : price;
}

/** USD per million tokens as pico-USD a token. */
export function picoPerToken(usdPerMtok: number): number {
  const exact = usdPerMtok * PICO_PER_TOKEN_AT_ONE_USD_PER_MTOK;
  const rounded = Math.round(exact);
  // 1.1 × 10⁶ is not whole in binary; what is truly below a pico-USD is rounded up, never to free.
  return Math.abs(exact - rounded) < 1e-3 ? rounded : Math.ceil(exact);
}

/**
 * What a call costs, nano-USD: the exact sum, rounded up once. Whole and broken nano-USD are summed
 * apart, so that every product and both sums are exact JS numbers up to 9 million USD. Throws
 * RangeError beyond that.
 */
export function chargeFor(usage: TokenUsage, listed: TokenPrice): number {
  const { input_tokens, cached_input_tokens, cache_write_tokens } = usage;
  const price = priceAtLength(input_tokens + cached_input_tokens + cache_write_tokens, listed);
  const { cache_write_1h_tokens: long = 0 } = usage;
  const cost = new Cost();
  cost.add(usage.input_tokens, price.input);
  cost.add(usage.cached_input_tokens, price.cached_input);
  cost.add(usage.cache_write_tokens - long, price.cache_write);
  if (long > 0) cost.add(long, price.cache_write_1h ?? price.cache_write);
  cost.add(usage.output_tokens, price.output);
  return cost.total();
}

/** A sum of tokens times prices, nano-USD and pico-USD apart, so that each is counted exactly. */
class Cost {
  private nano = 0;
  private pico = 0;

  add(tokens: number, picoPerToken: number): void {
    const broken = picoPerToken % PICO_PER_NANO;
    this.nano += tokens * ((picoPerToken - broken) / PICO_PER_NANO);
    this.pico += tokens * broken;
  }

  /** Nano-USD, rounded up once. Throws RangeError beyond what is counted exactly. */
  total(): number {
    const total = this.nano + Math.ceil(this.pico / PICO_PER_NANO);
    if (!Number.isSafeInteger(total) || !Number.isSafeInteger(this.pico)) {
      throw new RangeError('a price beyond what is counted exactly');
    }
    return total;
  }
}

/** The most that `input_tokens` and `output_tokens` can cost, however the input is cached; nano-USD. */
export function maxChargeFor(
  input_tokens: number,
  output_tokens: number,
  listed: TokenPrice,
): number {
  const price = priceAtLength(input_tokens, listed);
  const { input, cached_input, cache_write, cache_write_1h = cache_write } = price;
  const dearest = Math.max(input, cached_input, cache_write, cache_write_1h);
  const cost = new Cost();
  cost.add(input_tokens, dearest);
  cost.add(output_tokens, price.output);
  return cost.total();
}

/** How many output tokens `nano_usd` pay for after `input_tokens`, at most 10⁹; 0 = not even one. */
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
  // The quotient is a float: right but for its last digit.
  let tokens = Math.min(MAX_TOKENS, Math.floor((left / price.output) * PICO_PER_NANO));
  while (tokens > 0 && !covered(tokens)) tokens -= 1;
  while (tokens < MAX_TOKENS && covered(tokens + 1)) tokens += 1;
  return tokens;
}
