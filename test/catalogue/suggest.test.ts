import { describe, expect, test } from 'bun:test';
import { builtInModels } from '../../src/catalogue/built-in.ts';
import { Catalogue } from '../../src/catalogue/catalogue.ts';
import { suggestModels } from '../../src/catalogue/suggest.ts';
import { fc } from '../support/property.ts';

const models = new Catalogue(builtInModels()).all();

describe('suggestions for a refused model', () => {
  test.each([
    ['gpt-4o-mni', 'gpt-4o-mini'],
    ['GPT-4O', 'gpt-4o'],
    ['gpt4.1', 'gpt-4.1'],
    ['claude-sonnet-4.5', 'claude-sonnet-4-5'],
    ['claude-haiku-4-5-20251002', 'claude-haiku-4-5'],
    ['gpt-4o-2024-11-20', 'gpt-4o'],
    ['openai/gpt-4o', 'gpt-4o'],
    ['models/gemini-2.5-flash-preview-05-20', 'gemini-2.5-flash'],
    ['us.anthropic.claude-opus-4-6-v1:0', 'claude-opus-4-6'],
    ['claude-haiku-4-5@20250101', 'claude-haiku-4-5'],
    ['gpt-4.1-long-context', 'gpt-4.1'],
    ['veo', 'veo-3.1'],
    ['suno', 'suno_music'],
    ['o4', 'o4-mini'],
  ])('%s means %s', (refused, meant) => {
    const { did_you_mean, suggestions } = suggestModels(refused, models);
    expect(did_you_mean).toBe(meant);
    expect(suggestions[0]).toEqual({ id: meant });
  });

  test('are empty if no name is similar', () => {
    expect(suggestModels('zzzzzzzzzzzz', models)).toEqual({ suggestions: [] });
    expect(suggestModels('', models)).toEqual({ suggestions: [] });
  });

  const VENDORS = ['openai/', 'x-ai/', 'openrouter/vendor/', 'vendor:', 'eu.vendor.'];
  const VERSIONS = [
    '-2024-11-20',
    '-20241120',
    '-0613',
    '-latest',
    '-preview-05-20',
    '@001',
    '-v1:0',
  ];

  test.each(models.map(({ id }) => id))('find %s behind a vendor, a date or a version', (id) => {
    for (const vendor of ['', ...VENDORS]) {
      for (const version of ['', ...VERSIONS]) {
        const refused = vendor + id + version;
        if (models.some((model) => [model.id, ...model.aliases].includes(refused))) continue;
        const { did_you_mean } = suggestModels(refused, models);
        expect({ refused, did_you_mean }).toEqual({ refused, did_you_mean: id });
      }
    }
  });

  test('complete the start of a name', () => {
    const names = models.flatMap(({ id, aliases }) => [id, ...aliases]);
    const starts = names.flatMap((name) =>
      [...name.matchAll(/[-_.]/g)].map(({ index }) => name.slice(0, index)),
    );
    for (const start of new Set(starts)) {
      if (start.length < 2 || names.includes(start)) continue;
      const { did_you_mean } = suggestModels(start, models);
      const model = models.find(({ id }) => id === did_you_mean);
      const completed = [model?.id ?? '', ...(model?.aliases ?? [])].some(
        (name) => name.startsWith(start) || (name !== '' && start.startsWith(name)),
      );
      expect({ start, did_you_mean, completed }).toEqual({ start, did_you_mean, completed: true });
    }
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
