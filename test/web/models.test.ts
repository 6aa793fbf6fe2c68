/** What the pages of models find, order and say, without a browser. */
import { describe, expect, test } from 'bun:test';
import { builtInModels } from '../../src/catalogue/built-in.ts';
import { Catalogue } from '../../src/catalogue/catalogue.ts';
import { modelRecord, modelSummary } from '../../src/http/management/model-record.ts';
import { conditionalPrices, leadingPrice, pricesOf } from '../../web/catalogue/price.ts';
import { whyRanked } from '../../web/catalogue/rank.ts';
import { parametersOf, takenBy } from '../../web/contract/parameters.ts';
import { foundModels, readModelSearch } from '../../web/pages/models/search.ts';

const catalogue = new Catalogue(builtInModels());
const all = catalogue.all();
const models = all.map((model) => modelSummary(model, 'available', undefined));
const found = (search: object, spent = new Map<string, number>()) =>
  foundModels(models, readModelSearch({ ...search }), spent).map(({ id }) => id);

describe('the search of models', () => {
  test('shows all without a word', () => {
    expect(found({})).toEqual(models.map(({ id }) => id));
  });

  test('finds by name, alias, vendor and ability, in any order of words', () => {
    expect(found({ q: 'GPT-4O-mini' })).toEqual(expect.arrayContaining(['gpt-4o-mini']));
    expect(found({ q: 'nano-banana-pro' })).toEqual(['gemini-3-pro-image-preview']);
    expect(found({ q: 'vision anthropic' })).toEqual(found({ vendor: 'anthropic', can: 'vision' }));
    expect(found({ can: 'start-end-to-video' })).toContain('veo-3.1');
    expect(found({ q: 'no such model' })).toEqual([]);
  });

  test('orders by price within a unit, by spend, by name', () => {
    const priced = found({ category: 'image', sort: 'price' }).map((id) => {
      const model = models.find((each) => each.id === id);
      return { unit: model?.pricing_unit, usd: leadingPrice(model?.pricing ?? {})?.usd ?? 0 };
    });
    expect(priced.length).toBeGreaterThan(3);
    for (const [at, { unit, usd }] of priced.entries()) {
      const before = priced[at - 1];
      if (before?.unit === unit) expect(before?.usd).toBeLessThanOrEqual(usd);
    }
    expect(found({ sort: 'spent' }, new Map([['tts-1', 3]]))[0]).toBe('tts-1');
    expect(found({ sort: 'name' })).toEqual(found({}).sort());
  });

  test('leaves out what no page makes', () => {
    expect(readModelSearch({ q: 7, sort: 'odd', category: '' })).toEqual({});
  });
});

describe('prices', () => {
  test('every model has one, and none of the declared amounts is left out', () => {
    for (const { id, pricing } of models) {
      const amounts = Object.values(pricing).filter((each) => typeof each === 'number');
      expect([id, pricesOf(pricing).length]).toEqual([id, amounts.length]);
      expect(leadingPrice(pricing)).toBeDefined();
      const conditions = (pricing.tiers?.length ?? 0) + (pricing.long_context ? 1 : 0);
      expect(conditionalPrices(pricing)).toHaveLength(conditions);
    }
  });
});

describe('the rank', () => {
  const rank = {
    ...{ scene: 'image' as const, place: 2, of: 13, updated_at: '' },
    ...{ success_rate_24h: 0.985, sample_count_24h: 210, status: 'ready' as const },
  };
  test('says why', () => {
    expect(whyRanked(rank)).toContain('98.5 % of 210 calls in 24 hours succeeded');
    expect(whyRanked({ ...rank, sample_count_24h: 0, status: 'insufficient_samples' })).toContain(
      'Nobody called it in 24 hours',
    );
    expect(whyRanked({ ...rank, sample_count_24h: 1, status: 'insufficient_samples' })).toContain(
      'It had 1 call in 24 hours',
    );
  });
});

describe('contracts', () => {
  test('are read for every model', () => {
    for (const [at, model] of all.entries()) {
      const summary = models[at];
      const { contract } = summary ? modelRecord(model, summary) : { contract: null };
      if (!contract) continue;
      const parameters = parametersOf(contract);
      expect(parameters.length).toBe(Object.keys(contract.properties).length - 1);
      for (const each of parameters) {
        expect(takenBy(each)).not.toMatch(/undefined|an object/);
      }
    }
  });

  test('give forms their choices, bounds and defaults', () => {
    const [n, size, speed] = parametersOf({
      properties: {
        n: { type: 'integer', minimum: 1, maximum: 10, default: 1 },
        size: {
          anyOf: [
            { const: '1k', type: 'string' },
            { const: '2k', type: 'string' },
          ],
        },
        speed: { anyOf: [{ type: 'number', minimum: 0.25 }, { type: 'null' }] },
        model: { type: 'string' },
      },
      required: ['n'],
    });
    expect(n).toMatchObject({ kind: 'integer', isRequired: true, standard: 1 });
    expect(n && takenBy(n)).toBe('1 to 10');
    expect(size && takenBy(size)).toBe('1k or 2k');
    expect(speed && takenBy(speed)).toBe('a number from 0.25');
  });
});
