/** Identical calls at the same time are one upstream call, also if the first client leaves. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { type CachedWeir, startCachedWeir } from '../../support/cached-weir.ts';
import { until } from '../../support/until.ts';

setDefaultTimeout(120_000);

let world: CachedWeir;
beforeAll(async () => {
  world = await startCachedWeir();
});
afterAll(() => world.stop());

const PATH = '/v1/chat/completions';
let prompts = 0;
const fresh = (directives: string, more: object = {}) => {
  prompts += 1;
  const content = `Flight ${prompts} [[sim ${directives}]]`;
  return { model: 'gpt-4o', messages: [{ role: 'user', content }], ...more };
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

const textOf = (answer: string) =>
  answer.startsWith('{')
    ? JSON.parse(answer).choices[0].message.content
    : [...answer.matchAll(/^data: (\{.*)$/gm)]
        .map(([, json]) => JSON.parse(String(json)).choices[0]?.delta.content ?? '')
        .join('');
const idOf = (answer: string) => /"id":"(chatcmpl-[^"]+)"/.exec(answer)?.[1];

/** Waits until the simulator has one call more than `before`. */
const arrived = (before: number) =>
  until('the upstream has the call', async () => (await world.upstreamCalls()) > before);

/** Sends a call whose client can leave. */
function leaving(body: object, key: string) {
  const client = new AbortController();
  const answer = fetch(world.weir.base_url + PATH, {
    method: 'POST',
    signal: client.signal,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  answer.catch(() => undefined);
  return { answer, leave: () => client.abort() };
}

describe.each([
  ['whole', false],
  ['streamed', true],
])('%s', (_, stream) => {
  test('a herd of identical calls is one upstream call; one pays, and the others are hits', async () => {
    const body = fresh('tokens=20 latency_ms=300 chunk_ms=20', { stream });
    const before = await world.upstreamCalls();
    const first = await newKey();
    const leader = world.post(PATH, body, { key: first.key });
    await arrived(before);
    const others = await newKey();
    const herd = await Promise.all(
      Array.from({ length: 200 }, () => world.post(PATH, body, { key: others.key })),
    );
    const led = await leader;
    expect(led.cache).toBe('miss');
    expect(await world.upstreamCalls()).toBe(before + 1);
    for (const each of herd) {
      expect([each.status, each.cache]).toEqual([200, 'hit']);
      expect(textOf(each.text)).toBe(textOf(led.text));
      expect(each.text.endsWith('data: [DONE]\n\n')).toBe(stream);
    }
    expect(new Set([led, ...herd].map(({ text }) => idOf(text))).size).toBe(201);
    expect(await usedOf(first)).toBeGreaterThan(0);
    expect(await usedOf(others)).toBe(0);
  });

  test('the first client leaves: the call goes on, and the next one pays the rest', async () => {
    const body = fresh('tokens=60 latency_ms=600 chunk_ms=40', { stream });
    const before = await world.upstreamCalls();
    const [first, second, third] = [await newKey(), await newKey(), await newKey()];
    const leader = leaving(body, first.key);
    await arrived(before);
    const next = world.post(PATH, body, { key: second.key });
    const last = world.post(PATH, body, { key: third.key });
    if (stream) {
      const reader = (await leader.answer).body?.getReader();
      for (let read = 0; read < 6; read += 1) await reader?.read();
    }
    // On a busy machine, the others need a while to arrive.
    await Bun.sleep(400);
    leader.leave();
    const [answered, other] = await Promise.all([next, last]);
    expect(await world.upstreamCalls()).toBe(before + 1);
    expect(textOf(answered.text).length).toBeGreaterThan(60);
    expect(textOf(other.text)).toBe(textOf(answered.text));
    await until('all is charged', async () => (await usedOf(second)) + (await usedOf(third)) > 0);
    const paid = [await usedOf(first), await usedOf(second), await usedOf(third)];
    // A stream that the first client had in part: it paid that part, and another call the rest.
    expect(paid[0] === 0).toBe(!stream);
    expect(paid.filter((amount) => amount > 0)).toHaveLength(stream ? 2 : 1);
    const whole = await newKey();
    const cache_control = { type: 'no_cache' };
    await world.post(PATH, { ...body, cache_control }, { key: whole.key });
    const sum = paid.reduce((total, amount) => total + amount, 0);
    expect(sum).toBeCloseTo(await usedOf(whole), 8);
    const hit = await world.post(PATH, body);
    expect(hit.cache).toBe('hit');
    // Both calls that got the answer name the entry that later calls get.
    for (const [{ headers }, { key }] of [[answered, second] as const, [other, third] as const]) {
      const cache_entry_id = headers.get('x-request-id');
      const vote = { cache_entry_id, feedback_type: 'good' };
      const { text } = await world.post('/v1/cache/feedback', vote, { key });
      expect(JSON.parse(text).cache_entry_id).toBe(hit.entry_id);
    }
  });

  test('if all clients leave, the upstream call ends', async () => {
    const body = fresh('tokens=400 latency_ms=200 chunk_ms=50', { stream });
    const before = await world.upstreamCalls();
    const key = await newKey();
    const leader = leaving(body, key.key);
    await arrived(before);
    const follower = leaving(body, key.key);
    await Bun.sleep(300);
    leader.leave();
    follower.leave();
    await until('the calls have ended', async () => {
      const { data } = await world.manage<{ data: { outcome: string }[] }>(
        'GET',
        `/requests?api_key_id=${key.id}`,
      );
      return data.length === 2;
    });
    expect((await world.post(PATH, fresh('tokens=3'))).status).toBe(200);
  });
});

test("one's 402 is its own", async () => {
  const body = fresh('tokens=20 latency_ms=500');
  const before = await world.upstreamCalls();
  const leader = world.post(PATH, body);
  await arrived(before);
  const broke = await newKey({ limitAmount: 0 });
  const refused = await world.post(PATH, body, { key: broke.key });
  expect(refused.status).toBe(402);
  expect((await leader).status).toBe(200);
});

describe('the first call fails', () => {
  const herd = async (directives: string, more: object = {}) => {
    const body = fresh(directives, more);
    const before = await world.upstreamCalls();
    const leader = world.post(PATH, body);
    await arrived(before);
    const followers = Array.from({ length: 20 }, () => world.post(PATH, body));
    const { status } = await leader;
    const answers = await Promise.all(followers);
    return { status, answers, calls: (await world.upstreamCalls()) - before };
  };
  const count = (states: readonly (string | null)[], state: string | null) =>
    states.filter((each) => each === state).length;

  test.each([[false], [true]])(
    'its followers try once more, together; streamed: %p',
    async (stream) => {
      // The simulator counts the failures of the same directives, whatever else the prompt says.
      const directives = `status=500 latency_ms=${stream ? 450 : 350} times=1`;
      const { status, answers, calls } = await herd(directives, { stream });
      expect([status, calls]).toEqual([502, 2]);
      expect(answers.map((each) => each.status)).toEqual(Array(20).fill(200));
      const states = answers.map(({ cache }) => cache);
      expect([count(states, 'miss'), count(states, 'hit')]).toEqual([1, 19]);
    },
  );

  test('if that fails too, they get its error: a sick upstream gets two calls of a herd', async () => {
    const { status, answers, calls } = await herd('status=500 latency_ms=400');
    expect([status, calls]).toEqual([502, 2]);
    expect(answers.map((each) => each.status)).toEqual(Array(20).fill(502));
    const ids = answers.map(({ headers }) => headers.get('x-request-id'));
    expect(new Set(ids).size).toBe(20);
  });
});

test('a call with no_store has no followers, and may follow another one', async () => {
  const body = fresh('tokens=20 latency_ms=400');
  const before = await world.upstreamCalls();
  const unshared = world.post(PATH, { ...body, cache_control: { type: 'no_store' } });
  await arrived(before);
  const leader = world.post(PATH, body);
  await arrived(before + 1);
  const follower = await world.post(PATH, { ...body, cache_control: { type: 'no_store' } });
  expect([(await unshared).cache, (await leader).cache, follower.cache]).toEqual([
    ...['miss', 'miss', 'hit'],
  ]);
});

test('a call that little money may cut short has no followers', async () => {
  const body = fresh('tokens=20 latency_ms=500', { max_tokens: 4_000 });
  const before = await world.upstreamCalls();
  const poor = await newKey({ limitAmount: 0.0003 });
  const short = world.post(PATH, body, { key: poor.key });
  await arrived(before);
  const whole = await world.post(PATH, body);
  expect([(await short).status, whole.status, whole.cache]).toEqual([200, 200, 'miss']);
  expect(await world.upstreamCalls()).toBe(before + 2);
});

test('a call that waited for money finds what was stored meanwhile', async () => {
  const poor = await newKey({ limitAmount: 0.001 });
  const before = await world.upstreamCalls();
  const dear = fresh('tokens=20 latency_ms=1500', { max_tokens: 4_000 });
  const holder = world.post(PATH, dear, { key: poor.key });
  await arrived(before);
  const body = fresh('tokens=20');
  const waiting = world.post(PATH, body, { key: poor.key });
  // By then it has looked for an answer, and found none.
  await Bun.sleep(300);
  expect((await world.post(PATH, body)).cache).toBe('miss');
  expect([(await holder).status, (await waiting).cache]).toEqual([200, 'hit']);
  expect(await world.upstreamCalls()).toBe(before + 2);
});

test('the first call passes its deadline: it gets a 504, and the next one the answer', async () => {
  const body = fresh('tokens=20 latency_ms=2500');
  const before = await world.upstreamCalls();
  const leader = world.post(PATH, body, { headers: { 'x-weir-timeout-ms': '1000' } });
  await arrived(before);
  const follower = world.post(PATH, body);
  expect((await leader).status).toBe(504);
  expect((await follower).status).toBe(200);
  expect(await world.upstreamCalls()).toBe(before + 1);
});

test.each([
  [true, false],
  [false, true],
])('first streamed: %p, second streamed: %p', async (first, second) => {
  const body = fresh('tokens=20 latency_ms=300 chunk_ms=20');
  const before = await world.upstreamCalls();
  const leader = world.post(PATH, { ...body, stream: first });
  await arrived(before);
  const follower = await world.post(PATH, { ...body, stream: second });
  expect(follower.cache).toBe('hit');
  expect(textOf(follower.text)).toBe(textOf((await leader).text));
  expect(await world.upstreamCalls()).toBe(before + 1);
});

test('a follower of a stream has its first event before the last one', async () => {
  const body = fresh('tokens=60 chunk_ms=60', { stream: true });
  const before = await world.upstreamCalls();
  const leader = world.post(PATH, body);
  let isOver = false;
  void leader.then(() => {
    isOver = true;
  });
  await arrived(before);
  const follower = await fetch(world.weir.base_url + PATH, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${world.weir.api_key}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify(body),
  });
  await follower.body?.getReader().read();
  expect(isOver).toBe(false);
  await leader;
});
