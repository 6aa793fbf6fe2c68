/**
 * Google's SDK (@google/genai 3.1.0) lists and reads models, generates and counts on both versions
 * of Google's API. The SDK requests `/v1/models` for version v1, which is OpenAI's path too.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { ApiError, GoogleGenAI } from '@google/genai';
import { builtInModels } from '../../src/catalogue/built-in.ts';
import { type RunningWeir, startWeir } from '../support/weir.ts';

setDefaultTimeout(60_000);

let weir: RunningWeir;
beforeAll(async () => {
  weir = await startWeir({ shared_database: true });
});
afterAll(() => weir.stop());

describe.each(['v1', 'v1beta', undefined])('version %s', (apiVersion) => {
  const client = (apiKey = weir.api_key) =>
    new GoogleGenAI({
      apiKey,
      httpOptions: { baseUrl: weir.base_url, ...(apiVersion ? { apiVersion } : {}) },
    });

  test.each([undefined, 7])('lists every model, with pages of %p', async (pageSize) => {
    const listed = [];
    for await (const model of await client().models.list(
      pageSize === undefined ? {} : { config: { pageSize } },
    )) {
      listed.push(model);
    }
    const ids = builtInModels().map(({ id }) => `models/${id}`);
    expect(listed.map(({ name }) => name).filter((name) => ids.includes(name ?? ''))).toEqual(ids);
    const chat = listed.find(({ name }) => name === 'models/gpt-4o');
    expect(chat).toMatchObject({
      displayName: 'gpt-4o',
      inputTokenLimit: 128_000,
      supportedActions: expect.arrayContaining(['generateContent', 'countTokens']),
    });
  });

  test.each(['gemini-2.5-flash', 'models/gemini-2.5-flash'])(
    'reads the model %s',
    async (model) => {
      expect(await client().models.get({ model })).toMatchObject({
        name: 'models/gemini-2.5-flash',
        inputTokenLimit: 1_048_576,
        supportedActions: expect.arrayContaining(['generateContent']),
      });
    },
  );

  test.each(['gpt-4o', 'claude-haiku-4-5', 'gemini-2.5-flash'])('calls %s', async (model) => {
    const contents = 'Hello [[sim tokens=5]]';
    const whole = await client().models.generateContent({ model, contents });
    let text = '';
    for await (const chunk of await client().models.generateContentStream({ model, contents })) {
      text += chunk.text ?? '';
    }
    expect(text).toBe(whole.text ?? 'no answer');
    const chat = client().chats.create({ model });
    expect((await chat.sendMessage({ message: contents })).text).toBe(text);
    expect((await client().models.countTokens({ model, contents })).totalTokens).toBeGreaterThan(3);
  });

  test('gets errors in the envelope that it reads', async () => {
    const errorOf = async (call: Promise<unknown>) => {
      const failure = await call.catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(ApiError);
      const { status, message } = failure as ApiError;
      return { status, ...JSON.parse(message).error };
    };
    expect(await errorOf(client().models.get({ model: 'gemini-2.5-flahs' }))).toMatchObject({
      ...{ status: 'NOT_FOUND', code: 404 },
      details: [{ did_you_mean: 'gemini-2.5-flash' }],
    });
    const contents = 'Hello';
    for (const [model, meant] of [
      ['gemini-2.5-flahs', 'gemini-2.5-flash'],
      ['gemini-nope', 'gemini-2.5-pro'],
    ] as const) {
      const { models, chats } = client();
      for (const call of [
        () => models.countTokens({ model, contents }),
        () => models.generateContent({ model, contents }),
        () => models.generateContentStream({ model, contents }),
        () => chats.create({ model }).sendMessage({ message: contents }),
      ]) {
        const error = await errorOf(call());
        expect(error).toMatchObject({ status: 'INVALID_ARGUMENT', code: 400 });
        expect(error.message).toBe(`The model '${model}' does not exist.`);
        const [detail] = error.details;
        expect([detail.reason, detail.did_you_mean]).toEqual(['model_not_found', meant]);
      }
    }
    expect(await errorOf(client('wrong').models.list())).toMatchObject({
      ...{ status: 'UNAUTHENTICATED', code: 401 },
    });
  });
});
