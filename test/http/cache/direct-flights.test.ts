/** Identical direct calls at the same time are one upstream call: embeddings, rerank, translations. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { type CachedWeir, startCachedWeir } from '../../support/cached-weir.ts';
import { until } from '../../support/until.ts';

setDefaultTimeout(120_000);

let world: CachedWeir;
beforeAll(async () => {
  world = await startCachedWeir();
});
afterAll(() => world.stop());

let prompts = 0;
const fresh = (directives: string) => {
  prompts += 1;
  return `Words ${prompts} [[sim ${directives}]]`;
};

interface Key {
  id: string;
  key: string;
}
const newKey = (limits: object = {}) =>
  world.manage<Key>('POST', '/api-keys', { name: 'one', ...limits });

async function usedOf({ id }: Key): Promise<number> {
  const { data } = await world.manage<{ data: { id: string; used_amount: number }[] }>(
    'GET',
    '/api-keys',
  );
  return data.find((each) => each.id === id)?.used_amount ?? 0;
}

type Sent = { path: string; headers: Record<string, string>; body: string | FormData };
const json = (path: string, body: object): Sent => ({
  ...{ path, headers: { 'content-type': 'application/json' } },
  body: JSON.stringify(body),
});

/** The request of each operation with some text, which the simulator reads its directives from. */
const REQUESTS: Record<string, (text: string) => Sent> = {
  embeddings: (input) => json('/v1/embeddings', { model: 'text-embedding-3-small', input }),
  rerank: (query) =>
    json('/v1/rerank', { model: 'rerank-v3.5', query, documents: ['one', 'two', query] }),
  'text translation': (text) =>
    json('/v1/translations', { model: 'deepl-translate', text, target_lang: 'DE' }),
  'audio translation': (prompt) => {
    const form = new FormData();
    form.set('file', new File([Buffer.alloc(16_000)], 'speech.wav'));
    form.set('model', 'whisper-1');
    form.set('prompt', prompt);
    return { path: '/v1/audio/translations', headers: {}, body: form };
  },
};

function send({ path, headers, body }: Sent, key: string, more: Record<string, string> = {}) {
  const client = new AbortController();
  const answer = fetch(world.weir.base_url + path, {
    method: 'POST',
    signal: client.signal,
    headers: { authorization: `Bearer ${key}`, ...headers, ...more },
    body,
  }).then(async (response) => ({
    status: response.status,
    cache: response.headers.get('x-weir-cache'),
    text: await response.text(),
  }));
  answer.catch(() => undefined);
  return { answer, leave: () => client.abort() };
}

const arrived = (before: number) =>
  until('the upstream has the call', async () => (await world.upstreamCalls()) > before);

describe.each(Object.entries(REQUESTS))('%s', (_, request) => {
  test('a herd is one upstream call; the first pays, and the others are hits', async () => {
    const text = fresh('latency_ms=500');
    const before = await world.upstreamCalls();
    const [first, others] = [await newKey(), await newKey()];
    const leader = send(request(text), first.key);
    await arrived(before);
    const herd = await Promise.all(
      Array.from({ length: 100 }, () => send(request(text), others.key).answer),
    );
    const led = await leader.answer;
    expect([led.status, led.cache]).toEqual([200, 'miss']);
    expect(await world.upstreamCalls()).toBe(before + 1);
    const content = (answer: string) => answer.replace(/"id":"[^"]*"/, '');
    for (const { status, cache, text: answer } of herd) {
      expect([status, cache, content(answer)]).toEqual([200, 'hit', content(led.text)]);
    }
    expect(await usedOf(first)).toBeGreaterThan(0);
    expect(await usedOf(others)).toBe(0);
    expect((await send(request(text), others.key).answer).cache).toBe('hit');
  });

  test('the first client leaves: the call goes on, and the next one pays', async () => {
    const text = fresh('latency_ms=800');
    const before = await world.upstreamCalls();
    const [first, second, third] = [await newKey(), await newKey(), await newKey()];
    const leader = send(request(text), first.key);
    await arrived(before);
    const followers = [send(request(text), second.key), send(request(text), third.key)];
    await Bun.sleep(200);
    leader.leave();
    const answers = await Promise.all(followers.map(({ answer }) => answer));
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(answers.map(({ cache }) => cache).sort()).toEqual(['hit', 'miss']);
    expect(await world.upstreamCalls()).toBe(before + 1);
    expect(await usedOf(first)).toBe(0);
    const paid = [await usedOf(second), await usedOf(third)];
    expect(paid.filter((amount) => amount > 0)).toHaveLength(1);
  });
});

const embed = REQUESTS['embeddings'] as (text: string) => Sent;

test('the first call passes its deadline: it gets a 504, and the next one the answer', async () => {
  const text = fresh('latency_ms=2500');
  const before = await world.upstreamCalls();
  const leader = send(embed(text), world.weir.api_key, { 'x-weir-timeout-ms': '1000' });
  await arrived(before);
  const follower = send(embed(text), world.weir.api_key);
  expect((await leader.answer).status).toBe(504);
  expect((await follower.answer).status).toBe(200);
  expect(await world.upstreamCalls()).toBe(before + 1);
});

test("one's 402 is its own; a failure is tried once more, together", async () => {
  const text = fresh('status=500 latency_ms=600 times=1');
  const before = await world.upstreamCalls();
  const leader = send(embed(text), world.weir.api_key);
  await arrived(before);
  const broke = await newKey({ limitAmount: 0 });
  const herd = Array.from({ length: 10 }, () => send(embed(text), world.weir.api_key).answer);
  expect((await send(embed(text), broke.key).answer).status).toBe(402);
  expect((await leader.answer).status).toBe(502);
  const states = (await Promise.all(herd)).map(({ status, cache }) => `${status} ${cache}`);
  expect(states.filter((state) => state === '200 hit')).toHaveLength(9);
  expect(await world.upstreamCalls()).toBe(before + 2);
});

test('if all clients leave, the upstream call ends and nothing is charged', async () => {
  const text = fresh('latency_ms=20000');
  const before = await world.upstreamCalls();
  const key = await newKey();
  const calls = [send(embed(text), key.key)];
  await arrived(before);
  calls.push(send(embed(text), key.key));
  await Bun.sleep(300);
  for (const call of calls) call.leave();
  await until('the calls have ended', async () => {
    const { data } = await world.manage<{ data: unknown[] }>(
      'GET',
      `/requests?api_key_id=${key.id}`,
    );
    return data.length === 2;
  });
  expect(await usedOf(key)).toBe(0);
});
