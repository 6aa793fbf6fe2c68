/** Stored responses and direct calls through the official packages. They call a real Weir process. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { createOpenAI } from '@ai-sdk/openai';
import { embedMany } from 'ai';
import OpenAI from 'openai';
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

const openai = () => new OpenAI({ baseURL: base, apiKey: weir.api_key, maxRetries: 0 });

describe('stored responses', () => {
  test('can be read by their organization until they are deleted', async () => {
    const client = openai();
    const model = 'gpt-4o';
    const made = await client.responses.create({ model, input: 'Hello', metadata: { a: 'b' } });
    expect(await client.responses.retrieve(made.id)).toMatchObject({
      ...{ id: made.id, output: made.output, metadata: { a: 'b' } },
    });
    const items = await client.responses.inputItems.list(made.id);
    expect(items.data).toMatchObject([{ type: 'message', role: 'user' }]);
    expect(await failureOf(client.responses.cancel(made.id))).toMatchObject({
      status: 400,
      param: 'response_id',
    });
    await client.responses.delete(made.id);
    expect(await failureOf(client.responses.retrieve(made.id))).toBeInstanceOf(
      OpenAI.NotFoundError,
    );
    expect(await failureOf(client.responses.delete(made.id))).toBeInstanceOf(OpenAI.NotFoundError);
  });

  test('are not stored with store: false, and a missing previous response is refused', async () => {
    const client = openai();
    const made = await client.responses.create({ model: 'gpt-4o', input: 'Hi', store: false });
    expect(await failureOf(client.responses.retrieve(made.id))).toBeInstanceOf(
      OpenAI.NotFoundError,
    );
    const next = { model: 'gpt-4o', input: 'And?', previous_response_id: made.id };
    expect(await failureOf(client.responses.create(next))).toMatchObject({
      ...{ status: 400, param: 'previous_response_id' },
    });
  });

  test('may contain any characters', async () => {
    const client = openai();
    const input = 'a\u0000b \ud800 \u{1F419}';
    const { id } = await client.responses.create({ model: 'gpt-4o', input });
    const items = await client.responses.inputItems.list(id);
    expect(items.data).toMatchObject([{ content: [{ text: input }] }]);
  });

  test('a streamed response is stored as well', async () => {
    const client = openai();
    const stream = client.responses.stream({ model: 'claude-haiku-4-5', input: 'Hello' });
    const { id, output_text } = await stream.finalResponse();
    expect((await client.responses.retrieve(id)).output_text).toBe(output_text);
  });
});

describe('embeddings', () => {
  test('are the same through the openai package and the AI SDK', async () => {
    const model = 'text-embedding-3-small';
    const input = ['One', 'Two'];
    const floats = await openai().embeddings.create({ model, input, encoding_format: 'float' });
    const base64 = await openai().embeddings.create({ model, input });
    expect(floats.data).toHaveLength(2);
    expect(floats.data[1]).toMatchObject({ object: 'embedding', index: 1 });
    expect(floats.usage.prompt_tokens).toBe(2);
    for (const [at, value] of (floats.data[0]?.embedding ?? []).entries()) {
      expect(base64.data[0]?.embedding[at]).toBeCloseTo(value, 6);
    }
    const provider = createOpenAI({ baseURL: base, apiKey: weir.api_key });
    const { embeddings } = await embedMany({ model: provider.embedding(model), values: input });
    expect(embeddings[0]?.[0]).toBeCloseTo(floats.data[0]?.embedding[0] ?? 0, 6);
    const short = await openai().embeddings.create({ model, input: 'One', dimensions: 8 });
    expect(short.data[0]?.embedding).toHaveLength(8);
  });

  test('of Gemini have OpenAI’s format and length one, also for more inputs than Gemini takes in one request', async () => {
    const model = 'gemini-embedding-001';
    const input = Array.from({ length: 120 }, (_, at) => `Text ${at}`);
    const { data, usage } = await openai().embeddings.create({ model, input, dimensions: 256 });
    expect(data).toHaveLength(120);
    expect(usage.prompt_tokens).toBeGreaterThan(120);
    expect(data[119]?.embedding).toHaveLength(256);
    expect(Math.hypot(...(data[119]?.embedding ?? []))).toBeCloseTo(1, 5);
    const [alone] = (
      await openai().embeddings.create({ model, input: 'Text 119', dimensions: 256 })
    ).data;
    expect(alone?.embedding[7]).toBeCloseTo(data[119]?.embedding[7] ?? 0, 6);
    expect(await failureOf(openai().embeddings.create({ model, input: [1, 2] }))).toMatchObject({
      ...{ status: 400, param: 'input.0', message: expect.stringContaining('token ids') },
    });
  });

  test.each([
    [{ model: 'text-embedding-3-small', input: '' }, 'input'],
    [{ model: 'text-embedding-3-small', input: 'x', dimensions: 1_537 }, 'dimensions'],
    [{ model: 'text-embedding-ada-002', input: 'x', dimensions: 8 }, 'dimensions'],
    [{ model: 'gpt-4o', input: 'x' }, 'model'],
  ])('400: %#', async (body, param) => {
    const failure = await openai()
      .embeddings.create(body)
      .catch((error: unknown) => error);
    expect(failure).toMatchObject({ status: 400, param });
  });
});

describe('audio', () => {
  const sound = () => new File([new Uint8Array(64_000)], 'speech.wav', { type: 'audio/wav' });

  test('is translated in every format', async () => {
    const client = openai();
    const model = 'whisper-1';
    const json = await client.audio.translations.create({ model, file: sound() });
    expect(json.text.length).toBeGreaterThan(5);
    const verbose = await client.audio.translations.create({
      ...{ model, file: sound(), response_format: 'verbose_json' },
    });
    expect(verbose).toMatchObject({ duration: 4, language: 'german', text: json.text });
    const srt = await client.audio.translations.create({
      ...{ model, file: sound(), response_format: 'srt' },
    });
    expect(String(srt)).toStartWith('1\n00:00:00,000 --> 00:00:04,000\n');
    const vtt = await client.audio.translations.create({
      ...{ model, file: sound(), response_format: 'vtt' },
    });
    expect(String(vtt)).toStartWith('WEBVTT\n\n00:00:00.000 --> 00:00:04.000\n');
    const text = await client.audio.transcriptions.create({
      ...{ model, file: sound(), response_format: 'text', language: 'de' },
    });
    expect(String(text).trim()).toBe(json.text);
  });

  test('has a default model, accepts a language without effect, and refuses wrong fields by name', async () => {
    const send = async (fields: Record<string, string | File>) => {
      const body = new FormData();
      for (const [name, value] of Object.entries(fields)) {
        if (typeof value === 'string') body.set(name, value);
        else body.set(name, value, value.name);
      }
      const response = await fetch(`${base}/audio/translations`, {
        ...{ method: 'POST', body, headers: { authorization: `Bearer ${weir.api_key}` } },
      });
      return { status: response.status, answer: (await response.json()) as { error?: object } };
    };
    expect((await send({ file: sound(), language: 'de' })).status).toBe(200);
    expect(await send({})).toMatchObject({ status: 400, answer: { error: { param: 'file' } } });
    const wrongs: [Record<string, string | File>, number, string][] = [
      [{ file: new File(['x'], 'a.txt') }, 400, 'file'],
      [{ file: sound(), temperature: '2' }, 400, 'temperature'],
      [{ file: sound(), response_format: 'xml' }, 400, 'response_format'],
      [{ file: sound(), model: 'gpt-4o' }, 400, 'model'],
      [{ file: new File([new Uint8Array(26_300_000)], 'a.mp3') }, 413, 'file'],
    ];
    for (const [fields, status, param] of wrongs) {
      expect(await send(fields)).toMatchObject({ status, answer: { error: { param } } });
    }
  });
});

/** Charges of all keys, in nano-USD. */
async function spent(): Promise<number> {
  const headers = { authorization: `Bearer ${weir.management_token}` };
  const response = await fetch(`${weir.base_url}/v1/management/api-keys`, { headers });
  const { data } = (await response.json()) as { data: { used_amount: number }[] };
  return Math.round(data.reduce((sum, { used_amount }) => sum + used_amount, 0) * 1e9);
}

async function post<Answer>(path: string, body: object): Promise<{ status: number } & Answer> {
  const response = await fetch(base + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${weir.api_key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: response.status, ...((await response.json()) as Answer) };
}

describe('rerank', () => {
  const documents = ['Sunny day at the beach', { text: 'Rainy afternoon in the city' }, 'Snow'];

  test('returns the most relevant document first, in the format of Cohere and Jina', async () => {
    const before = await spent();
    const body = { model: 'rerank-v3.5', query: 'rainy city', documents, top_n: 2 };
    const answer = await post<{ results: { index: number; relevance_score: number }[] }>(
      '/rerank',
      { ...body, return_documents: true },
    );
    expect(answer).toMatchObject({
      ...{ status: 200, model: 'rerank-v3.5', meta: { billed_units: { search_units: 1 } } },
    });
    expect(answer.results).toHaveLength(2);
    expect(answer.results[0]).toMatchObject({
      ...{ index: 1, document: { text: 'Rainy afternoon in the city' } },
    });
    expect((await spent()) - before).toBe(2_000_000);
    const plain = await post<{ results: object[] }>('/rerank', body);
    expect(Object.keys(plain.results[0] ?? {})).toEqual(['index', 'relevance_score']);
  });

  test.each([
    [{ query: '' }, 'query'],
    [{ documents: [] }, 'documents'],
    [{ documents: Array.from({ length: 1_001 }, () => 'x') }, 'documents'],
    [{ documents: [7] }, 'documents'],
    [{ top_n: 0 }, 'top_n'],
    [{ model: 'gpt-4o' }, 'model'],
  ])('400: %#', async (more, param) => {
    const body = { model: 'rerank-v3.5', query: 'x', documents: ['y'], ...more };
    const { status, error } = await post<{ error: { param: string } }>('/rerank', body);
    expect({ status, param: error.param.split('.')[0] }).toEqual({ status: 400, param });
  });
});

describe('text translations', () => {
  test('use the default model, with DeepL’s parameter names and with others', async () => {
    const before = await spent();
    const answer = await post<object>('/translations', {
      ...{ text: ['Hello', 'Good night 🌙'], target_lang: 'DE' },
    });
    expect(answer).toMatchObject({
      ...{ status: 200, object: 'translation', model: 'deepl-translate' },
      translations: [
        { text: '[DE] Hello', detected_source_language: 'EN' },
        { text: '[DE] Good night 🌙', detected_source_language: 'EN' },
      ],
      usage: { characters: 17 },
    });
    expect((await spent()) - before).toBe(17 * 25_000);
    const other = await post<object>('/translations', {
      ...{ model: 'deepl-translate', input: 'Hello', target_language: 'pt-BR' },
      ...{ source_language: 'en', formality: 'more' },
    });
    expect(other).toMatchObject({ translations: [{ text: '[pt-BR] Hello' }] });
  });

  test.each([
    [{ text: '' }, 'text'],
    [{ text: Array.from({ length: 51 }, () => 'x') }, 'text'],
    [{ target_lang: 'German please' }, 'target_lang'],
    [{ target_language: 'de' }, 'target_language'],
    [{ formality: 'rude' }, 'formality'],
    [{ model: 'gpt-4o' }, 'model'],
  ])('400: %#', async (more, param) => {
    const body = { text: 'x', target_lang: 'DE', ...more };
    const { status, error } = await post<{ error: { param: string } }>('/translations', body);
    expect({ status, param: error.param }).toEqual({ status: 400, param });
  });
});

describe('edited images', () => {
  const PNG = Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64',
  );
  const picture = (name: string) => new File([PNG], name, { type: 'image/png' });

  test('are made from several images and a mask, through the openai package', async () => {
    const made = await openai().images.edit({
      ...{ model: 'gpt-image-2', prompt: 'A hat on each', n: 2, response_format: 'b64_json' },
      ...{ image: [picture('a.png'), picture('b.png')], mask: picture('mask.png') },
    });
    expect(made.data).toHaveLength(2);
    const bytes = Buffer.from(made.data?.[0]?.b64_json ?? '', 'base64');
    expect(bytes.subarray(1, 4).toString()).toBe('PNG');
  });

  test.each(['gemini-2.5-flash-image', 'grok-imagine-image'])('are made by %s', async (model) => {
    const made = await openai().images.edit({ model, prompt: 'A hat', image: picture('a.png') });
    expect(made.data?.[0]?.url).toStartWith(weir.base_url);
  });

  test('are refused by name if a model takes text only', async () => {
    const image = picture('a.png');
    for (const [body, param] of [
      [{ model: 'dall-e-3', prompt: 'A hat', image }, 'image'],
      [{ model: 'gemini-2.5-flash-image', prompt: 'A hat', image, mask: image }, 'mask'],
      [{ model: 'gpt-image-2', image }, 'prompt'],
      [{ model: 'gpt-image-2', prompt: 'A hat', image, n: 11 }, 'n'],
    ] as const) {
      expect(await failureOf(openai().images.edit(body as never))).toMatchObject({
        ...{ status: 400, param },
      });
    }
    const { status, error } = await post<{ error: { param: string } }>('/images/edits', {
      ...{ model: 'gpt-image-2', prompt: 'A hat' },
    });
    expect({ status, param: error.param }).toEqual({ status: 400, param: 'image' });
  });
});
