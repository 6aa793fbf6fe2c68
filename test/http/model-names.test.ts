/**
 * Every route that takes the name of a model refuses a wrong name with a 4xx that names `model`. The
 * tests run all of Weir, because a refusal also asks which models the key can call now.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { type Gateway, startGateway } from '../support/gateway.ts';

setDefaultTimeout(60_000);

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

type Body = Record<string, unknown>;

const messages = [{ role: 'user', content: 'Hello' }];
const contents = [{ role: 'user', parts: [{ text: 'Hello' }] }];
const image = 'data:image/png;base64,aGVsbG8=';

/** The routes that take the name in a JSON body, with a body that is valid but for its model. */
const JSON_ROUTES: Record<string, Body> = {
  '/v1/chat/completions': { messages },
  '/v1/messages': { messages, max_tokens: 10 },
  '/v1/messages/count_tokens': { messages },
  '/v1/responses': { input: 'Hello' },
  '/v1/embeddings': { input: 'Hello' },
  '/v1/audio/speech': { input: 'Hello', voice: 'alloy' },
  '/v1/rerank': { query: 'Hello', documents: ['a', 'b'] },
  '/v1/translations': { text: 'Hello', target_lang: 'DE' },
  '/v1/images/generations': { prompt: 'Hello' },
  '/v1/images/edits': { prompt: 'Hello', image },
  '/v1/videos/generations': { prompt: 'Hello' },
  '/v1/music/generations': { prompt: 'Hello' },
  '/v1/3d/generations': { prompt: 'Hello' },
  '/v1/audio/generations': { prompt: 'Hello' },
};

const FORM_ROUTES = ['/v1/audio/transcriptions', '/v1/audio/translations', '/v1/images/edits'];

/** Returns the path of each route that takes the name in its path. */
const PATH_ROUTES: [method: string, route: string, path: (name: string) => string][] = [
  ['POST', 'generateContent', (name) => `/v1beta/models/${name}:generateContent`],
  ['POST', 'streamGenerateContent', (name) => `/v1beta/models/${name}:streamGenerateContent`],
  ['POST', 'countTokens', (name) => `/v1beta/models/${name}:countTokens`],
  ['POST', 'countTokens of API version 1', (name) => `/v1/models/${name}:countTokens`],
  ['GET', 'the detail of a model', (name) => `/v1/models/${name}`],
];

const VERY_LONG = 'gpt-4o'.repeat(5_000);
const UNKNOWN = ['gpt-4oo', 'claude-haiku-4.5', 'nope/nope', '__proto__', 'constructor', ' '];
const NOT_A_NAME = [7, true, {}, ['gpt-4o']];

async function send(path: string, init: RequestInit): Promise<Response> {
  const headers = new Headers(init.headers);
  headers.set('authorization', `Bearer ${gateway.api_key}`);
  headers.set('x-goog-api-key', gateway.api_key);
  headers.set('anthropic-version', '2023-06-01');
  return fetch(gateway.base_url + path, { ...init, headers });
}

const sendJson = (path: string, body: unknown) =>
  send(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

interface Refusal {
  code: unknown;
  param: unknown;
}

/** Returns code and parameter of an error with a 4xx status, in the envelope of its route. */
async function refusalOf(response: Response, path: string): Promise<Refusal> {
  const text = await response.text();
  const { status } = response;
  expect({ path, status, text, isRefused: status >= 400 && status < 500 }).toEqual({
    ...{ path, status, text },
    isRefused: true,
  });
  expect(text.length).toBeLessThan(5_000);
  const body = JSON.parse(text);
  if (path.startsWith('/v1/messages')) {
    expect(body).toMatchObject({ type: 'error', error: { type: 'invalid_request_error' } });
  }
  // Google's envelope has the code of Weir in its details.
  const [info] = body.error.details ?? [];
  return info
    ? { code: info.reason, param: info.param }
    : { code: body.error.code, param: body.error.param };
}

/** Returns a name as a part of a path. */
const inPath = (name: string) => encodeURIComponent(name);

describe.each(Object.entries(JSON_ROUTES))('POST %s', (path, body) => {
  test.each(UNKNOWN)('refuses the unknown model %j', async (model) => {
    const refused = await refusalOf(await sendJson(path, { ...body, model }), path);
    expect(refused).toEqual({ code: 'model_not_found', param: 'model' });
  });

  test('refuses an empty, a very long and a wrong kind of name', async () => {
    for (const model of ['', VERY_LONG, ...NOT_A_NAME]) {
      const refused = await refusalOf(await sendJson(path, { ...body, model }), path);
      expect(refused.param).toBe('model');
    }
  });
});

describe.each(FORM_ROUTES)('POST %s as a form', (path) => {
  const [field, file] = path.includes('audio')
    ? ['file', new File(['sound'], 'a.mp3', { type: 'audio/mpeg' })]
    : ['image', new File(['picture'], 'a.png', { type: 'image/png' })];

  test('refuses an unknown, an empty and a very long name, and a file', async () => {
    const names = [...UNKNOWN, '', VERY_LONG, new File(['gpt-4o'], 'name.txt')];
    for (const model of names) {
      const form = new FormData();
      form.set(String(field), file as File);
      form.set('prompt', 'Hello');
      form.set('model', model);
      const refused = await refusalOf(await send(path, { method: 'POST', body: form }), path);
      expect(refused.param).toBe('model');
      if (UNKNOWN.includes(String(model))) expect(refused.code).toBe('model_not_found');
      // An empty name must not select the default model.
      if (model === '') expect(refused.code).toBe('invalid_request_error');
    }
  });
});

describe.each(PATH_ROUTES)('%s %s', (method, route, pathOf) => {
  test('refuses an unknown, an empty and a very long name', async () => {
    const none = route === 'the detail of a model' ? [] : [''];
    for (const name of [...UNKNOWN, ...none, 'gpt-4o'.repeat(1_000)]) {
      const path = pathOf(inPath(name));
      const response =
        method === 'GET' ? await send(path, { method }) : await sendJson(path, { contents });
      expect(await refusalOf(response, path)).toEqual({ code: 'model_not_found', param: 'model' });
    }
  });
});

test('a refused name calls no upstream', () => {
  expect(gateway.upstream.asked).toEqual([]);
});
