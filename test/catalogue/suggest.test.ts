import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { builtInModels } from '../../src/catalogue/built-in.ts';
import { Catalogue } from '../../src/catalogue/catalogue.ts';
import { suggestModels } from '../../src/catalogue/suggest.ts';

const models = new Catalogue(builtInModels()).all();

describe('suggestions for a refused model', () => {
  test.each([
    ['gpt-4o-mni', 'gpt-4o-mini'],
    ['GPT-4O', 'gpt-4o'],
    ['gpt4.1', 'gpt-4.1'],
    ['claude-sonnet-4.5', 'claude-sonnet-4-5'],
    ['claude-haiku-4-5-20251002', 'claude-haiku-4-5'],
  ])('%s means %s', (refused, meant) => {
    const { did_you_mean, suggestions } = suggestModels(refused, models);
    expect(did_you_mean).toBe(meant);
    expect(suggestions[0]).toEqual({ id: meant });
  });

  test('are empty if no name is similar', () => {
    expect(suggestModels('zzzzzzzzzzzz', models)).toEqual({ suggestions: [] });
    expect(suggestModels('', models)).toEqual({ suggestions: [] });
  });

  test('P13: are callable, and never the refused name', () => {
    const names = models.flatMap(({ id, aliases }) => [id, ...aliases]);
    const misspelled = fc
      .tuple(fc.constantFrom(...names), fc.nat(30), fc.string({ maxLength: 2 }))
      .map(([name, at, noise]) => name.slice(0, at) + noise + name.slice(at + 1));
    fc.assert(
      fc.property(
        fc.oneof(misspelled, fc.constantFrom(...names), fc.string({ maxLength: 300 })),
        fc.subarray([...models]),
        (refused, callable) => {
          const { did_you_mean, suggestions } = suggestModels(refused, callable);
          const ids = callable.map(({ id }) => id);
          for (const { id } of suggestions) expect(ids).toContain(id);
          expect(suggestions.map(({ id }) => id)).not.toContain(refused);
          expect(suggestions.length).toBeLessThanOrEqual(3);
          expect(did_you_mean).toBe(suggestions[0]?.id);
        },
      ),
      { numRuns: 2_000 },
    );
  });

  test('are fast for a very long name', () => {
    expect(suggestModels('gpt-4o'.repeat(100_000), models).suggestions).toEqual([]);
  });
});
