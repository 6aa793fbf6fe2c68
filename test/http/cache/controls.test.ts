/** What a request may ask of the cache (spec: Cache controls), in its body or in a header. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { type CachedWeir, startCachedWeir } from '../../support/cached-weir.ts';

setDefaultTimeout(60_000);

let world: CachedWeir;
beforeAll(async () => {
  world = await startCachedWeir();
});
afterAll(() => world.stop());

const PATH = '/v1/chat/completions';
let prompts = 0;
/** A body that no other test sends. */
function fresh(more: object = {}) {
  prompts += 1;
  const content = `Control number ${prompts} [[sim tokens=5]]`;
  return { model: 'gpt-4o', messages: [{ role: 'user', content }], ...more };
}

describe.each([
  ['in the body', (type: string) => ({ body: { cache_control: { type } }, headers: {} })],
  ['in the header', (type: string) => ({ body: {}, headers: { 'x-weir-cache-control': type } })],
])('%s', (_, asks) => {
  const send = (body: object, type: string) => {
    const { body: more, headers } = asks(type);
    return world.post(PATH, { ...body, ...more }, { headers });
  };

  test('no_cache: the answer is fresh, and is not stored', async () => {
    const body = fresh();
    expect((await send(body, 'no_cache')).cache).toBe('bypass');
    expect((await world.post(PATH, body)).cache).toBe('miss');
    expect((await send(body, 'no_cache')).cache).toBe('bypass');
    expect((await world.post(PATH, body)).cache).toBe('hit');
  });

  test('no_store: an earlier answer is used, but this one is not stored', async () => {
    const body = fresh();
    expect((await send(body, 'no_store')).cache).toBe('miss');
    expect((await world.post(PATH, body)).cache).toBe('miss');
    expect((await send(body, 'no_store')).cache).toBe('hit');
  });

  test('response_only: also a call with a temperature is cached', async () => {
    const body = fresh({ temperature: 0.7 });
    expect((await world.post(PATH, body)).cache).toBe('bypass');
    expect((await send(body, 'response_only')).cache).toBe('miss');
    expect((await send(body, 'response_only')).cache).toBe('hit');
    expect((await world.post(PATH, body)).cache).toBe('bypass');
  });

  test('semantic_only: the exact cache is bypassed', async () => {
    const body = fresh();
    await world.post(PATH, body);
    expect((await send(body, 'semantic_only')).cache).toBe('bypass');
    expect((await world.post(PATH, body)).cache).toBe('hit');
  });

  test('another type is refused with the list', async () => {
    const refused = await send(fresh(), 'always');
    expect(refused.status).toBe(400);
    expect(refused.text).toContain('no_cache, no_store, response_only, semantic_only');
  });
});

test.each([
  ['/v1/messages', { model: 'claude-haiku-4-5', max_tokens: 9, messages: [] }],
  ['/v1/responses', { model: 'gpt-4o', input: 'x' }],
  ['/v1beta/models/gemini-2.5-flash:generateContent', { contents: [{ parts: [{ text: 'x' }] }] }],
  ['/v1/embeddings', { model: 'text-embedding-3-small', input: 'x' }],
  ['/v1/rerank', { model: 'rerank-v3.5', query: 'x', documents: ['a'] }],
  ['/v1/translations', { model: 'deepl-translate', text: 'x', target_lang: 'DE' }],
])('%s refuses an unknown type too', async (path, body) => {
  const filled = 'messages' in body ? { ...body, messages: fresh().messages } : body;
  const refused = await world.post(path, { ...filled, cache_control: { type: 'always' } });
  expect(refused.status).toBe(400);
  expect(refused.text).toContain('semantic_only');
});

test.each([
  ['/v1/embeddings', { model: 'text-embedding-3-small', input: 'controlled' }],
  ['/v1/rerank', { model: 'rerank-v3.5', query: 'controlled', documents: ['a', 'b'] }],
  ['/v1/translations', { model: 'deepl-translate', text: 'controlled', target_lang: 'DE' }],
])('%s takes the controls', async (path, body) => {
  const bypass = await world.post(path, { ...body, cache_control: { type: 'no_cache' } });
  expect([bypass.status, bypass.cache]).toEqual([200, 'bypass']);
  expect((await world.post(path, body)).cache).toBe('miss');
});

test("a vendor's cache_control passes untouched, in blocks and at the top", async () => {
  prompts += 1;
  const text = `Long context ${prompts} [[sim tokens=5]]`;
  const cache_control = { type: 'ephemeral' };
  const body = {
    ...{ model: 'claude-haiku-4-5', max_tokens: 50, cache_control },
    messages: [{ role: 'user', content: [{ type: 'text', text, cache_control }] }],
  };
  const first = await world.post('/v1/messages', body);
  expect([first.status, first.cache]).toEqual([200, 'miss']);
  expect((await world.post('/v1/messages', body)).cache).toBe('hit');
});

describe('temperature', () => {
  test.each([
    [{ temperature: 0 }, 'hit'],
    [{ temperature: null }, 'hit'],
    [{ temperature: 0.1 }, 'bypass'],
  ])('%p', async (more, expected) => {
    const body = fresh(more);
    await world.post(PATH, body);
    expect((await world.post(PATH, body)).cache).toBe(expected);
  });

  test('of Gemini is in its settings', async () => {
    const path = '/v1beta/models/gemini-2.5-flash:generateContent';
    const contents = [{ parts: [{ text: 'Warm words' }] }];
    const warm = { contents, generationConfig: { temperature: 1 } };
    expect((await world.post(path, warm)).cache).toBe('bypass');
    const cold = { contents, generationConfig: { temperature: 0 } };
    expect((await world.post(path, cold)).cache).toBe('miss');
    expect((await world.post(path, cold)).cache).toBe('hit');
  });
});

describe('never sent again', () => {
  const twice = async (body: object) => {
    const first = await world.post(PATH, body);
    const second = await world.post(PATH, body);
    return [first.status, second.status, second.cache];
  };
  const sim = (directive: string) => ({
    model: 'gpt-4o',
    messages: [{ role: 'user', content: `Never ${directive} [[sim ${directive}]]` }],
  });

  test('an answer that ended by its length', async () => {
    const body = { ...fresh(), max_tokens: 2 };
    expect(await twice(body)).toEqual([200, 200, 'miss']);
    expect(await twice({ ...body, stream: true })).toEqual([200, 200, 'miss']);
  });

  test('an error', async () => {
    expect(await twice(sim('status=400'))).toEqual([400, 400, null]);
    expect(await twice(sim('status=500 times=1'))).toEqual([502, 200, 'miss']);
  });

  test('a stream that was cut off', async () => {
    const body = { ...sim('tokens=40 truncate_after=5 times=1'), stream: true };
    const [, , cache] = await twice(body);
    expect(cache).toBe('miss');
  });
});

test('a repeat with an Idempotency-Key is the repeat, also of an answer from the cache', async () => {
  const body = fresh();
  await world.post(PATH, body);
  const headers = { 'idempotency-key': `repeat-${prompts}` };
  const hit = await world.post(PATH, { ...body, stream: true }, { headers });
  expect(hit.cache).toBe('hit');
  const repeat = await world.post(PATH, { ...body, stream: true }, { headers });
  expect([repeat.cache, repeat.headers.get('idempotent-replayed')]).toEqual([null, 'true']);
  expect(repeat.text).toBe(hit.text);
});
