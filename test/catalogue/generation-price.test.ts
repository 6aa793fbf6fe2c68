import { describe, expect, test } from 'bun:test';
import { estimateGeneration, priceGeneration } from '../../src/catalogue/generation-price.ts';
import { maxImageTokens } from '../../src/catalogue/image-tokens.ts';
import type { GenerationUsage } from '../../src/protocols/generation-usage.ts';
import { accept, declaredModel, generationModel } from '../support/contracts.ts';
import { fc } from '../support/property.ts';

const USD = 1_000_000_000;

const estimate = (id: string, body: object) =>
  estimateGeneration(generationModel(id), accept(id, body)) / USD;
const price = (id: string, body: object, usage: GenerationUsage, outputs: number) =>
  priceGeneration(generationModel(id), accept(id, body), usage, outputs) / USD;

const video_url = 'https://example.com/a.mp4';
const image_url = 'https://example.com/a.png';

describe('the estimate of a generation', () => {
  test.each<[id: string, body: object, usd: number]>([
    ['dall-e-3', {}, 0.04],
    ['dall-e-3', { size: '1792x1024' }, 0.08],
    ['dall-e-3', { quality: 'hd' }, 0.08],
    ['dall-e-3', { quality: 'hd', size: '1024x1792' }, 0.12],
    ['gemini-3-pro-image-preview', { resolution: '4k' }, 0.24],
    ['gemini-3-pro-image-preview', { n: 3 }, 0.402],
    ['grok-imagine-image-quality', { resolution: '2k' }, 0.07],
    ['flux-2-pro', {}, 0.03],
    ['flux-2-pro', { size: '1920x1088' }, 0.045],
    ['flux-2-pro', { size: '1440x1472' }, 0.06],
    ['veo-3.1-fast', { resolution: '1080p', duration: 4 }, 0.48],
    ['veo-3.1', {}, 3.2],
    ['veo-3.1', { resolution: '4k', duration: 4 }, 2.4],
    ['kling-3.0', {}, 0.42],
    ['kling-3.0', { output_audio: true, resolution: '1080p', duration: 10 }, 1.68],
    ['kling-3.0-motion-control', { video_url, image_url }, 3.78],
    ['seedance-2.0', { resolution: '480p', duration: 10 }, 1.345],
    ['topaz-video-upscale', { video_url }, 4.8],
    ['topaz-video-upscale', { video_url, fps: 60 }, 9.6],
    ['grok-imagine-video', { video_url }, 0.63],
    ['grok-imagine-video', { duration: 9, resolution: '480p' }, 0.45],
    ['suno_music', {}, 0.06],
    ['suno_music', { action: 'LYRICS' }, 0.002],
    ['suno_lyrics', {}, 0.002],
  ])('%s %j: %d USD', (id, body, usd) => {
    expect(estimate(id, body)).toBeCloseTo(usd, 9);
  });

  test.each([
    ['low', '1024x1024', 272],
    ['low', '1024x1536', 408],
    ['low', '1536x1024', 400],
    ['medium', '1024x1024', 1_056],
    ['medium', '1024x1536', 1_584],
    ['medium', '1536x1024', 1_568],
    ['high', '1024x1024', 4_160],
    ['high', '1024x1536', 6_240],
    ['high', '1536x1024', 6_208],
  ])('tokens of an image: %s %s, as the provider lists them', (quality, size, tokens) => {
    expect(maxImageTokens({ quality, size })).toBe(tokens);
    expect(maxImageTokens({ quality: 'auto', size: 'auto' })).toBeGreaterThanOrEqual(tokens);
  });

  test('by tokens counts each byte of the prompt as a token, and the largest image of the request', () => {
    // 6,240 output tokens cost 40 USD per million, and 112 input tokens cost 5 USD per million. The
    // input is the 12 bytes of the prompt and 100 tokens of instructions.
    expect(estimate('gpt-image-1', {})).toBeCloseTo((6_240 * 40 + 112 * 5) / 1e6, 9);
    expect(estimate('gpt-image-1', { n: 2, quality: 'low', size: '1024x1024' })).toBeCloseTo(
      (2 * 272 * 40 + 112 * 5) / 1e6,
      9,
    );
    // Partial images are not requested, because Weir streams no images.
    const partial = { quality: 'low', size: '1024x1024', partial_images: 3 };
    expect(estimate('gpt-image-1', partial)).toBeCloseTo((272 * 40 + 112 * 5) / 1e6, 9);
  });
});

describe('the charge of a generation', () => {
  test.each<
    [what: string, id: string, body: object, GenerationUsage, outputs: number, usd: number]
  >([
    ['per image, by the number of results', 'dall-e-3', {}, {}, 1, 0.04],
    ['per image, by the provider’s count', 'ideogram-v3', { n: 4 }, { images: 3 }, 4, 0.18],
    ['per image, fewer than requested', 'ideogram-v3', { n: 4 }, {}, 2, 0.12],
    ['per second, by the provider’s count', 'veo-3.1', {}, { seconds: 6.5 }, 1, 2.6],
    ['per second, by the request', 'veo-3.1', { duration: 6 }, {}, 1, 2.4],
    ['a begun nano-USD, whole', 'veo-3.1', {}, { seconds: 1e-9 }, 1, 1e-9],
    ['per second of a source', 'topaz-video-upscale', { video_url }, { seconds: 12 }, 1, 0.96],
    ['no more seconds than requested', 'kling-3.0', { duration: 5 }, { seconds: 5.041 }, 1, 0.42],
    ['no more images than requested', 'ideogram-v3', { n: 2 }, { images: 4 }, 4, 0.12],
    ['no more songs than requested', 'suno_music', {}, { songs: 3 }, 3, 0.06],
    ['per song', 'suno_music', {}, { songs: 1 }, 2, 0.03],
    ['per song, by the number of results', 'suno_music', {}, {}, 2, 0.06],
    ['without a result it is free', 'veo-3.1', {}, { seconds: 8 }, 0, 0],
    ['an explicit zero is not a missing number', 'veo-3.1', {}, { seconds: 0 }, 1, 0],
    [
      'by tokens',
      'gpt-image-1',
      {},
      { tokens: { text_input: 10, cached_input: 20, image_input: 0, output: 1_056 } },
      1,
      (10 * 5 + 20 * 1.25 + 1_056 * 40) / 1e6,
    ],
    [
      'by tokens, with image input',
      'gpt-image-2',
      {},
      { tokens: { text_input: 0, cached_input: 0, image_input: 100, output: 200 } },
      1,
      (100 * 8 + 200 * 30) / 1e6,
    ],
  ])('%s: %s %j', (_what, id, body, usage, outputs, usd) => {
    expect(price(id, body, usage, outputs)).toBeCloseTo(usd, 9);
  });

  test('without a token count the charge is the estimate', () => {
    expect(price('gpt-image-1', {}, {}, 1)).toBe(estimate('gpt-image-1', {}));
  });

  test('P2: the charge never exceeds the estimate', () => {
    const seconds = fc.constantFrom(4, 6, 8);
    const resolution = fc.constantFrom('720p', '1080p', '4k');
    fc.assert(
      fc.property(seconds, resolution, fc.boolean(), (duration, quality, output_audio) => {
        const body = { duration, resolution: quality, output_audio };
        expect(price('veo-3.1', body, {}, 1)).toBeLessThanOrEqual(estimate('veo-3.1', body));
      }),
    );
    const images = fc.integer({ min: 1, max: 8 });
    fc.assert(
      fc.property(images, images, (n, made) => {
        const outputs = Math.min(n, made);
        expect(price('ideogram-v3', { n }, {}, outputs)).toBeLessThanOrEqual(
          estimate('ideogram-v3', { n }),
        );
      }),
    );
  });

  test('P1: every price is a whole number of nano-USD', () => {
    const model = declaredModel({
      category: 'video',
      family: 'veo-video',
      price: { usd_per_second: 0.000_000_333_3 },
    });
    fc.assert(
      fc.property(fc.double({ min: 0, max: 3_600, noNaN: true }), (seconds) => {
        const nano = priceGeneration(model, accept(model, {}), { seconds }, 1);
        expect(Number.isSafeInteger(nano)).toBe(true);
        expect(nano).toBeGreaterThanOrEqual(0);
      }),
    );
  });
});

describe('an invalid price', () => {
  test.each([[{}], [{ usd_per_image: 1, usd_per_request: 1 }], [{ output_usd_per_mtok: 1 }]])(
    '%j is refused',
    (declared) => {
      const declare = () =>
        declaredModel({ category: 'image', family: 'flux-image', price: declared });
      expect(declare).toThrow(/price/);
    },
  );

  test('an amount that is too large to be exact is refused', () => {
    const model = declaredModel({
      category: 'video',
      family: 'upscaler-video',
      price: { usd_per_second: 1_000 },
    });
    const input = accept(model, { video_url });
    expect(() => priceGeneration(model, input, { seconds: 1e9 }, 1)).toThrow(RangeError);
  });
});
