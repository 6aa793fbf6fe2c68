/** The parts of a charge: their sum, rounded up once, is the charge, for every model and any usage. */
import { describe, expect, test } from 'bun:test';
import { builtInModels } from '../../src/catalogue/built-in.ts';
import { Catalogue, type ChatModel, type DirectModel } from '../../src/catalogue/catalogue.ts';
import { type ChargePart, chargeParts } from '../../src/catalogue/charge-parts.ts';
import { directCharge, directParts } from '../../src/catalogue/direct-price.ts';
import { generationParts, priceGeneration } from '../../src/catalogue/generation-price.ts';
import { chargeFor } from '../../src/catalogue/price.ts';
import { partsAt, soldAt } from '../../src/catalogue/recorded-price.ts';
import { acceptOrRefuse, bodiesOf, GENERATION_MODELS } from '../support/generation-bodies.ts';
import { fc } from '../support/property.ts';

const models = new Catalogue(builtInModels()).all();
const chat = models.filter((model): model is ChatModel => model.kind === 'chat');
const direct = models.filter((model): model is DirectModel => model.kind === 'direct');
const count = fc.oneof(fc.constant(0), fc.nat({ max: 50 }), fc.nat({ max: 2_000_000 }));

/** The sum of parts with whole quantities, rounded up to nano-USD. */
function roundedUp(parts: readonly ChargePart[]): number {
  const pico = parts.reduce((sum, { quantity, pico_usd }) => {
    return sum + BigInt(quantity) * BigInt(pico_usd);
  }, 0n);
  return Number((pico + 999n) / 1_000n);
}

const usage = fc
  .record({
    ...{ input_tokens: count, cached_input_tokens: count, cache_write_tokens: count },
    ...{ output_tokens: count, web_searches: fc.nat({ max: 5 }) },
    ...{ audio: fc.double({ min: 0, max: 1, noNaN: true }), long: fc.boolean() },
  })
  .map(({ audio, long, ...tokens }) => ({
    ...tokens,
    audio_input_tokens: Math.floor(tokens.input_tokens * audio),
    cached_audio_tokens: Math.floor(tokens.cached_input_tokens * audio),
    cache_write_1h_tokens: long ? tokens.cache_write_tokens : 0,
  }));

describe('chat', () => {
  test.each(chat.map((model) => [model.id, model] as const))('%s', (_, model) => {
    fc.assert(
      fc.property(usage, (used) => {
        const parts = chargeParts(used, model.price);
        expect(roundedUp(parts)).toBe(chargeFor(used, model.price));
        expect(parts.every(({ quantity }) => quantity > 0)).toBe(true);
        // What a usage line keeps is enough.
        const { audio_input_tokens, cached_audio_tokens, ...rest } = used;
        const { cache_write_1h_tokens, web_searches, ...tokens } = rest;
        const line = {
          ...{ ...tokens, units: {}, audio_tokens: audio_input_tokens + cached_audio_tokens },
          counts: { cached_audio_tokens, cache_write_1h_tokens, web_searches },
        };
        expect(partsAt(soldAt(model), line)).toEqual(parts);
      }),
      { numRuns: 200 },
    );
  });

  test('a long prompt says from where its price applies', () => {
    const model = chat.find(({ price }) => price.long);
    const above = model?.price.long?.above ?? 0;
    if (!model) throw new Error('no model has a price of long prompts');
    const parts = (input_tokens: number) =>
      chargeParts(
        { input_tokens, cached_input_tokens: 0, cache_write_tokens: 0, output_tokens: 1 },
        model.price,
      );
    expect(parts(above).map(({ when }) => when)).toEqual([undefined, undefined]);
    const when = { input_tokens_above: above };
    expect(parts(above + 1).map((part) => part.when)).toEqual([when, when]);
  });
});

describe('direct calls', () => {
  test.each(direct.map((model) => [model.id, model] as const))('%s', (_, model) => {
    const used = fc.record({
      ...{ input_tokens: count, output_tokens: count, characters: count, requests: count },
      seconds: fc.double({ min: 0, max: 10_000, noNaN: true }),
    });
    fc.assert(
      fc.property(used, ({ input_tokens, output_tokens, ...units }) => {
        const whole = { input_tokens, output_tokens, ...units };
        const parts = directParts(model.price, whole);
        expect(roundedUp(parts)).toBe(directCharge(model.price, whole));
        const none = { cached_input_tokens: 0, cache_write_tokens: 0, audio_tokens: 0 };
        const line = { input_tokens, output_tokens, units, ...none, counts: {} };
        expect(partsAt(soldAt(model), line)).toEqual(parts);
      }),
      { numRuns: 100 },
    );
  });
});

describe('generations', () => {
  const made = fc.record(
    {
      images: fc.nat({ max: 10 }),
      seconds: fc.integer({ min: 1, max: 90_000 }).map((ms) => ms / 1_000),
      songs: fc.nat({ max: 4 }),
      tokens: fc.record({
        ...{ text_input: count, cached_input: count, image_input: count, output: count },
      }),
    },
    { requiredKeys: [] },
  );

  test.each(GENERATION_MODELS.map((model) => [model.id, model] as const))('%s', (_, model) => {
    const inputs = bodiesOf(model).flatMap((body) => acceptOrRefuse(model.contract, body) ?? []);
    fc.assert(
      fc.property(fc.constantFrom(...inputs), made, fc.nat({ max: 4 }), (input, used, outputs) => {
        const parts = generationParts(model, input, used, outputs, { resolution: '1080p' });
        const charge = priceGeneration(model, input, used, outputs, { resolution: '1080p' });
        const sum = parts.reduce((all, { quantity, pico_usd }) => {
          return all + (quantity * pico_usd) / 1_000;
        }, 0);
        expect(charge - sum).toBeGreaterThan(-1e-3);
        expect(charge - sum).toBeLessThan(1.001);
      }),
      { numRuns: 100 },
    );
  });
});
