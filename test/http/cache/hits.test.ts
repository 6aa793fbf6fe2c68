/**
 * The second identical call is a hit: free, with the same content and ids of its own, in every protocol,
 * streamed or not.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { type Answered, type CachedWeir, startCachedWeir } from '../../support/cached-weir.ts';

setDefaultTimeout(60_000);

let world: CachedWeir;
beforeAll(async () => {
  world = await startCachedWeir();
});
afterAll(() => world.stop());

/** The routes, with a body and a stream of each. */
const CHATS: Record<string, (prompt: string, stream: boolean) => [path: string, body: object]> = {
  chat: (content, stream) => [
    '/v1/chat/completions',
    { model: 'gpt-4o', messages: [{ role: 'user', content }], stream },
  ],
  'chat, translated': (content, stream) => [
    '/v1/chat/completions',
    { model: 'claude-haiku-4-5', messages: [{ role: 'user', content }], stream },
  ],
  messages: (content, stream) => [
    '/v1/messages',
    {
      ...{ model: 'claude-haiku-4-5', max_tokens: 500 },
      ...{ messages: [{ role: 'user', content }], stream },
    },
  ],
  'messages, translated': (content, stream) => [
    '/v1/messages',
    { model: 'gpt-4o', max_tokens: 500, messages: [{ role: 'user', content }], stream },
  ],
  responses: (input, stream) => ['/v1/responses', { model: 'gpt-4o', input, stream }],
  'responses, translated': (input, stream) => [
    '/v1/responses',
    { model: 'claude-haiku-4-5', input, stream },
  ],
  Gemini: (text, stream) => [
    `/v1beta/models/gemini-2.5-flash:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    { contents: [{ role: 'user', parts: [{ text }] }] },
  ],
};

const DIRECT: Record<string, (text: string) => [path: string, body: object]> = {
  embeddings: (input) => ['/v1/embeddings', { model: 'text-embedding-3-small', input }],
  rerank: (query) => [
    '/v1/rerank',
    { model: 'rerank-v3.5', query, documents: ['one', 'two', 'three'] },
  ],
  'text translation': (text) => [
    '/v1/translations',
    { model: 'deepl-translate', text, target_lang: 'DE' },
  ],
};

/** Returns the data of all events of a stream, or the whole answer. */
function valuesOf({ text }: Answered): Record<string, unknown>[] {
  if (text.startsWith('{')) return [JSON.parse(text)];
  return text
    .split('\n\n')
    .map((event) => event.slice(event.indexOf('data: ') + 6))
    .filter((data) => data.startsWith('{'))
    .map((data) => JSON.parse(data));
}

/** Returns all text that a model wrote, wherever a protocol puts it. */
function said(value: unknown): string {
  if (Array.isArray(value)) return value.map(said).join('');
  if (typeof value !== 'object' || value === null) return '';
  const { type } = value as { type?: string };
  // A stream of responses tells each text three times.
  if (type?.startsWith('response.') && !type.endsWith('.delta')) return '';
  return Object.entries(value)
    .map(([name, member]) =>
      typeof member === 'string' && ['content', 'text', 'delta'].includes(name)
        ? member
        : said(member),
    )
    .join('');
}

const idsOf = (answered: Answered) => [
  ...new Set(
    [...answered.text.matchAll(/"(?:id|responseId)"\s*:\s*"([^"]+)"/g)].map(([, id]) => id),
  ),
];

describe.each(Object.entries(CHATS))('%s', (name, request) => {
  test.each([
    [false, false],
    [false, true],
    [true, false],
    [true, true],
  ])('first streamed: %p, second streamed: %p', async (first, second) => {
    const prompt = `${name} ${first} ${second} [[sim tokens=12]]`;
    const calls = await world.upstreamCalls();
    const original = await world.post(...request(prompt, first));
    expect([original.status, original.cache, original.entry_id]).toEqual([200, 'miss', null]);
    const replay = await world.post(...request(prompt, second));
    expect([replay.status, replay.cache]).toEqual([200, 'hit']);
    expect(await world.upstreamCalls()).toBe(calls + 1);
    expect(replay.entry_id).toMatch(/^ce_[0-9a-f]{32}$/);
    expect(Number(replay.age)).toBeLessThan(30);
    expect(said(valuesOf(replay)).length).toBeGreaterThan(20);
    expect(said(valuesOf(replay))).toBe(said(valuesOf(original)));
    expect(idsOf(replay).length).toBeGreaterThan(0);
    expect(idsOf(original).filter((id) => idsOf(replay).includes(id))).toEqual([]);
    expect(replay.headers.get('content-type')).toStartWith(
      second ? 'text/event-stream' : 'application/json',
    );
    expect(replay.text).not.toContain('SIM');
    const again = await world.post(...request(prompt, second));
    expect(idsOf(again).filter((id) => idsOf(replay).includes(id))).toEqual([]);
  });
});

describe.each(Object.entries(DIRECT))('%s', (name, request) => {
  test('the second call is a hit', async () => {
    const calls = await world.upstreamCalls();
    const original = await world.post(...request(`words of ${name}`));
    expect([original.status, original.cache]).toEqual([200, 'miss']);
    const replay = await world.post(...request(`words of ${name}`));
    expect([replay.status, replay.cache]).toEqual([200, 'hit']);
    expect(await world.upstreamCalls()).toBe(calls + 1);
    const content = ({ text }: Answered) => {
      const { id: _, ...rest } = JSON.parse(text);
      return rest;
    };
    expect(content(replay)).toEqual(content(original));
    const other = await world.post(...request(`other words of ${name}`));
    expect(other.cache).toBe('miss');
  });
});

test('audio translation: the second identical form is a hit, another file is not', async () => {
  const send = async (seconds: number) => {
    const form = new FormData();
    form.set('file', new File([Buffer.alloc(8_000 * seconds)], 'speech.wav'));
    form.set('model', 'whisper-1');
    const response = await fetch(`${world.weir.base_url}/v1/audio/translations`, {
      method: 'POST',
      headers: { authorization: `Bearer ${world.weir.api_key}` },
      body: form,
    });
    return [response.status, response.headers.get('x-weir-cache'), await response.text()];
  };
  const [status, cache, text = null] = await send(2);
  expect([status, cache]).toEqual([200, 'miss']);
  expect(await send(2)).toEqual([200, 'hit', text]);
  expect((await send(3)).slice(0, 2)).toEqual([200, 'miss']);
});

test('a hit is free, and on record with what it saved', async () => {
  const { id, key } = await world.manage<{ id: string; key: string }>('POST', '/api-keys', {
    name: 'free',
  });
  const body = { model: 'gpt-4o', messages: [{ role: 'user', content: 'Who pays?' }] };
  const used = async () => {
    const { data } = await world.manage<{ data: { id: string; used_amount: number }[] }>(
      'GET',
      '/api-keys',
    );
    return data.find((each) => each.id === id)?.used_amount ?? 0;
  };
  await world.post('/v1/chat/completions', body, { key });
  const paid = await used();
  expect(paid).toBeGreaterThan(0);
  const hit = await world.post('/v1/chat/completions', body, { key });
  expect(hit.cache).toBe('hit');
  expect(await used()).toBe(paid);
  const request_id = hit.headers.get('x-request-id');
  type Record = { outcome: string; amount: number; saved: number; cache_entry_id: string };
  let record: Record | undefined;
  while (record?.outcome !== 'cached') {
    record = await world.manage<Record>('GET', `/requests/${request_id}`);
  }
  expect(record).toMatchObject({ outcome: 'cached', amount: 0, cache_entry_id: hit.entry_id });
  expect(record.saved).toBe(paid);
});
