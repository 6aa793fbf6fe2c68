import { describe, expect, test } from 'bun:test';
import { calcPrice } from '@pydantic/genai-prices';
import { BUILT_IN_DEFAULTS, builtInModels } from '../../src/catalogue/built-in.ts';
import { Catalogue } from '../../src/catalogue/catalogue.ts';
import { FAMILIES, isDirectFamily, isGenerationFamily } from '../../src/catalogue/families.ts';
import { tokenPrice } from '../../src/catalogue/price.ts';

const all = builtInModels();
const models = all.filter(({ category }) => category === 'chat');
const generators = all.filter(({ family }) => isGenerationFamily(family));
const direct = all.filter(({ family }) => isDirectFamily(family));
/**
 * The date of the compared prices. If a provider changes a price later, the test shows it when the
 * package is updated.
 */
const COMPARED_AT = new Date('2026-11-20T00:00:00Z');

/** The base price of the package. Tiers of the package apply to long prompts only. */
function basePrice(price: unknown): number | undefined {
  if (typeof price === 'number' || price === undefined) return price;
  return (price as { base: number }).base;
}

/** The price for long prompts, and the number of tokens from which it applies. */
function longPrice(price: unknown): { start: number; price: number } | undefined {
  if (typeof price !== 'object' || price === null) return undefined;
  return (price as { tiers: { start: number; price: number }[] }).tiers[0];
}

/** USD of a second of fluent speech: ten tokens of audio, and the tokens of 2.5 words. */
function usdOfSpeech(list: Readonly<Record<string, number | undefined>>): number {
  const [audio = Number.NaN, output = Number.NaN] = [list['input_audio_mtok'], list['output_mtok']];
  return (10 * audio + 2.5 * (4 / 3) * output) / 1e6;
}

describe('the models of direct calls', () => {
  // The price list has no prices per character or search. For such models only the source is
  // checked.
  const listed = direct.filter(
    ({ price }) => price.usd_per_mchar === undefined && price.usd_per_request === undefined,
  );
  test.each(listed)('$id has the price of the independent price list', (model) => {
    const list = calcPrice({ input_tokens: 1 }, model.id, {
      providerId: model.owned_by,
      timestamp: COMPARED_AT,
    })?.model_price as Record<string, number | undefined>;
    const { input_usd_per_mtok, usd_per_second } = model.price;
    if (input_usd_per_mtok !== undefined)
      expect(input_usd_per_mtok).toBe(list['input_mtok'] as number);
    else if (model.id.endsWith('-transcribe'))
      expect({ id: model.id, ratio: (usd_per_second ?? 0) / usdOfSpeech(list) }).toEqual({
        ...{ id: model.id, ratio: expect.closeTo(1.07, 1) },
      });
    else
      expect((usd_per_second ?? 0) * 3_600).toBeCloseTo(
        (list['input_audio_hours'] ?? list['audio_hours']) as number,
        9,
      );
  });

  test.each(direct)('$id has the source of its price', ({ pricing_provenance }) => {
    expect(pricing_provenance?.source).toBeString();
  });
});

describe('the chat models of the catalogue', () => {
  test('come from three providers', () => {
    expect(new Set(models.map(({ owned_by }) => owned_by))).toEqual(
      new Set(['openai', 'anthropic', 'google']),
    );
  });

  test('have unique ids and aliases', () => {
    const names = all.flatMap(({ id, aliases = [] }) => [id, ...aliases]);
    expect(names).toEqual([...new Set(names)]);
  });

  test.each(models)('$id is complete', (model) => {
    expect(model.created).toBeGreaterThan(1_600_000_000);
    expect(model.context_window).toBeGreaterThan(0);
    expect(model.max_output_tokens).toBeLessThanOrEqual(model.context_window ?? 0);
    expect(model.pricing_provenance).toBeDefined();
  });

  test.each(models)('$id has the price of the independent price list', (model) => {
    const found = calcPrice({ input_tokens: 1 }, model.id, {
      providerId: model.owned_by,
      timestamp: COMPARED_AT,
    });
    expect(found?.model.id).toBe(model.id);
    const list = found?.model_price ?? {};
    const input = basePrice(list['input_mtok']) ?? Number.NaN;
    expect(tokenPrice(model.price)).toEqual(
      tokenPrice({
        input_usd_per_mtok: input,
        cached_input_usd_per_mtok: basePrice(list['cache_read_mtok']) ?? input,
        cache_write_usd_per_mtok: basePrice(list['cache_write_mtok']) ?? input,
        ...(list['cache_write_1h_mtok'] === undefined
          ? {}
          : { cache_write_1h_usd_per_mtok: basePrice(list['cache_write_1h_mtok']) as number }),
        ...(list['input_audio_mtok'] === undefined
          ? {}
          : { audio_input_usd_per_mtok: basePrice(list['input_audio_mtok']) as number }),
        ...(list['cache_audio_read_mtok'] === undefined
          ? {}
          : {
              cached_audio_input_usd_per_mtok: basePrice(list['cache_audio_read_mtok']) as number,
            }),
        ...(list['web_searches_kcount'] === undefined
          ? {}
          : { usd_per_web_search: Number(list['web_searches_kcount']) / 1_000 }),
        output_usd_per_mtok: basePrice(list['output_mtok']) ?? Number.NaN,
        ...longContext(list),
      }),
    );
  });

  function longContext(list: Record<string, unknown>) {
    const [input, cached, write, hour, output] = [
      ...[list['input_mtok'], list['cache_read_mtok'], list['cache_write_mtok']],
      ...[list['cache_write_1h_mtok'], list['output_mtok']],
    ].map(longPrice);
    if (!input || !output) return {};
    return {
      long_context: {
        above_input_tokens: input.start,
        input_usd_per_mtok: input.price,
        ...(cached ? { cached_input_usd_per_mtok: cached.price } : {}),
        ...(write ? { cache_write_usd_per_mtok: write.price } : {}),
        ...(hour ? { cache_write_1h_usd_per_mtok: hour.price } : {}),
        output_usd_per_mtok: output.price,
      },
    };
  }

  test('each lists its capabilities', () => {
    for (const { capabilities } of models) expect(capabilities).toContain('vision');
  });
});

describe('the models of images, videos and music', () => {
  const catalogue = new Catalogue(all);

  test('cover every family', () => {
    const families = new Set(all.map(({ family }) => family));
    expect(FAMILIES.filter((family) => !families.has(family))).toEqual([]);
  });

  test.each(generators)('$id has a date, a price and the source of the price', (model) => {
    expect(model.created).toBeGreaterThan(1_600_000_000);
    expect(model.pricing_provenance?.source).toBeString();
    expect(model.pricing_provenance?.date).toMatch(/^20\d\d-\d\d-\d\d$/);
    const found = catalogue.find(model.id);
    if (found?.kind !== 'generation') throw new Error('not a generation model');
    expect(found.scene).toBe(model.category as typeof found.scene);
    if (found.price.unit !== 'token') expect(found.price.nano_usd).toBeGreaterThan(0);
  });

  test.each(generators)(
    'the contract of $id accepts the parameters of every price tier',
    (model) => {
      const { price } = model;
      const found = catalogue.find(model.id);
      if (found?.kind !== 'generation') throw new Error('not a generation model');
      for (const { when } of price.tiers ?? []) {
        for (const [name, value] of Object.entries(when)) {
          const property = found.contract.schema.properties[name];
          // Such a resolution is measured in the result.
          if (name === 'resolution' && !property && found.offers.max_source_seconds) continue;
          const schema = JSON.stringify(property);
          if (typeof value === 'string') expect(schema).toContain(`"${value}"`);
          else if (typeof value === 'number') expect(schema).toContain('"integer"');
          else expect(schema).toContain('boolean');
        }
      }
    },
  );

  test('have a default model for each scene', () => {
    for (const [scene, id] of Object.entries(BUILT_IN_DEFAULTS)) {
      expect(catalogue.find(id)).toMatchObject({ id, scene });
    }
  });

  test('no model offers audio-to-video or video-extension (spec: Video generation)', () => {
    const offered = catalogue
      .all()
      .flatMap((model) => (model.kind === 'generation' ? model.contract.operations : []));
    expect(new Set(offered)).toEqual(
      new Set([
        'text-to-video',
        'image-to-video',
        'start-end-to-video',
        'reference-to-video',
        'video-to-video',
        'motion-control',
      ]),
    );
  });
});
