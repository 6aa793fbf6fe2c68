/** Images through the AI SDK and the openai package, which call a real Weir process. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { createOpenAI } from '@ai-sdk/openai';
import { generateImage } from 'ai';
import OpenAI, { toFile } from 'openai';
import { failureOf } from '../support/failure-of.ts';
import { type RunningWeir, startWeir } from '../support/weir.ts';

setDefaultTimeout(60_000);

let weir: RunningWeir;
let base: string;
beforeAll(async () => {
  weir = await startWeir({ shared_database: true });
  base = `${weir.base_url}/v1`;
});
afterAll(() => weir.stop());

const IN_BASE64 = { 'x-weir-image-response-format': 'b64_json' };
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const provider = (headers: Record<string, string> = {}) =>
  createOpenAI({ baseURL: base, apiKey: weir.api_key, headers });
const openai = (headers: Record<string, string> = {}) =>
  new OpenAI({ baseURL: base, apiKey: weir.api_key, maxRetries: 0, defaultHeaders: headers });

/**
 * For these models the AI SDK sends no `response_format`, has no option for it, and needs `b64_json`
 * (@ai-sdk/openai 4.0.118: src/image/openai-image-model.ts).
 */
const WITHOUT_FORMAT = ['gpt-image-1', 'gpt-image-2'];

describe('generateImage of the AI SDK', () => {
  test.each(WITHOUT_FORMAT)('makes and edits images of %s with the header', async (id) => {
    const model = provider(IN_BASE64).image(id);
    const made = await generateImage({ model, prompt: 'A lighthouse', size: '1024x1024', n: 2 });
    expect(made.images.map(({ mediaType }) => mediaType)).toEqual(['image/png', 'image/png']);
    const edited = await generateImage({
      ...{ model, prompt: { text: 'Add a ship', images: [PNG], mask: PNG } },
    });
    expect(edited.image.mediaType).toBe('image/png');
  });

  test('needs no header for other models, because it sends the parameter', async () => {
    const model = provider().image('dall-e-3');
    const { image } = await generateImage({ model, prompt: 'A lighthouse', size: '1024x1024' });
    expect(Buffer.from(image.uint8Array).subarray(1, 4).toString()).toBe('PNG');
  });
});

describe('the header x-weir-image-response-format', () => {
  const request = { model: 'gpt-image-1', prompt: 'A lighthouse' };

  test.each([
    [{}, {}, 'url'],
    [{}, IN_BASE64, 'b64_json'],
    [{}, { 'x-weir-image-response-format': 'url' }, 'url'],
    [{ response_format: 'url' }, IN_BASE64, 'url'],
    [{ response_format: null }, IN_BASE64, 'b64_json'],
  ] as const)('%j with the headers %j has %s', async (body, headers, member) => {
    const { data = [] } = await openai(headers).images.generate({ ...request, ...body });
    expect(Object.keys(data[0] ?? {})).toContain(member);
    expect(Object.keys(data[0] ?? {})).not.toContain(member === 'url' ? 'b64_json' : 'url');
  });

  test('is refused by its name with another value', async () => {
    const wrong = openai({ 'x-weir-image-response-format': 'base64' });
    expect(await failureOf(wrong.images.generate(request))).toMatchObject({
      ...{ status: 400, param: 'x-weir-image-response-format' },
    });
  });
});

describe('default_image_response_format of an API key', () => {
  let api_key = '';
  beforeAll(async () => {
    const response = await fetch(`${base}/management/api-keys`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${weir.management_token}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ name: 'AI SDK', default_image_response_format: 'b64_json' }),
    });
    ({ key: api_key } = (await response.json()) as { key: string });
  });

  test('lets the AI SDK make images without a header', async () => {
    const model = createOpenAI({ baseURL: base, apiKey: api_key }).image('gpt-image-1');
    const { image } = await generateImage({ model, prompt: 'A lighthouse' });
    expect(image.mediaType).toBe('image/png');
  });

  test('yields to the header', async () => {
    const client = new OpenAI({ baseURL: base, apiKey: api_key, maxRetries: 0 });
    const request = { model: 'gpt-image-1', prompt: 'A lighthouse' };
    const headers = { 'x-weir-image-response-format': 'url' };
    const { data = [] } = await client.images.generate(request, { headers });
    expect(data[0]?.url).toStartWith(weir.base_url);
  });
});

describe('an edit without a model', () => {
  test.each(['image', 'mask'])('uses a model that takes %s', async (name) => {
    const image = await toFile(PNG, 'a.png', { type: 'image/png' });
    const edit = { prompt: 'Add a ship', image, ...(name === 'mask' ? { mask: image } : {}) };
    const { data = [] } = await openai().images.edit(edit);
    expect(data[0]?.url).toStartWith(weir.base_url);
  });
});

/** A WebP of one pixel, as `cwebp` writes it (RFC 9649). */
const WEBP = Buffer.from('UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA', 'base64');

describe('a WebP', () => {
  // curl knows no type for it: `-F image=@a.webp` has this one (curl: lib/formdata.c).
  test.each(['image/webp', 'application/octet-stream'])(
    'of the type %s is edited',
    async (type) => {
      const image = await toFile(WEBP, 'a.webp', { type });
      const edit = { model: 'gpt-image-1', prompt: 'Add a ship', image };
      const { data = [] } = await openai().images.edit(edit);
      expect(data[0]?.url).toStartWith(weir.base_url);
    },
  );

  test('is no way in for other files', async () => {
    const image = await toFile(Buffer.from('%PDF-1.7'), 'a.bin', {
      type: 'application/octet-stream',
    });
    const edit = openai().images.edit({ model: 'gpt-image-1', prompt: 'Add a ship', image });
    expect(await failureOf(edit)).toMatchObject({ status: 400, param: 'image' });
  });

  test('is what the client asks for', async () => {
    const { data = [] } = await openai().images.generate({
      ...{ model: 'gpt-image-1', prompt: 'A lighthouse', output_format: 'webp' },
    });
    const file = await fetch(data[0]?.url ?? '');
    expect(file.headers.get('content-type')).toBe('image/webp');
    expect(
      Buffer.from(await file.arrayBuffer())
        .subarray(8, 12)
        .toString(),
    ).toBe('WEBP');
  });
});
