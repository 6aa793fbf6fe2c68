import { describe, expect, test } from 'bun:test';
import { builtInModels } from '../../src/catalogue/built-in.ts';
import { Catalogue, type CatalogueModel } from '../../src/catalogue/catalogue.ts';
import { RANKED_SCENES, rankModels } from '../../src/catalogue/ranking.ts';
import { fc } from '../support/property.ts';

const models = new Catalogue(builtInModels()).all();
const images = models.filter(({ category }) => category === 'image').map(({ id }) => id);
const [first = '', second = '', third = ''] = images;
const MIN = 20;

const order = (...outcomes: [model: string, succeeded: number, failed: number][]) =>
  rankModels(
    models,
    outcomes.map(([model, succeeded, failed]) => ({ model, succeeded, failed })),
    MIN,
  ).image ?? [];

describe('the ranking', () => {
  test('has every model of every scene once, and no other', () => {
    const ranking = rankModels(models, [], MIN);
    for (const scene of RANKED_SCENES) {
      const ofScene = models.filter(({ category }) => category === scene).map(({ id }) => id);
      expect((ranking[scene] ?? []).map(({ model }) => model).sort()).toEqual(ofScene.sort());
    }
    expect(Object.keys(ranking)).not.toContain('chat');
  });

  test('orders models with enough outcomes by success rate', () => {
    const ranked = order([first, 15, 5], [second, 19, 1], [third, 19, 0]);
    expect(ranked.slice(0, 2).map(({ model }) => model)).toEqual([second, first]);
    // All calls of this model succeeded, but there are too few of them.
    expect(ranked[2]).toMatchObject({ model: third, ready: false, samples: 19, success_rate: 1 });
  });

  test('of models with too few outcomes, the one with more outcomes comes first, whatever its success', () => {
    const ranked = order([first, 9, 0], [second, 1, 9]).slice(0, 2);
    expect(ranked.map(({ model }) => model)).toEqual([second, first]);
  });

  test('orders equal success rates by the number of outcomes, then by price', () => {
    expect(order([first, 20, 0], [second, 40, 0])[0]?.model).toBe(second);
    const price = new Map(models.map(({ id, declaration }) => [id, declaration.price]));
    const cheap = 'grok-imagine-image';
    const dear = 'grok-imagine-image-quality';
    expect(price.get(cheap)?.usd_per_image ?? 0).toBeLessThan(price.get(dear)?.usd_per_image ?? 0);
    const tied = order([dear, 30, 0], [cheap, 30, 0]).slice(0, 2);
    expect(tied.map(({ model }) => model)).toEqual([cheap, dear]);
  });

  test.each([
    ['image', 'usd_per_image'],
    ['video', 'usd_per_second'],
    ['music', 'usd_per_song'],
    ['3d', 'usd_per_request'],
    ['tts', 'usd_per_mchar'],
    ['embedding', 'input_usd_per_mtok'],
    ['translation', 'output_usd_per_mtok'],
  ] as const)('of equal models in %s, the cheaper one by %s comes first', (category, member) => {
    // Sorted by name, the more expensive model would be first.
    const priced = [
      { id: 'a-dear', category, declaration: { price: { [member]: 2 } } },
      { id: 'b-cheap', category, declaration: { price: { [member]: 1 } } },
    ] as unknown as CatalogueModel[];
    const ranked = rankModels(priced, [], MIN)[category] ?? [];
    expect(ranked.map(({ model }) => model)).toEqual(['b-cheap', 'a-dear']);
  });

  test('P14: is the same for the same outcomes, in any order', () => {
    const outcome = fc.record({
      model: fc.constantFrom(...images),
      succeeded: fc.nat(60),
      failed: fc.nat(60),
    });
    fc.assert(
      fc.property(
        fc.uniqueArray(outcome, { selector: ({ model }) => model }),
        fc.nat(),
        (outcomes, turn) => {
          const at = turn % Math.max(1, outcomes.length);
          const other = [...outcomes.slice(at), ...outcomes.slice(0, at)];
          const ranked = rankModels(models, outcomes, MIN).image ?? [];
          expect(rankModels([...models].reverse(), other, MIN).image).toEqual(ranked);
          // Ready models come first, in descending order of success.
          for (const [place, here] of ranked.entries()) {
            const before = ranked[place - 1];
            if (!before) continue;
            expect(Number(before.ready)).toBeGreaterThanOrEqual(Number(here.ready));
            if (here.ready) expect(before.success_rate).toBeGreaterThanOrEqual(here.success_rate);
          }
        },
      ),
    );
  });
});
