import { describe, expect, test } from 'bun:test';
import { inputBound } from '../../../src/inference/budget/input-bound.ts';
import { countInputTokens, countTokens } from '../../../src/inference/budget/tokens.ts';
import { fc } from '../../support/property.ts';

describe('counting tokens', () => {
  test('special tokens in a text are ordinary characters', () => {
    expect(countTokens('<|endoftext|>')).toBeGreaterThan(1);
    expect(countTokens('')).toBe(0);
  });

  test('a megabyte without a word boundary is counted in time', () => {
    expect(countTokens('a'.repeat(1_000_000))).toBeGreaterThan(10_000);
  });

  test('counting a long text in slices adds at most one token per slice', () => {
    const text = 'The quick brown fox jumps over the lazy dog. '.repeat(1_000);
    const sentence_tokens = countTokens('The quick brown fox jumps over the lazy dog. ');
    expect(Math.abs(countTokens(text) - (sentence_tokens - 1) * 1_000)).toBeLessThan(1_100);
  });

  test('P2: the upper bound for the reservation is never below the count', () => {
    const part = fc.oneof(
      fc.record({ type: fc.constant('text'), text: fc.string({ unit: 'grapheme' }) }),
      fc.record({ type: fc.constant('image_url'), image_url: fc.record({ url: fc.webUrl() }) }),
    );
    const message = fc.record({
      role: fc.constantFrom('user', 'assistant'),
      content: fc.oneof(fc.string({ unit: 'grapheme' }), fc.array(part, { maxLength: 4 })),
    });
    fc.assert(
      fc.property(fc.record({ messages: fc.array(message, { maxLength: 5 }) }), (body) => {
        const { max_tokens } = inputBound(body, JSON.stringify(body), 'claude-opus-4-7');
        expect(countInputTokens(body)).toBeLessThanOrEqual(max_tokens);
      }),
      { numRuns: 500 },
    );
  });
});
