import { describe, expect, test } from 'bun:test';
import { maxEmbeddingTokens, searchUnits } from '../../../src/inference/direct/max-units.ts';
import { fc } from '../../support/property.ts';

const bytes = (text: string) => Buffer.byteLength(text);

describe('the units of a direct call', () => {
  test('P17: an embedding covers every byte of every member that is sent', () => {
    const input = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.array(fc.string({ unit: 'grapheme' }), { minLength: 1, maxLength: 20 }),
      fc.array(fc.nat({ max: 9 }), { minLength: 1, maxLength: 50 }),
    );
    const other = fc.string({ unit: 'grapheme' });
    fc.assert(
      fc.property(input, other, (texts, instruct) => {
        const list = [texts].flat();
        const billed = list.reduce<number>(
          // The worst vocabulary has one token for each byte. A token id is one token.
          (sum, each) => sum + (typeof each === 'string' ? bytes(each) + 8 : 1),
          bytes(instruct),
        );
        const body_text = JSON.stringify({ input: texts, instruct });
        expect(maxEmbeddingTokens(texts, body_text)).toBeGreaterThanOrEqual(billed);
      }),
    );
  });

  test('P17: a rerank covers documents whose parts share their room with the query', () => {
    fc.assert(
      fc.property(
        fc.array(fc.nat({ max: 6_000 }), { minLength: 1, maxLength: 300 }),
        fc.nat({ max: 1_000 }),
        (lengths, query_tokens) => {
          const documents = lengths.map((length) => 'x'.repeat(length));
          // The provider shortens a query to half of a part (Cohere docs: Reranking best practices).
          const room = 500 - Math.min(250, query_tokens);
          let parts = 0;
          for (const length of lengths) parts += Math.ceil(Math.min(length, 4_096) / room);
          const billed = Math.max(1, Math.ceil(parts / 100));
          expect(searchUnits(documents, 4_096, query_tokens)).toBeGreaterThanOrEqual(billed);
        },
      ),
    );
    expect(searchUnits(['short'], 4_096, 0)).toBe(1);
    expect(searchUnits(new Array(100).fill('x'.repeat(400)), 4_096, 0)).toBe(1);
    expect(searchUnits(new Array(100).fill('x'.repeat(400)), 4_096, 200)).toBe(2);
  });
});
