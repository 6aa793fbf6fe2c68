import { describe, expect, test } from 'bun:test';
import {
  affordableOutputTokens,
  chargeFor,
  maxChargeFor,
  type TokenPrice,
  tokenPrice,
} from '../../src/catalogue/price.ts';
import type { TokenUsage } from '../../src/protocols/token-usage.ts';
import { fc } from '../support/property.ts';

const RUNS = { numRuns: 5_000 };

const usage = (members: Partial<TokenUsage>): TokenUsage => ({
  input_tokens: 0,
  cached_input_tokens: 0,
  cache_write_tokens: 0,
  output_tokens: 0,
  ...members,
});

/** Computes the charge with BigInt, rounded up once. */
function exactPrice(tokens: TokenUsage, price: TokenPrice): bigint {
  const pico =
    BigInt(tokens.input_tokens) * BigInt(price.input) +
    BigInt(tokens.cached_input_tokens) * BigInt(price.cached_input) +
    BigInt(tokens.cache_write_tokens) * BigInt(price.cache_write) +
    BigInt(tokens.output_tokens) * BigInt(price.output);
  return (pico + 999n) / 1_000n;
}

const anyCount = fc.oneof(
  fc.integer({ min: 0, max: 300 }),
  fc.integer({ min: 0, max: 2_000_000 }),
  fc.integer({ min: 0, max: 200_000_000 }),
);
const anyUsage = fc.record({
  input_tokens: anyCount,
  cached_input_tokens: anyCount,
  cache_write_tokens: anyCount,
  output_tokens: anyCount,
});
/** Prices of up to 1,000 USD per million tokens, which is the limit of a declaration. */
const anyPicoPrice = fc.oneof(
  fc.integer({ min: 0, max: 5_000 }),
  fc.integer({ min: 0, max: 30_000_000 }),
  fc.integer({ min: 0, max: 1_000_000_000 }),
);
const anyPrice = fc.record({
  input: anyPicoPrice,
  cached_input: anyPicoPrice,
  cache_write: anyPicoPrice,
  output: anyPicoPrice,
});

describe('the price of tokens that are cached for an hour', () => {
  const listed = tokenPrice({
    ...{ input_usd_per_mtok: 3, cached_input_usd_per_mtok: 0.3, cache_write_usd_per_mtok: 3.75 },
    ...{ cache_write_1h_usd_per_mtok: 6, output_usd_per_mtok: 15 },
  });

  test('applies to those tokens only', () => {
    const written = { cache_write_tokens: 10, cache_write_1h_tokens: 4 };
    expect(chargeFor(usage(written), listed)).toBe(6 * 3_750 + 4 * 6_000);
    const { cache_write_1h: _, ...without } = listed;
    expect(chargeFor(usage(written), without)).toBe(10 * 3_750);
  });

  test('P2: bounds the estimate', () => {
    expect(maxChargeFor(10, 0, listed)).toBe(10 * 6_000);
  });
});

describe('the prices of audio and of web searches', () => {
  const listed = tokenPrice({
    ...{ input_usd_per_mtok: 0.3, cached_input_usd_per_mtok: 0.03, output_usd_per_mtok: 2.5 },
    ...{ audio_input_usd_per_mtok: 1, cached_audio_input_usd_per_mtok: 0.1 },
    usd_per_web_search: 0.01,
  });

  test('apply to the audio part of the input and to each search', () => {
    const heard = { input_tokens: 10, audio_input_tokens: 4 };
    expect(chargeFor(usage(heard), listed)).toBe(6 * 300 + 4 * 1_000);
    const cached = { cached_input_tokens: 10, cached_audio_tokens: 4 };
    expect(chargeFor(usage(cached), listed)).toBe(6 * 30 + 4 * 100);
    expect(chargeFor(usage({ web_searches: 3 }), listed)).toBe(30_000_000);
  });

  test('without a price of its own, audio costs as much as text', () => {
    const { audio_input: _, cached_audio_input: __, ...text } = listed;
    const heard = { input_tokens: 10, audio_input_tokens: 4, cached_input_tokens: 10 };
    expect(chargeFor(usage({ ...heard, cached_audio_tokens: 4 }), text)).toBe(10 * 330);
  });

  test('P17: the estimate covers the input also if all of it is audio', () => {
    expect(maxChargeFor(10, 0, listed)).toBe(10 * 1_000);
  });
});

describe('a price of long prompts', () => {
  const listed = tokenPrice({
    ...{ input_usd_per_mtok: 2, cached_input_usd_per_mtok: 0.2, output_usd_per_mtok: 12 },
    long_context: {
      ...{ above_input_tokens: 200_000, input_usd_per_mtok: 4, cached_input_usd_per_mtok: 0.4 },
      output_usd_per_mtok: 18,
    },
  });

  test('applies to every token of the call above the limit, cached tokens included', () => {
    const charge = (members: Partial<TokenUsage>) => chargeFor(usage(members), listed);
    expect(charge({ input_tokens: 200_000, output_tokens: 10 })).toBe(
      200_000 * 2_000 + 10 * 12_000,
    );
    expect(charge({ input_tokens: 200_001, output_tokens: 10 })).toBe(
      200_001 * 4_000 + 10 * 18_000,
    );
    expect(charge({ input_tokens: 1, cached_input_tokens: 200_000 })).toBe(4_000 + 200_000 * 400);
  });

  test('P2: the estimate covers every call with at most as many tokens', () => {
    fc.assert(
      fc.property(anyUsage, fc.nat({ max: 500_000 }), (used, more) => {
        const input = used.input_tokens + used.cached_input_tokens + used.cache_write_tokens;
        const most = maxChargeFor(input + more, used.output_tokens, listed);
        expect(chargeFor(used, listed)).toBeLessThanOrEqual(most);
        const held = affordableOutputTokens(most, input + more, listed);
        expect(held).toBeGreaterThanOrEqual(Math.min(used.output_tokens, 1_000_000_000));
      }),
      RUNS,
    );
  });
});

describe('a price', () => {
  test('is converted without a rounding error', () => {
    expect(
      tokenPrice({
        input_usd_per_mtok: 1.1,
        cached_input_usd_per_mtok: 0.275,
        cache_write_usd_per_mtok: 18.75,
        output_usd_per_mtok: 4.4,
      }),
    ).toEqual({
      input: 1_100_000,
      cached_input: 275_000,
      cache_write: 18_750_000,
      output: 4_400_000,
    });
  });

  test('for cached tokens is the input price if none is declared', () => {
    const price = tokenPrice({ input_usd_per_mtok: 2, output_usd_per_mtok: 8 });
    expect(price.cached_input).toBe(price.input);
    expect(price.cache_write).toBe(price.input);
  });

  test('below one pico-USD per token is never rounded to 0', () => {
    // 1e-12 is far below the tolerance for the rounding of floating point.
    expect(tokenPrice({ input_usd_per_mtok: 1e-12, output_usd_per_mtok: 0 })).toEqual({
      input: 1,
      cached_input: 1,
      cache_write: 1,
      output: 0,
    });
  });
});

describe('the charge of a call', () => {
  const price = tokenPrice({
    input_usd_per_mtok: 0.15,
    cached_input_usd_per_mtok: 0.075,
    output_usd_per_mtok: 0.6,
  });

  test('is the sum of its tokens, in nano-USD', () => {
    expect(chargeFor(usage({ input_tokens: 9, output_tokens: 3 }), price)).toBe(9 * 150 + 3 * 600);
  });

  test('rounds up once, at the end of the sum', () => {
    const broken = { input: 1_500, cached_input: 500, cache_write: 0, output: 1 };
    expect(chargeFor(usage({ input_tokens: 1 }), broken)).toBe(2);
    expect(chargeFor(usage({ input_tokens: 1, cached_input_tokens: 1 }), broken)).toBe(2);
    expect(chargeFor(usage({ output_tokens: 1 }), broken)).toBe(1);
  });

  test('without tokens is 0', () => {
    expect(chargeFor(usage({}), price)).toBe(0);
  });

  test('P1: is exact for every usage and every price that can be declared', () => {
    fc.assert(
      fc.property(anyUsage, anyPrice, (tokens, list) => {
        expect(BigInt(chargeFor(tokens, list))).toBe(exactPrice(tokens, list));
      }),
      RUNS,
    );
  });

  test('P1: is refused rather than rounded beyond 9 million USD', () => {
    const dear = { input: 1_000_000_000, cached_input: 0, cache_write: 0, output: 0 };
    expect(() => chargeFor(usage({ input_tokens: 10_000_000_000 }), dear)).toThrow(RangeError);
  });

  test('does not grow if fewer tokens are used', () => {
    fc.assert(
      fc.property(anyUsage, anyPrice, (tokens, list) => {
        const more = { ...tokens, output_tokens: tokens.output_tokens + 1 };
        expect(chargeFor(more, list)).toBeGreaterThanOrEqual(chargeFor(tokens, list));
      }),
      RUNS,
    );
  });
});

describe('an estimate', () => {
  test('P2: is never below the charge, for any caching of the input', () => {
    fc.assert(
      fc.property(anyUsage, anyPrice, (tokens, list) => {
        const input = tokens.input_tokens + tokens.cached_input_tokens + tokens.cache_write_tokens;
        expect(maxChargeFor(input, tokens.output_tokens, list)).toBeGreaterThanOrEqual(
          chargeFor(tokens, list),
        );
      }),
      RUNS,
    );
  });

  test('P2: allows exactly as many tokens as the money pays for', () => {
    const anyMoney = fc.oneof(
      fc.integer({ min: 0, max: 100_000 }),
      fc.integer({ min: 0, max: 100_000 * 1_000_000_000 }),
    );
    fc.assert(
      fc.property(anyMoney, fc.integer({ min: 0, max: 50_000 }), anyPrice, (money, input, list) => {
        const tokens = affordableOutputTokens(money, input, list);
        if (tokens > 0) expect(maxChargeFor(input, tokens, list)).toBeLessThanOrEqual(money);
        if (tokens < 1_000_000_000) {
          expect(maxChargeFor(input, tokens + 1, list)).toBeGreaterThan(money);
        }
      }),
      RUNS,
    );
  });

  test('allows no token if the input alone costs more', () => {
    const list = { input: 1_000_000, cached_input: 0, cache_write: 0, output: 1 };
    expect(affordableOutputTokens(999, 1, list)).toBe(0);
  });
});
