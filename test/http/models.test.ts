import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { builtInModels } from '../../src/catalogue/built-in.ts';
import { CATEGORIES } from '../../src/catalogue/schema.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { errorOf } from '../support/envelope.ts';

let app: TestApp;
const unavailable = new Set<string>();
beforeAll(async () => {
  app = await startTestApp({ isServed: (model) => !unavailable.has(model.id) });
});
afterAll(() => app.stop());

const ids = builtInModels().map(({ id }) => id);

interface ModelObject {
  id: string;
  weir: Record<string, unknown>;
}

async function list(query = ''): Promise<{ data: ModelObject[] } & Record<string, unknown>> {
  const response = await app.fetch(`/v1/models${query}`);
  expect(response.status).toBe(200);
  return (await response.json()) as { data: ModelObject[] };
}

describe('GET /v1/models', () => {
  test('200: the whole catalogue, as a list', async () => {
    const body = await list();
    expect(body).toMatchObject({
      object: 'list',
      has_more: false,
      first_id: ids[0],
      last_id: ids.at(-1),
    });
    expect(body.data.map(({ id }) => id)).toEqual(ids);
  });

  test('200: each model has the members of the specification', async () => {
    const [model] = (await list()).data;
    expect(model).toMatchObject({
      id: 'gpt-4o',
      object: 'model',
      created: 1_715_367_049,
      owned_by: 'openai',
    });
    expect(model?.weir).toEqual({
      category: 'chat',
      pricing_unit: 'token',
      public_contract_summary: null,
      agent_preferences: {},
    });
  });

  test('200: the models of one category', async () => {
    for (const category of CATEGORIES) {
      const { data } = await list(`?category=${category}`);
      const expected = builtInModels().filter((model) => model.category === category);
      expect(data.map(({ id }) => id)).toEqual(expected.map(({ id }) => id));
      expect(data.length).toBeGreaterThan(0);
    }
  });

  test('200: each model has the unit of its price', async () => {
    const { data } = await list();
    const unitOf = (id: string) => data.find((model) => model.id === id)?.weir;
    for (const [id, pricing_unit] of [
      ['gpt-4o', 'token'],
      ['text-embedding-3-small', 'token'],
      ['whisper-1', 'second'],
      ['tts-1', 'character'],
      ['gemini-2.5-flash-preview-tts', 'token'],
      ['rerank-v3.5', 'request'],
      ['deepl-translate', 'character'],
      ['dall-e-3', 'image'],
    ] as const) {
      expect(unitOf(id)).toMatchObject({ pricing_unit });
    }
  });

  test('200: the models recommended for a scene', async () => {
    const { data } = await list('?recommended_for=image');
    expect(data.length).toBeGreaterThan(0);
    for (const { weir } of data) expect(weir).toMatchObject({ category: 'image' });
  });

  test('200: callable=true lists what the key may call and a channel serves now', async () => {
    const body = { name: 'narrow', models: ['gpt-4o', 'gpt-4o-mini'] };
    const key = (await (await app.manage('POST', '/api-keys', body)).json()) as { key: string };
    const ids = async (query: string) => {
      const headers = { authorization: `Bearer ${key.key}` };
      const answer = await app.fetch(`/v1/models${query}`, { headers });
      return ((await answer.json()) as { data: { id: string }[] }).data.map(({ id }) => id);
    };
    expect((await ids('?callable=true')).toSorted()).toEqual(['gpt-4o', 'gpt-4o-mini']);
    unavailable.add('gpt-4o');
    expect(await ids('?callable=true')).toEqual(['gpt-4o-mini']);
    unavailable.delete('gpt-4o');
    expect(await ids('?callable=false')).toEqual(await ids(''));
  });

  test.each(['category', 'recommended_for', 'callable'])(
    '400: a %s that does not exist',
    async (param) => {
      for (const value of ['nonsense', '', 'CHAT', '__proto__']) {
        const error = await errorOf(await app.fetch(`/v1/models?${param}=${value}`), 400);
        expect(error).toMatchObject({ type: 'invalid_request_error', param });
      }
    },
  );

  test('400: recommended_for does not accept chat', async () => {
    await errorOf(await app.fetch('/v1/models?recommended_for=chat'), 400);
  });

  test('401: without a key', async () => {
    await errorOf(await fetch(`${app.base_url}/v1/models`), 401);
  });

  test('P5: names no channel and no physical model', async () => {
    expect(JSON.stringify(await list())).not.toMatch(/sim|demo|channel/);
  });
});

describe('GET /v1/models/{model}', () => {
  test('200: has its price and the source of the price', async () => {
    const response = await app.fetch('/v1/models/gpt-4o-mini');
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({
      id: 'gpt-4o-mini',
      object: 'model',
      weir: {
        category: 'chat',
        pricing: { input_usd_per_mtok: 0.15, output_usd_per_mtok: 0.6 },
        pricing_provenance: { source: expect.any(String), date: expect.any(String) },
      },
    });
  });

  test.each([
    ['gpt-image-1', 'token', ['text-to-image', 'image-to-image'], ['inline', 'task']],
    ['dall-e-3', 'image', ['text-to-image'], ['inline']],
    ['midjourney', 'image', ['text-to-image'], ['task']],
    ['topaz-video-upscale', 'second', ['video-to-video'], ['task']],
    ['suno_music', 'song', ['text-to-music', 'text-to-lyrics'], ['task']],
    ['suno_lyrics', 'song', ['text-to-lyrics'], ['task']],
    ['trellis', 'request', ['image-to-3d'], ['task']],
    ['tripo-2.5', 'request', ['text-to-3d', 'image-to-3d'], ['task']],
    ['elevenlabs-sound-effects', 'second', ['text-to-audio'], ['task']],
    ['text-embedding-3-small', 'token', ['embed'], ['inline']],
    ['whisper-1', 'second', ['transcribe', 'translate-to-english'], ['inline']],
    ['tts-1', 'character', ['text-to-speech'], ['inline']],
    ['rerank-v3.5', 'request', ['rerank'], ['inline']],
    ['deepl-translate', 'character', ['translate'], ['inline']],
  ])('200: %s with its contract', async (id, pricing_unit, supported_operations, answers) => {
    const response = await app.fetch(`/v1/models/${id}`);
    const { weir } = (await response.json()) as ModelObject;
    expect(weir).toMatchObject({
      pricing_unit,
      supported_operations,
      capability_flags: { inline: answers.includes('inline'), async: answers.includes('task') },
      public_contract_summary: { answers, supported_operations },
      public_contract: { title: id, type: 'object', rules: expect.any(Array) },
    });
    const contract = weir['public_contract'] as { properties: object };
    const summary = weir['public_contract_summary'] as { parameters: string[] };
    expect(Object.keys(contract.properties).sort()).toEqual(summary.parameters.toSorted());
  });

  test('200: a chat model has its capabilities; its contract is its protocol', async () => {
    const response = await app.fetch('/v1/models/gemini-2.5-pro');
    expect(await response.json()).toMatchObject({
      weir: {
        supported_operations: ['chat'],
        capability_flags: { tools: true, vision: true, reasoning: true, audio_input: true },
        abilities: {
          json_schema: 'without_tools',
          images: { by_url: ['png', 'jpeg', 'webp', 'bmp'] },
          audio_input: expect.arrayContaining(['wav', 'mp3']),
        },
        public_contract_summary: null,
        pricing: { long_context: { above_input_tokens: 200_000 } },
      },
    });
    const plain = await app.fetch('/v1/models/gpt-4o');
    expect(await plain.json()).toMatchObject({
      weir: {
        capability_flags: { reasoning: false, audio_input: false },
        abilities: { reasoning: { form: 'none' }, audio_output: false },
      },
    });
    // Sources and protocols of channels are for operators (P5).
    expect(
      JSON.stringify(await (await app.fetch('/v1/models/claude-opus-4-8')).json()),
    ).not.toMatch(/bedrock|provenance":\{"source":"@/);
  });

  test('200: the legacy pro id of Grok-type images is the quality model', async () => {
    const response = await app.fetch('/v1/models/grok-imagine-image-pro');
    expect(await response.json()).toMatchObject({ id: 'grok-imagine-image-quality' });
  });

  test('200: by an alias of the model', async () => {
    const response = await app.fetch('/v1/models/claude-haiku-4-5-20251001');
    expect(await response.json()).toMatchObject({ id: 'claude-haiku-4-5' });
  });

  test('404: an unknown model, with suggestions', async () => {
    const error = await errorOf(await app.fetch('/v1/models/gpt-4o-mni'), 404);
    expect(error).toMatchObject({
      type: 'invalid_request_error',
      code: 'model_not_found',
      param: 'model',
      did_you_mean: 'gpt-4o-mini',
    });
    expect(error.suggestions?.[0]).toEqual({ id: 'gpt-4o-mini' });
    expect(error.hint).toBeString();
  });

  test('404: P13: a model that cannot be called now is not suggested', async () => {
    unavailable.add('gpt-4o-mini');
    const error = await errorOf(await app.fetch('/v1/models/gpt-4o-mni'), 404);
    unavailable.clear();
    expect(error.suggestions?.map(({ id }) => id)).not.toContain('gpt-4o-mini');
  });

  test.each([
    'org/model/with/slashes',
    'org%2Fmodel',
    '%E0%A4%A',
    '%00',
    '..%2f..%2fetc',
    '__proto__',
    'x'.repeat(3_000),
  ])('404: %s', async (name) => {
    const error = await errorOf(await app.fetch(`/v1/models/${name}`), 404);
    expect(error.code).toBe('model_not_found');
  });

  test('401: without a key, before the model is looked up', async () => {
    await errorOf(await fetch(`${app.base_url}/v1/models/nonsense`), 401);
  });
});

describe('the official SDKs', () => {
  test('openai lists and retrieves models', async () => {
    const client = new OpenAI({
      apiKey: app.credentials.api_key,
      baseURL: `${app.base_url}/v1`,
      maxRetries: 0,
    });
    const listed = [];
    for await (const model of client.models.list()) listed.push(model.id);
    expect(listed).toEqual(ids);
    expect((await client.models.retrieve('gpt-5')).owned_by).toBe('openai');
    const missing = await client.models.retrieve('gpt-nonsense').catch((error) => error);
    expect(missing).toBeInstanceOf(OpenAI.NotFoundError);
    expect(missing).toMatchObject({ code: 'model_not_found', param: 'model' });
  });

  test('@anthropic-ai/sdk lists and retrieves models', async () => {
    const client = new Anthropic({
      apiKey: app.credentials.api_key,
      baseURL: app.base_url,
      maxRetries: 0,
    });
    const listed = [];
    for await (const model of client.models.list()) listed.push(model);
    expect(listed.map(({ id }) => id)).toEqual(ids);
    for (const model of listed) {
      expect(model.type).toBe('model');
      expect(Number.isNaN(Date.parse(model.created_at))).toBe(false);
      if (model.max_input_tokens !== null) expect(model.max_input_tokens).toBeGreaterThan(0);
    }
    expect((await client.models.retrieve('claude-haiku-4-5')).display_name).toBeString();
    const missing = await client.models.retrieve('claude-nonsense').catch((error) => error);
    expect(missing).toBeInstanceOf(Anthropic.NotFoundError);
  });
});
