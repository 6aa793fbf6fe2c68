/**
 * Every path that the vendors' SDKs request is served, or is refused with a hint that names what is
 * offered. The list comes from the source of the packages openai, @anthropic-ai/sdk
 * and @google/genai themselves.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createAmazonBedrock } from '@ai-sdk/amazon-bedrock';
import { generateText } from 'ai';
import { Glob } from 'bun';
import { startTestApp, type TestApp } from '../support/app.ts';
import { failureOf } from '../support/failure-of.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());

const CALL =
  /_client\.(get|post|delete|patch|put|getAPIList)\(\s*(?:[\w.]*path)?\s*[`'"]([^`'"]+)[`'"]/g;

/** The requests in the source of a package, as `[method, path]`. */
async function requestsOf(name: string): Promise<[method: string, path: string][]> {
  const folder = dirname(fileURLToPath(import.meta.resolve(name)));
  const requests: [string, string][] = [];
  for await (const file of new Glob('resources/**/*.mjs').scan(folder)) {
    const source = await Bun.file(join(folder, file)).text();
    for (const [, verb = '', path = ''] of source.matchAll(CALL)) {
      const method = verb === 'getAPIList' ? 'GET' : verb.toUpperCase();
      const plain = path.replace(/\$\{[^}]*\}/g, 'id_1').replace(/\?.*$/, '');
      requests.push([method, plain.startsWith('/v1') ? plain : `/v1${plain}`]);
    }
  }
  return requests;
}

interface Envelope {
  type?: string;
  error?: { hint?: string; message: string; status?: string; details?: { hint?: string }[] };
}

const isAnthropic = ({ type }: Envelope) => type === 'error';
const isGoogle = ({ error }: Envelope) => error?.status !== undefined;

test.each([
  ['openai', 150, {}, (body: Envelope) => !isAnthropic(body) && !isGoogle(body)],
  ['@anthropic-ai/sdk', 30, { 'anthropic-version': '2023-06-01' }, isAnthropic],
])('every path of the package %s is served, or refused with a hint', async (...given) => {
  const [name, least, headers, isOwn] = given;
  const requests = await requestsOf(name);
  expect(requests.length).toBeGreaterThan(least);
  expect(await badRefusals(requests, headers, isOwn)).toEqual([]);
});

/** Requests of `@google/genai`: it builds each path with one of these functions. */
const GOOGLE_PATH = /(?:formatMap|pathToFunc)\(\s*['"]([^'"]+)['"]/g;

test.each(['v1', 'v1beta'])(
  'every path of @google/genai is served in %s, or refused with a hint',
  async (version) => {
    const source = await Bun.file(fileURLToPath(import.meta.resolve('@google/genai'))).text();
    const paths = [...source.matchAll(GOOGLE_PATH)].map(([, path = '']) => {
      const plain = path.replace('{api_version}', version).replace('{model}', 'models/gemini-x');
      const named = plain.replace(/\{[^}]*\}/g, 'files/one').replace(/\?.*$/, '');
      return named.startsWith('/') || named.startsWith('upload') ? named : `${version}/${named}`;
    });
    const requests = [...new Set(paths)].flatMap((path): [string, string][] =>
      ['GET', 'POST', 'DELETE'].map((method) => [method, path.replace(/^\/?/, '/')]),
    );
    expect(requests.length).toBeGreaterThan(100);
    expect(
      await badRefusals(requests, { 'x-goog-api-client': 'google-genai-sdk' }, isGoogle),
    ).toEqual([]);
  },
);

/** Returns the refusals without a hint, or in another envelope than the client's own. */
async function badRefusals(
  requests: readonly (readonly [method: string, path: string])[],
  headers: Record<string, string>,
  isOwn: (body: Envelope) => boolean,
): Promise<string[]> {
  const wrong: string[] = [];
  for (const [method, path] of requests) {
    const body = method === 'GET' ? {} : { body: '{}' };
    const response = await app.fetch(path, { method, headers, ...body });
    const envelope = (await response.json()) as Envelope;
    const { error } = envelope;
    if (error === undefined) continue;
    const hint = error.hint ?? error.details?.[0]?.hint;
    const isUnknown = /^There is no |offered/.test(error.message);
    if ((isUnknown && !hint) || !isOwn(envelope)) {
      wrong.push(`${response.status} ${method} ${path}: ${error.message}`);
    }
  }
  return wrong;
}

describe('a refused path names what is offered', () => {
  test.each([
    ['POST', '/v1/responses/compact', /POST \/v1\/responses/],
    ['POST', '/v1/images/variations', /\/v1\/images\/edits/],
    ['POST', '/v1/videos', /\/v1\/videos\/generations/],
    ['POST', '/v1/batches', /\/v1\/messages\/batches/],
    ['POST', '/messages', /\/v1\/messages/],
    ['POST', '/v1/v1/messages', /\/v1\/messages/],
    ['POST', '/chat/completions', /\/v1\/chat\/completions/],
    ['POST', '/v1/v1/chat/completions', /\/v1\/chat\/completions/],
    ['POST', '/v1/v1beta/models/gemini-2.5-flash:generateContent', /\/v1beta\/models\/gemini/],
  ])('%s %s', async (method, path, hint) => {
    const response = await app.fetch(path, { method, body: '{}' });
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ error: { hint: expect.stringMatching(hint) } });
  });

  // Paths of vendors whose protocols Weir does not speak to clients: of Bedrock, ElevenLabs and Luma in
  // their API references; of MiniMax in platform.minimax.io/docs/api-reference/text/api/openapi.json and
  // docs.getbifrost.ai/providers/supported-providers/minimax; of ModelArk in @ai-sdk/bytedance.
  test.each([
    ['/model/anthropic.claude-haiku-4-5/converse', /\/v1\/messages/],
    ['/model/arn%3Aaws%3Abedrock%2Fx/converse-stream', /\/v1\/messages/],
    ['/v1/text-to-speech/21m00Tcm4TlvDq8ikWAM', /\/v1\/audio\/speech/],
    ['/v1/speech-to-text', /\/v1\/audio\/transcriptions/],
    ['/v1/sound-generation', /\/v1\/audio\/generations/],
    ['/v1/music', /\/v1\/music\/generations/],
    ['/v1/text/chatcompletion_v2', /\/v1\/chat\/completions/],
    ['/v1/t2a_v2', /\/v1\/audio\/speech/],
    ['/v2/video_generation', /\/v1\/videos\/generations/],
    ['/v1/image_generation', /\/v1\/images\/generations/],
    ['/v1/music_generation', /\/v1\/music\/generations/],
    ['/dream-machine/v1/generations', /\/v1\/videos\/generations/],
    ['/dream-machine/v1/generations/image', /\/v1\/images\/generations/],
    ['/api/v3/images/generations', /\/v1\/images\/generations/],
    ['/api/v3/contents/generations/tasks', /\/v1\/videos\/generations/],
  ])('POST %s', async (path, hint) => {
    const response = await app.fetch(path, { method: 'POST', body: '{}' });
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({
      error: { message: expect.stringContaining('not offered'), hint: expect.stringMatching(hint) },
    });
  });

  test.each([
    ['anthropic', 'claude-haiku-4-5:rawPredict', { type: 'error' }],
    ['anthropic', 'claude-haiku-4-5:streamRawPredict', { type: 'error' }],
    ['google', 'gemini-2.5-flash:generateContent', { error: { status: 'NOT_FOUND' } }],
  ])('of Vertex AI, in the envelope of %s', async (publisher, model, envelope) => {
    const path = `/v1/projects/p/locations/global/publishers/${publisher}/models/${model}`;
    const response = await app.fetch(path, { method: 'POST', body: '{}' });
    const text = await response.text();
    expect(JSON.parse(text)).toMatchObject(envelope);
    expect(text).toContain('/v1/messages');
  });

  // @ai-sdk/amazon-bedrock 5.0.101 requests Converse.
  test('to the AI SDK’s package for Bedrock', async () => {
    const bedrock = createAmazonBedrock({ baseURL: app.base_url, apiKey: 'none' });
    const model = bedrock('anthropic.claude-haiku-4-5');
    const failure = await failureOf(generateText({ model, prompt: 'Hello', maxRetries: 0 }));
    expect(failure).toMatchObject({ statusCode: 404 });
    expect((failure as unknown as { responseBody: string }).responseBody).toContain('/v1/messages');
  });

  // The methods of @google/genai 3.1.0 (dist/index.mjs: Models, Caches, Files).
  test.each([
    ['/v1beta/models/text-embedding-004:batchEmbedContents', '/v1/embeddings'],
    ['/v1beta/models/imagen-4.0-generate-001:predict', '/v1/images/generations'],
    ['/v1beta/models/veo-3.1:predictLongRunning', '/v1/videos/generations'],
    ['/v1beta/cachedContents', 'cache'],
    ['/v1beta3/models/gpt-4o:generateMessage', '/v1beta/models/{model}:generateContent'],
    ['/upload/v1beta/files', 'Base64'],
  ])('POST %s, in the envelope of Google', async (path, offered) => {
    const response = await app.fetch(path, { method: 'POST', body: '{}' });
    expect(await response.json()).toMatchObject({
      error: {
        code: 404,
        status: 'NOT_FOUND',
        details: [{ hint: expect.stringContaining(offered) }],
      },
    });
  });

  test.each([
    ['anthropic-version', '2023-06-01'],
    ['x-api-key', 'wrong'],
  ])('in the envelope of Anthropic with %s', async (name, value) => {
    const unknown = await fetch(`${app.base_url}/v1/skills`, { headers: { [name]: value } });
    expect(await unknown.json()).toMatchObject({
      type: 'error',
      error: { type: 'not_found_error' },
    });
    const models = await fetch(`${app.base_url}/v1/models`, { headers: { [name]: value } });
    expect(await models.json()).toMatchObject({
      ...{ type: 'error', error: { type: 'authentication_error' } },
    });
  });
});
