/**
 * P17 for generations, over every model, protocol, operation and parameter value of the built-in
 * catalogue. Nothing moves a price that does not reach the upstream, and no report of an upstream makes
 * a charge that is larger than the hold.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { GenerationModel } from '../../src/catalogue/catalogue.ts';
import {
  estimateGeneration,
  followsSource,
  priceGeneration,
  resolutionOf,
} from '../../src/catalogue/generation-price.ts';
import type { GenerationInput } from '../../src/catalogue/inputs.ts';
import type { GenerationProtocolName } from '../../src/protocols/names.ts';
import { type PropertySchema, valuesOf } from '../full/support/contract-values.ts';
import { generationModel, refusal } from '../support/contracts.ts';
import {
  acceptOrRefuse,
  bodiesOf,
  GENERATION_MODELS,
  MODEL_PROTOCOLS,
} from '../support/generation-bodies.ts';
import { type OutgoingRecorder, startOutgoingRecorder } from '../support/outgoing.ts';
import { fc } from '../support/property.ts';

const prompt = 'a lighthouse';
const PICTURE = 'data:image/png;base64,iVBORw0KGgo=';
const FILM_URL = 'https://example.com/a.mp4';
const FILM = 'data:video/mp4;base64,AAAA';
const PICTURE_URL = 'https://example.com/a.png';

/** Values whose schema is a pattern, and texts of another length. */
const MORE_VALUES: Readonly<Record<string, readonly unknown[]>> = {
  size: ['auto', '1024x1024', '1024x1536', '1536x1024', '1920x1088', '3840x2160', '256x256'],
  aspect_ratio: ['1:1', '16:9', '9:16', '4:3', '21:9'],
  prompt: ['a lighthouse in a storm at night'],
  image: [
    [PICTURE, PICTURE],
    [PICTURE, PICTURE, PICTURE],
  ],
  reference_images: [
    [PICTURE, PICTURE],
    [PICTURE_URL, PICTURE_URL],
  ],
};

interface Change {
  readonly name: string;
  readonly value: unknown;
}

function changesOf({ contract }: GenerationModel): Change[] {
  return Object.entries(contract.schema.properties).flatMap(([name, schema]) =>
    [...valuesOf(schema as PropertySchema).inside, ...(MORE_VALUES[name] ?? [])].map((value) => ({
      name,
      value,
    })),
  );
}

/** The amounts that depend on a request, nano-USD: its hold, and its charge without a report. */
const amountsOf = (model: GenerationModel, input: GenerationInput) => [
  estimateGeneration(model, input),
  priceGeneration(model, input, {}, 1),
];

describe('P17: nothing moves the price of a generation that does not reach the upstream', () => {
  let recorder: OutgoingRecorder;
  beforeAll(() => {
    recorder = startOutgoingRecorder();
  });
  afterAll(() => recorder.stop());

  test.each(MODEL_PROTOCOLS)('%s over %s', async (id, protocol, model) => {
    const silent: string[] = [];
    let moved = 0;
    for (const body of bodiesOf(model)) {
      const input = acceptOrRefuse(model.contract, body) as GenerationInput;
      const before = await recorder.submit(protocol, id, input);
      if (before.refusal !== undefined) continue;
      for (const { name, value } of changesOf(model)) {
        const changed = acceptOrRefuse(model.contract, { ...body, [name]: value });
        if (!changed || Bun.deepEquals(changed, input)) continue;
        if (Bun.deepEquals(amountsOf(model, changed), amountsOf(model, input))) continue;
        moved += 1;
        const after = await recorder.submit(protocol, id, changed);
        // Without a request there is no charge.
        if (after.refusal !== undefined) continue;
        if (!Bun.deepEquals(after.requests, before.requests)) continue;
        silent.push(`${JSON.stringify(body)} + ${name}: ${JSON.stringify(value)}`.slice(0, 300));
      }
    }
    expect({ id, protocol, silent }).toEqual({ id, protocol, silent: [] });
    if (['second', 'token'].includes(model.price.unit) && model.offers.durations?.[1]) {
      expect(moved).toBeGreaterThan(0);
    }
  });
});

describe('P17: no report of an upstream makes a charge that is larger than the hold', () => {
  const amount = fc.oneof(
    fc.constantFrom(0, 1, 2, 8, 60, 3_600, 1e6),
    fc.double({ min: 0, max: 100, noNaN: true }),
  );
  const resolution = fc.constantFrom('480p', '720p', '1080p', '4k', undefined);

  test.each(GENERATION_MODELS.map((model) => [model.id, model] as const))('%s', (_, model) => {
    const inputs = bodiesOf(model).flatMap((body) => [
      body,
      ...changesOf(model).map(({ name, value }) => ({ ...body, [name]: value })),
    ]);
    fc.assert(
      fc.property(
        fc.constantFrom(...inputs.flatMap((body) => acceptOrRefuse(model.contract, body) ?? [])),
        fc.record({ images: amount, seconds: amount, songs: amount }, { requiredKeys: [] }),
        fc.integer({ min: 1, max: 20 }),
        resolution,
        (input, usage, outputs, measured) => {
          const hold = estimateGeneration(model, input);
          // A source video may be longer than the contract allows. Its overrun has tests of its own.
          const longest = model.offers.max_source_seconds ?? Number.POSITIVE_INFINITY;
          if (followsSource(input) && (usage.seconds ?? 0) > longest) return;
          const seen = measured === undefined ? {} : { resolution: measured };
          expect(priceGeneration(model, input, usage, outputs, seen)).toBeLessThanOrEqual(hold);
          // Also if the provider reports nothing.
          expect(priceGeneration(model, input, {}, outputs, seen)).toBeLessThanOrEqual(hold);
        },
      ),
      { numRuns: 300 },
    );
  });
});

describe('P17: a default that a price assumes is the same as its value in the request', () => {
  let recorder: OutgoingRecorder;
  beforeAll(() => {
    recorder = startOutgoingRecorder();
  });
  afterAll(() => recorder.stop());

  test.each(MODEL_PROTOCOLS)('%s over %s', async (id, protocol, model) => {
    for (const body of bodiesOf(model)) {
      const input = acceptOrRefuse(model.contract, body) as GenerationInput;
      for (const [name, schema] of Object.entries(model.contract.schema.properties)) {
        const value: unknown = (schema as { default?: unknown }).default;
        if (value === undefined || name in body) continue;
        const explicit = acceptOrRefuse(model.contract, { ...body, [name]: value });
        if (!explicit) continue;
        expect({ name, amounts: amountsOf(model, explicit) }).toEqual({
          name,
          amounts: amountsOf(model, input),
        });
        expect(await recorder.submit(protocol, id, explicit)).toEqual(
          await recorder.submit(protocol, id, input),
        );
      }
    }
  });
});

/**
 * Requests as the providers document them: @fal-ai/client, @runwayml/sdk and @ai-sdk/xai (types), and
 * the input schemas on replicate.com.
 */
describe('the provider gets its own name of what moves the price', () => {
  let recorder: OutgoingRecorder;
  beforeAll(() => {
    recorder = startOutgoingRecorder();
  });
  afterAll(() => recorder.stop());

  test.each<
    [protocol: GenerationProtocolName, model: string, body: object, path: string, part: object]
  >([
    ['fal', 'kling-3.0', { resolution: '1080p' }, '/fal-ai/kling-video/v3/pro/text-to-video', {}],
    [
      ...(['fal', 'kling-3.0', {}, '/fal-ai/kling-video/v3/standard/text-to-video'] as const),
      { duration: '5', generate_audio: false },
    ],
    ['fal', 'veo-3.1', { duration: 4 }, '/fal-ai/veo3.1', { duration: '4s', resolution: '720p' }],
    [
      ...(['fal', 'topaz-video-upscale', { video_url: FILM_URL, fps: 60 }] as const),
      ...(['/fal-ai/topaz/upscale/video', { video_url: FILM_URL, target_fps: 60 }] as const),
    ],
    [
      ...(['fal', 'gpt-image-1', { quality: 'low', size: '1024x1536', n: 2 }] as const),
      '/fal-ai/gpt-image-1/text-to-image',
      { quality: 'low', image_size: '1024x1536', num_images: 2 },
    ],
    [
      ...(['fal', 'gemini-3-pro-image-preview', { resolution: '4k' }] as const),
      ...(['/fal-ai/nano-banana-pro', { resolution: '4K' }] as const),
    ],
    [
      ...(['replicate', 'kling-3.0', { resolution: '1080p' }] as const),
      ...(['/models/kwaivgi/kling-v3-video/predictions', { mode: 'pro', duration: 5 }] as const),
    ],
    [
      ...(['replicate', 'gpt-image-1', { quality: 'low', size: '1536x1024', n: 2 }] as const),
      '/models/openai/gpt-image-1/predictions',
      { quality: 'low', aspect_ratio: '3:2', number_of_images: 2 },
    ],
    [
      ...(['replicate', 'topaz-video-upscale', { video_url: FILM_URL, fps: 60 }] as const),
      ...(['/models/topazlabs/video-upscale/predictions', { target_fps: 60 }] as const),
    ],
    [
      ...(['runway', 'veo-3.1', { resolution: '1080p', aspect_ratio: '9:16' }] as const),
      ...(['/v1/text_to_video', { ratio: '1080:1920', duration: 8 }] as const),
    ],
    [
      ...(['runway', 'seedance-2.0', { resolution: '480p' }] as const),
      ...(['/v1/text_to_video', { ratio: '864:496', duration: 5 }] as const),
    ],
    [
      ...(['runway', 'seedance-2.0', { video_url: FILM, duration: 7 }] as const),
      ...(['/v1/video_to_video', { promptVideo: FILM, duration: 7, ratio: '1280:720' }] as const),
    ],
    [
      ...(['xai', 'grok-imagine-video', { video_url: FILM }] as const),
      ...(['/videos/edits', { video: { url: FILM } }] as const),
    ],
  ])('%s, %s %j', async (protocol, id, body, path, part) => {
    const input = generationModel(id).contract.accept({ prompt, ...body });
    const [request = ''] = (await recorder.submit(protocol, id, input)).requests;
    const [method, target, ...text] = request.split(' ');
    const sent = JSON.parse(text.join(' ')) as { input?: object };
    expect({ method, target }).toEqual({ method: 'POST', target: path });
    expect(protocol === 'replicate' ? sent.input : sent).toMatchObject(part);
  });

  test('a resolution that the provider does not offer is not sent in another one', async () => {
    const input = generationModel('veo-3.1').contract.accept({ prompt, resolution: '4k' });
    const { refusal, requests } = await recorder.submit('runway', 'veo-3.1', input);
    expect({ refusal, requests }).toEqual({
      refusal: expect.stringContaining('16:9 in 4k is not offered'),
      requests: [],
    });
  });

  test.each(['duration', 'resolution', 'aspect_ratio', 'image_url'])(
    'grok-imagine-video refuses %s with a source video',
    (name) => {
      const values = {
        duration: 5,
        resolution: '480p',
        aspect_ratio: '1:1',
        image_url: PICTURE_URL,
      };
      const body = { video_url: FILM_URL, [name]: values[name as keyof typeof values] };
      const { id, details } = refusal('grok-imagine-video', body);
      expect({ id, param: details.param }).toEqual({ id: 'invalid_request', param: name });
    },
  );

  test('topaz-video-upscale refuses resolution, because fal has no such parameter', () => {
    const { details } = refusal('topaz-video-upscale', { video_url: FILM_URL, resolution: '4k' });
    expect(details.param).toBe('resolution');
  });
});

describe('the price of a video that follows its source', () => {
  const topaz = generationModel('topaz-video-upscale');
  const input = topaz.contract.accept({ video_url: FILM_URL });
  const smooth = topaz.contract.accept({ video_url: FILM_URL, fps: 60 });
  const USD = 1e9;

  test('is held for the longest source in the most expensive resolution', () => {
    expect(estimateGeneration(topaz, input)).toBe(60 * 0.08 * USD);
    expect(estimateGeneration(topaz, smooth)).toBe(60 * 0.16 * USD);
  });

  test.each([
    [5, '480p', 0.05],
    [5, '720p', 0.05],
    [5, '1080p', 0.1],
    [5, '4k', 0.4],
    [7.5, '1080p', 0.15],
    [90, '1080p', 1.8],
  ])('%d s of %s cost %d USD', (seconds, resolution, usd) => {
    const measured = { seconds, resolution };
    expect(priceGeneration(topaz, input, {}, 1, measured)).toBeCloseTo(usd * USD, 0);
    expect(priceGeneration(topaz, input, { seconds }, 1, { resolution })).toBeCloseTo(usd * USD, 0);
    expect(priceGeneration(topaz, smooth, {}, 1, measured)).toBeCloseTo(2 * usd * USD, 0);
  });

  test('is the hold if nothing is known of the result', () => {
    expect(priceGeneration(topaz, input, {}, 1)).toBe(estimateGeneration(topaz, input));
  });

  test.each([
    [640, 360, '480p'],
    [1_280, 720, '720p'],
    [720, 1_280, '720p'],
    [1_920, 1_080, '1080p'],
    [2_560, 1_440, '4k'],
  ])('%d x %d pixels are %s', (width, height, resolution) => {
    expect(resolutionOf(width, height)).toBe(resolution);
  });
});
