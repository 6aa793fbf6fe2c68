import { describe, expect, test } from 'bun:test';
import { directCharge, directPrice } from '../../src/catalogue/direct-price.ts';

describe('the price of a direct call', () => {
  test.each([
    [0, 0],
    [0.001, 1],
    [1, 1],
    [1.001, 2],
    [59.5, 60],
  ])('%d seconds of sound cost as much as %d', (seconds, begun) => {
    const price = directPrice('stt', { usd_per_second: 0.0001 });
    expect(directCharge(price, { seconds })).toBe(begun * 100_000);
  });

  test('is for a million characters or tokens, and for one second or request', () => {
    const characters = directPrice('tts', { usd_per_mchar: 15 });
    expect(directCharge(characters, { characters: 7 })).toBe(7 * 15_000);
    const tokens = directPrice('embedding', { input_usd_per_mtok: 0.02 });
    expect(directCharge(tokens, { input_tokens: 1_000_001 })).toBe(20_000_020);
    const requests = directPrice('rerank', { usd_per_request: 0.002 });
    expect(directCharge(requests, { requests: 3 })).toBe(3 * 2_000_000);
  });

  test('of two units is the sum of their prices', () => {
    const both = directPrice('tts', { input_usd_per_mtok: 0.5, output_usd_per_mtok: 10 });
    const usage = { input_tokens: 3, output_tokens: 5 };
    expect(directCharge(both, usage)).toBe(3 * 500 + 5 * 10_000);
  });

  test('below one pico-USD per second never becomes 0', () => {
    const price = directPrice('stt', { usd_per_second: 1e-14 });
    expect(directCharge(price, { seconds: 1 })).toBe(1);
  });

  test('is refused for another unit, or if one price of a pair is missing', () => {
    expect(() => directPrice('stt', { usd_per_request: 1 })).toThrow('no declared price for stt');
    expect(() => directPrice('tts', { output_usd_per_mtok: 1 })).toThrow(
      'no declared price for tts',
    );
  });
});
