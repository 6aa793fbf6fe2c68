/** Which models of the catalogue a provider has, by the names that it lists. */
import { describe, expect, test } from 'bun:test';
import { builtInModels } from '../../src/catalogue/built-in.ts';
import { Catalogue } from '../../src/catalogue/catalogue.ts';
import { matchProviderModels } from '../../src/catalogue/provider-models.ts';

const catalogue = new Catalogue(builtInModels());

function match(names: string[]) {
  const { provided, unknown } = matchProviderModels(names, catalogue);
  return {
    found: provided.map(({ model, upstream_model, other_upstream_models }) => [
      ...[model.id, upstream_model, ...other_upstream_models],
    ]),
    unknown,
  };
}

describe('a provider’s name', () => {
  test.each([
    ['gpt-4o', 'gpt-4o'],
    ['claude-opus-4-5-20251101', 'claude-opus-4-5'],
    ['openai/gpt-4o', 'gpt-4o'],
    ['anthropic/claude-sonnet-4.5', 'claude-sonnet-4-5'],
    ['claude-sonnet-4.6', 'claude-sonnet-4-6'],
    ['gpt-4.1', 'gpt-4.1'],
    ['GPT-4o', 'gpt-4o'],
    ['gpt-4o-2024-08-06', 'gpt-4o'],
    ['veo-3.1-generate-preview', 'veo-3.1'],
  ])('%s is the model %s', (name, id) => {
    expect(match([name])).toEqual({ found: [[id, name]], unknown: [] });
  });

  test.each([
    ...['gpt-3.5-turbo', 'gpt-4o-audio-preview', 'someone/gpt-4o', 'openai/gpt-4o:free'],
    ...['gpt-4o-2024', 'google/gpt-4o', '', '/', '__proto__', 'constructor', 'openai/'],
  ])('%j is of no model', (name) => {
    expect(match([name])).toEqual({ found: [], unknown: [name] });
  });

  test('of several, the exact one is used', () => {
    const names = ['gpt-4o-2024-08-06', 'gpt-4o-2024-11-20', 'gpt-4o', 'what'];
    expect(match(names)).toEqual({
      found: [['gpt-4o', 'gpt-4o', 'gpt-4o-2024-08-06', 'gpt-4o-2024-11-20']],
      unknown: ['what'],
    });
    expect(match(['claude-haiku-4-5-20251001', 'claude-haiku-4-5']).found).toEqual([
      ['claude-haiku-4-5', 'claude-haiku-4-5', 'claude-haiku-4-5-20251001'],
    ]);
  });
});

test('every id and alias of the catalogue is its own model', () => {
  for (const model of catalogue.all()) {
    for (const name of [model.id, ...model.aliases]) {
      expect(match([name]).found).toEqual([[model.id, name]]);
    }
  }
});
