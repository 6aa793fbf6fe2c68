import { describe, expect, test } from 'bun:test';
import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import { fixedText, type ProducedText, wordText } from '../../simulator/shared/text.ts';
import { PromptMeter, tokensOf } from '../../simulator/shared/tokens.ts';
import { OPENERS, UNICODE_WORDS, WORDS } from '../../simulator/shared/words.ts';
import { fc } from '../support/property.ts';

const NO_SPECIAL = { disallowedSpecial: new Set<string>() };

function inPieces(text: ProducedText): string {
  return Array.from({ length: text.pieces }, (_, index) => text.piece(index)).join('');
}

describe('the simulator’s texts', () => {
  test('every word is one token with the space before it', () => {
    const spaced = [...WORDS, ...UNICODE_WORDS].map((word) => ` ${word}`);
    expect([...OPENERS, ...spaced].filter((word) => encode(word).length !== 1)).toEqual([]);
    expect(UNICODE_WORDS.every((word) => Buffer.byteLength(word) > word.length)).toBe(true);
  });

  test('a text of N tokens has exactly N by the tokenizer, plain or not', () => {
    fc.assert(
      fc.property(fc.integer(), fc.nat(400), fc.boolean(), (seed, tokens, unicode) => {
        const text = wordText(seed, tokens, unicode);
        expect(encode(text.whole()).length).toBe(tokens);
        expect(inPieces(text)).toBe(text.whole());
        expect(wordText(seed, tokens, unicode).whole()).toBe(text.whole());
      }),
    );
  });

  test('first() returns the beginning of a text, never longer than allowed', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.nat(20), (whole, limit) => {
        const text = fixedText(whole);
        const first = text.first(limit);
        expect(inPieces(text)).toBe(whole);
        expect(whole.startsWith(first.whole())).toBe(true);
        expect(first.tokens).toBeLessThanOrEqual(Math.max(limit, 0));
        if (limit >= text.tokens) expect(first.whole()).toBe(whole);
      }),
    );
  });
});

describe('the simulator’s counting', () => {
  test('counts like the tokenizer, also names of special tokens', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), (text) => {
        expect(tokensOf(text)).toBe(encode(text, NO_SPECIAL).length);
        expect(tokensOf(text)).toBe(encode(text, NO_SPECIAL).length);
      }),
    );
    expect(tokensOf('<|endoftext|>')).toBe(encode('<|endoftext|>', NO_SPECIAL).length);
    const prose = 'It was a dark and stormy night. '.repeat(2_000);
    expect(tokensOf(prose)).toBe(encode(prose).length);
  });

  test('counts a megabyte without a word boundary in slices, within seconds', () => {
    const letters = Array.from({ length: 1_000_000 }, (_, index) =>
      String.fromCharCode(97 + ((Math.imul(index, 2_654_435_761) >>> 16) % 26)),
    ).join('');
    expect(tokensOf(letters)).toBeGreaterThan(100_000);
  });

  test('a chat is counted by OpenAI’s published formula', () => {
    const meter = new PromptMeter(0);
    meter.message('system');
    meter.text('You are terse.');
    meter.message('user', 'Ada');
    meter.text('Hello!');
    // 3 for priming, 3 for each message, 1 for the name, and the tokens of every value.
    const values = ['system', 'You are terse.', 'user', 'Ada', 'Hello!'];
    const tokens = values.reduce((sum, value) => sum + encode(value).length, 0);
    expect(meter.tokens).toBe(3 + 3 + 3 + 1 + tokens);
  });
});
