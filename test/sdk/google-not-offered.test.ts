/**
 * What Weir does not offer of Google's API, called with Google's SDK (@google/genai 3.1.0) on both
 * versions. The SDK decodes each refusal as Google's own, and the hint names what is offered.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { ApiError, GoogleGenAI } from '@google/genai';
import { startTestApp, type TestApp } from '../support/app.ts';
import { failureOf } from '../support/failure-of.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());

const EMBEDDINGS = '/v1/embeddings';
const INLINE = 'Base64';
const CACHE = 'cache';
const BATCHES = '/v1/messages/batches';
const model = 'gemini-2.5-flash';
const turn = { role: 'user', parts: [{ text: 'Hi' }] };

const TEXT = { type: 'text/plain' };

type Call = (client: GoogleGenAI) => PromiseLike<unknown>;

/** Calls whose failure the SDK throws as `ApiError`, with the hint's text. */
const CALLS: Record<string, [Call, hint: string]> = {
  'models.embedContent': [
    ({ models }) => models.embedContent({ model: 'gemini-embedding-001', contents: 'Hi' }),
    EMBEDDINGS,
  ],
  'files.upload': [({ files }) => files.upload({ file: new Blob(['Hi'], TEXT) }), INLINE],
  'files.list': [({ files }) => files.list(), INLINE],
  'files.get': [({ files }) => files.get({ name: 'files/one' }), INLINE],
  'files.delete': [({ files }) => files.delete({ name: 'files/one' }), INLINE],
  'caches.create': [
    ({ caches }) => caches.create({ model, config: { contents: [turn], ttl: '60s' } }),
    CACHE,
  ],
  'caches.list': [({ caches }) => caches.list(), CACHE],
  'caches.get': [({ caches }) => caches.get({ name: 'cachedContents/one' }), CACHE],
  'caches.update': [({ caches }) => caches.update({ name: 'cachedContents/one' }), CACHE],
  'caches.delete': [({ caches }) => caches.delete({ name: 'cachedContents/one' }), CACHE],
  'batches.create': [
    ({ batches }) => batches.create({ model, src: [{ contents: [turn] }] }),
    BATCHES,
  ],
  'batches.createEmbeddings': [
    ({ batches }) =>
      batches.createEmbeddings({
        model: 'gemini-embedding-001',
        src: { inlinedRequests: { contents: [turn] } },
      }),
    EMBEDDINGS,
  ],
  'batches.list': [({ batches }) => batches.list(), BATCHES],
  'batches.get': [({ batches }) => batches.get({ name: 'batches/one' }), BATCHES],
  'batches.cancel': [({ batches }) => batches.cancel({ name: 'batches/one' }), BATCHES],
  'batches.delete': [({ batches }) => batches.delete({ name: 'batches/one' }), BATCHES],
  'fileSearchStores.create': [({ fileSearchStores }) => fileSearchStores.create({}), INLINE],
  'fileSearchStores.list': [({ fileSearchStores }) => fileSearchStores.list(), INLINE],
  'authTokens.create': [({ authTokens }) => authTokens.create({}), '/v1/management/api-keys'],
};

/** Calls of the SDK's newer half. It throws other classes, which keep the body. */
const NEWER: Record<string, [Call, hint: string]> = {
  'interactions.create': [
    ({ interactions }) => interactions.create({ model, input: 'Hi' }),
    'generateContent',
  ],
  'interactions.get': [({ interactions }) => interactions.get('one'), 'generateContent'],
  'interactions.delete': [({ interactions }) => interactions.delete('one'), 'generateContent'],
  'interactions.cancel': [({ interactions }) => interactions.cancel('one'), 'generateContent'],
  'agents.list': [({ agents }) => agents.list(), 'tools'],
  'triggers.list': [({ triggers }) => triggers.list(), 'tools'],
  'environments.list': [({ environments }) => environments.list(), 'tools'],
  'credentials.list': [({ credentials }) => credentials.list(), 'tools'],
  'voices.list': [({ voices }) => voices.list(), '/v1/audio/speech'],
  'webhooks.list': [({ webhooks }) => webhooks.list(), 'webhook_url'],
};

const refusal = (hint: string) => ({
  error: { code: 404, status: 'NOT_FOUND', details: [{ hint: expect.stringContaining(hint) }] },
});

describe.each(['v1', 'v1beta'])('version %s', (apiVersion) => {
  const client = () =>
    new GoogleGenAI({
      ...{ apiKey: app.credentials.api_key },
      httpOptions: { baseUrl: app.base_url, apiVersion },
    });

  test.each(Object.entries(CALLS))('%s', async (_, [call, hint]) => {
    const failure = await failureOf(call(client()));
    expect(failure).toBeInstanceOf(ApiError);
    expect(JSON.parse(failure.message)).toMatchObject(refusal(hint));
  });

  test.each(Object.entries(NEWER))('%s', async (_, [call, hint]) => {
    const failure = (await failureOf(call(client()))) as Error & { body: string };
    expect(failure).toMatchObject({ status: 404, message: expect.stringContaining('not offered') });
    expect(JSON.parse(failure.body)).toMatchObject(refusal(hint));
  });
});
