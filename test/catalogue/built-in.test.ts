import { describe, expect, test } from 'bun:test';
import { calcPrice } from '@pydantic/genai-prices';
import { builtInModels } from '../../src/catalogue/built-in.ts';
import { tokenPrice } from '../../src/catalogue/price.ts';

const models = builtInModels();
/** When the prices were compared; a later price change of a vendor shows when the package is updated. */
const COMPARED_AT = new Date('2026-11-20T00:00:00Z');

/** A price of the package, which may be tiered: the lowest tier is that of the context window. */
function flat(price: unknown): number | undefined {
  if (typeof price === 'number' || price === undefined) return price;
  return (price as { base: number }).base;
}

describe('the built-in catalogue', () => {
  test('has models of both vendors', () => {
    expect(new Set(models.map(({ owned_by }) => owned_by))).toEqual(
      new Set(['openai', 'anthropic']),
    );
  });

  test('names each model once, aliases included', () => {
    const names = models.flatMap(({ id, aliases = [] }) => [id, ...aliases]);
    expect(names).toEqual([...new Set(names)]);
  });

  test.each(models)('$id is complete', (model) => {
    expect(model.created).toBeGreaterThan(1_600_000_000);
    expect(model.context_window).toBeGreaterThan(0);
    expect(model.max_output_tokens).toBeLessThanOrEqual(model.context_window ?? 0);
    expect(model.pricing_provenance).toBeDefined();
  });

  test.each(models)('$id costs what the independent price list says', (model) => {
    const found = calcPrice({ input_tokens: 1 }, model.id, {
      providerId: model.owned_by,
      timestamp: COMPARED_AT,
    });
    expect(found?.model.id).toBe(model.id);
    const list = found?.model_price ?? {};
    const input = flat(list['input_mtok']) ?? Number.NaN;
    expect(tokenPrice(model.price)).toEqual(
      tokenPrice({
        input_usd_per_mtok: input,
        cached_input_usd_per_mtok: flat(list['cache_read_mtok']) ?? input,
        cache_write_usd_per_mtok: flat(list['cache_write_mtok']) ?? input,
        output_usd_per_mtok: flat(list['output_mtok']) ?? Number.NaN,
      }),
    );
  });

  test('writing to a cache is priced apart only where the vendor does', () => {
    for (const { family, price } of models) {
      expect(price.cache_write_usd_per_mtok !== undefined).toBe(family === 'anthropic-messages');
    }
  });
});
