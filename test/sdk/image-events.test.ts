/**
 * Streamed images (openai 7.55.0: `images.generate` and `images.edit` with `stream: true`; its types
 * `ImageGenStreamEvent` and `ImageEditStreamEvent`). The package sends the calls and decodes the
 * events, of the simulator and of Weir.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import OpenAI, { APIError, toFile } from 'openai';
import type { ImageEditStreamEvent, ImageGenStreamEvent } from 'openai/resources/images';
import { failureOf } from '../support/failure-of.ts';
import { until } from '../support/until.ts';
import { type RunningWeir, startWeir } from '../support/weir.ts';

setDefaultTimeout(60_000);

let weir: RunningWeir;
beforeAll(async () => {
  weir = await startWeir({ shared_database: true });
});
afterAll(() => weir.stop());

const openai = (headers: Record<string, string> = {}) =>
  new OpenAI({
    ...{ baseURL: `${weir.base_url}/v1`, apiKey: weir.api_key, maxRetries: 0 },
    defaultHeaders: headers,
  });
const manage = async <Answer>(path: string): Promise<Answer> => {
  const headers = { authorization: `Bearer ${weir.management_token}` };
  const response = await fetch(`${weir.base_url}/v1/management/${path}`, { headers });
  return (await response.json()) as Answer;
};
/** What is charged and what is reserved, in nano-USD. */
async function money(): Promise<{ used: number; held: number }> {
  const { used, held } = await manage<{ used: number; held: number }>('balance');
  return { used: Math.round(used * 1e9), held: Math.round(held * 1e9) };
}
const spent = async () => (await money()).used;

type ImageEvent = ImageGenStreamEvent | ImageEditStreamEvent;

async function all(stream: AsyncIterable<ImageEvent>): Promise<ImageEvent[]> {
  const events: ImageEvent[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

const isPng = ({ b64_json }: ImageEvent) =>
  Buffer.from(b64_json, 'base64').toString('latin1', 1, 4) === 'PNG';
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const REQUEST = { model: 'gpt-image-1', prompt: 'A lighthouse', size: '1024x1024' } as const;
/** USD per million tokens of gpt-image-1 (OpenAI price list): 5 for text, 10 for images, 40 for output. */
const chargeOf = (event: ImageEvent | undefined) => {
  if (!event || !('usage' in event)) return 0;
  const { input_tokens_details: input, output_tokens } = event.usage;
  return input.text_tokens * 5_000 + input.image_tokens * 10_000 + output_tokens * 40_000;
};

describe('images.generate with stream', () => {
  test.each([0, 1, 3])(
    'sends %d previews, and the image after the charge',
    async (partial_images) => {
      const before = await spent();
      const stream = await openai().images.generate({ ...REQUEST, stream: true, partial_images });
      const events: ImageEvent[] = [];
      let charged = 0;
      for await (const event of stream) {
        events.push(event);
        if (event.type === 'image_generation.completed') charged = (await spent()) - before;
      }
      const previews = Array.from({ length: partial_images }, (_, index) => index);
      expect(
        events.map((each) =>
          'partial_image_index' in each ? each.partial_image_index : each.type,
        ),
      ).toEqual([...previews, 'image_generation.completed']);
      expect(events.every(isPng)).toBe(true);
      for (const event of events) {
        expect(event).toMatchObject({ output_format: 'png', size: '1024x1024' });
        expect(event.created_at).toBeGreaterThan(1_700_000_000);
        expect(event).toMatchObject({
          background: expect.any(String),
          quality: expect.any(String),
        });
      }
      const last = events.at(-1);
      // A preview costs 100 tokens (OpenAI docs: Image generation, cost).
      expect(last).toMatchObject({ usage: { output_tokens: 1_056 + 100 * partial_images } });
      expect(charged).toBe(chargeOf(last));
      expect(charged).toBeGreaterThan(0);
    },
  );

  test('sends the first preview before the image is made', async () => {
    const prompt = 'A slow lighthouse [[sim task_ms=2000]]';
    const stream = await openai().images.generate({
      ...{ ...REQUEST, prompt, stream: true, partial_images: 3 },
    });
    const began = performance.now();
    for await (const event of stream) {
      if ('partial_image_index' in event) break;
    }
    expect(performance.now() - began).toBeLessThan(1_500);
  });

  test('completes and charges the image if the client leaves after a preview', async () => {
    await until('nothing runs', async () => (await money()).held === 0);
    const before = await spent();
    const prompt = 'A lighthouse that nobody awaits [[sim task_ms=800]]';
    const stream = await openai().images.generate({
      ...{ ...REQUEST, prompt, stream: true, partial_images: 3 },
    });
    for await (const _ of stream) break;
    stream.controller.abort();
    await until('it is charged', async () => (await spent()) > before);
    expect((await spent()) - before).toBeGreaterThan((1_056 + 300) * 40_000);
  });

  test('is cancelled without a charge if the client leaves before a preview', async () => {
    await until('nothing runs', async () => (await money()).held === 0);
    const before = await spent();
    const prompt = 'A lighthouse [[sim task_ms=3000]]';
    const left = openai().images.generate(
      { ...REQUEST, prompt, stream: true, partial_images: 1 },
      { signal: AbortSignal.timeout(400) },
    );
    expect(await failureOf(left)).toBeInstanceOf(Error);
    await until('the money is free again', async () => (await money()).held === 0);
    expect(await spent()).toBe(before);
  });

  test('that fails after a preview ends with an error that the package throws', async () => {
    const before = await spent();
    const prompt = 'A lighthouse [[sim fail=upstream]]';
    const stream = await openai().images.generate({
      ...{ ...REQUEST, prompt, stream: true, partial_images: 2 },
    });
    const failure = await failureOf(all(stream));
    expect(failure).toBeInstanceOf(APIError);
    expect(await spent()).toBe(before);
  });

  test('is repeated for the same Idempotency-Key, with one charge', async () => {
    const client = openai({ 'Idempotency-Key': `image-${crypto.randomUUID()}` });
    const request = { ...REQUEST, stream: true, partial_images: 1 } as const;
    const first = await all(await client.images.generate(request));
    const before = await spent();
    const again = await all(await client.images.generate(request));
    expect(again.map(({ b64_json }) => b64_json)).toEqual([first.at(-1)?.b64_json ?? '']);
    expect(await spent()).toBe(before);
  });

  test.each([
    [{ model: 'dall-e-3', n: 1 }, 'stream'],
    [{ model: 'gemini-2.5-flash-image', size: undefined }, 'stream'],
    [{ n: 2 }, 'n'],
    [{ partial_images: 4 }, 'partial_images'],
    [{ async: true }, 'async'],
    [{ prompt: 'A lighthouse [[sim status=400]]' }, null],
  ])('%j is refused by name before the stream begins', async (more, param) => {
    const request = { ...REQUEST, ...more, stream: true } as never;
    const failure = await failureOf(openai().images.generate(request));
    expect(failure).toMatchObject({ status: 400, ...(param === null ? {} : { param }) });
  });

  test('has no previews without a stream, and none is charged', async () => {
    const before = await spent();
    await openai().images.generate({ ...REQUEST, partial_images: 3 });
    expect((await spent()) - before).toBeLessThan((1_056 + 100) * 40_000);
  });
});

test('images.edit with stream sends its own events', async () => {
  const image = await toFile(PNG, 'a.png', { type: 'image/png' });
  const before = await spent();
  const events = await all(
    await openai().images.edit({ ...REQUEST, image, stream: true, partial_images: 1 }),
  );
  expect(events.map(({ type }) => type)).toEqual([
    'image_edit.partial_image',
    'image_edit.completed',
  ]);
  expect(events.every(isPng)).toBe(true);
  expect((await spent()) - before).toBe(chargeOf(events.at(-1)));
});
