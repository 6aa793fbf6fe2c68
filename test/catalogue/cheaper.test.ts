import { describe, expect, test } from 'bun:test';
import { builtInModels } from '../../src/catalogue/built-in.ts';
import { Catalogue, type CatalogueModel } from '../../src/catalogue/catalogue.ts';
import { costsLess, isSameKind } from '../../src/catalogue/cheaper.ts';

const catalogue = new Catalogue(builtInModels());
const model = (id: string): CatalogueModel => {
  const found = catalogue.find(id);
  if (!found) throw new Error(id);
  return found;
};

describe('costsLess', () => {
  test.each([
    ['gpt-4o-mini', 'gpt-4o'],
    ['tts-1', 'tts-1-hd'],
    ['gpt-image-2', 'gpt-image-1'],
    ['veo-3.1-fast', 'veo-3.1'],
    ['flux-1.1-pro', 'midjourney'],
  ])('%s costs less than %s, and not the other way round', (less, more) => {
    expect(costsLess(model(less), model(more))).toBe(true);
    expect(costsLess(model(more), model(less))).toBe(false);
    expect(costsLess(model(less), model(less))).toBe(false);
  });

  test.each([
    ['tts-1', 'gemini-2.5-flash-preview-tts'],
    ['dall-e-3', 'gpt-image-1'],
    ['stable-audio-2.5', 'elevenlabs-sound-effects'],
  ])('%s and %s have prices of different units', (one, other) => {
    expect(costsLess(model(one), model(other))).toBe(false);
    expect(costsLess(model(other), model(one))).toBe(false);
  });

  test('models of which each is cheaper in one unit do not cost less than each other', () => {
    const priced = (id: string, input_usd_per_mtok: number, output_usd_per_mtok: number) => ({
      ...model('gpt-4o').declaration,
      ...{ id, aliases: [], price: { input_usd_per_mtok, output_usd_per_mtok } },
    });
    const two = new Catalogue([priced('a', 1, 9), priced('b', 2, 8)]);
    const [a, b] = two.all() as [CatalogueModel, CatalogueModel];
    expect([costsLess(a, b), costsLess(b, a)]).toEqual([false, false]);
  });

  test('the highest tier counts', () => {
    const tiered = (id: string, usd: number) => ({
      ...model('dall-e-3').declaration,
      ...{
        id,
        aliases: [],
        price: { usd_per_image: 0.01, tiers: [{ when: { quality: 'hd' }, usd }] },
      },
    });
    const two = new Catalogue([tiered('a', 0.2), tiered('b', 0.1)]);
    const [a, b] = two.all() as [CatalogueModel, CatalogueModel];
    expect([costsLess(a, b), costsLess(b, a)]).toEqual([false, true]);
  });
});

test('isSameKind', () => {
  const same = (one: string, other: string) => isSameKind(model(one), model(other));
  expect(same('gpt-4o', 'claude-haiku-4-5')).toBe(true);
  expect(same('gpt-4o', 'tts-1')).toBe(false);
  expect(same('tts-1', 'whisper-1')).toBe(false);
  expect(same('veo-3.1', 'kling-3.0')).toBe(true);
  expect(same('veo-3.1', 'dall-e-3')).toBe(false);
  // Vectors of two models cannot be compared.
  expect(same('text-embedding-3-small', 'text-embedding-3-large')).toBe(false);
});
