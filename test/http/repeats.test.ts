/**
 * P7: every POST route that costs money accepts `Idempotency-Key`. A repeat gets the first answer,
 * and there is one charge.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { createApp } from '../../src/http/app.ts';
import type { AppDeps } from '../../src/http/routes.ts';
import { errorOf } from '../support/envelope.ts';
import { FREE_ROUTES, PAID_ROUTES, type PaidRoute } from '../support/paid-routes.ts';
import { type Received, RepeatWorld } from '../support/repeat-world.ts';
import { until } from '../support/until.ts';

setDefaultTimeout(120_000);

let world: RepeatWorld;
beforeAll(async () => {
  world = await RepeatWorld.start();
});
afterAll(() => world.stop());

const rows = PAID_ROUTES.map((route) => [route.name, route] as const);

/** The part of an answer that every repeat must have. A task or a batch goes on after its creation. */
function sameOf({ kind }: PaidRoute, { text }: Received): unknown {
  if (kind === 'call') return text;
  const { id, created, data } = JSON.parse(text);
  // The address of an image is signed anew for each answer.
  if (data?.[0]?.url) return String(data[0].url).replace(/\?.*/, '');
  return [id, created];
}

const CODES = { reused: 'idempotency_key_reused', in_use: 'idempotency_key_in_use' };

test('every POST route of the app is in the table, or charges nothing', () => {
  const paths = createApp({} as AppDeps)
    .routes.filter(({ method }) => method === 'POST')
    .map(({ path }) => path);
  expect(paths.length).toBeGreaterThan(20);
  const paid = new Set(PAID_ROUTES.map(({ route }) => route));
  expect(paths.filter((path) => !FREE_ROUTES.test(path) && !paid.has(path))).toEqual([]);
});

describe.each(rows)('%s', (_, route) => {
  test('P7: ten repeats, one after the other and at once, get one answer and one charge', async () => {
    const { id, key } = await world.newKey();
    const since = await world.lastCall();
    const text = `Hello [[sim tokens=12]] ${route.name}`;
    const idempotency_key = 'order-1';
    const send = () => world.receive(route.path, route.body(text), { idempotency_key, key });
    const at_once = await Promise.all([send(), send(), send(), send(), send()]);
    const accepted = at_once.filter(({ status }) => status === 200);
    expect(accepted.length).toBeGreaterThan(0);
    for (const { status, text } of at_once) {
      if (status !== 200) expect({ status, text }).toMatchObject({ status: 409 });
    }
    for (let repeat = 0; repeat < 5; repeat += 1) accepted.push(await send());
    const same = accepted.map((answer) => sameOf(route, answer));
    expect(new Set(same.map((each) => JSON.stringify(each))).size).toBe(1);
    const last = accepted.at(-1);
    if (route.kind === 'call') {
      expect(last?.headers.get('idempotent-replayed')).toBe('true');
      expect(last?.headers.get('content-type')).toBe(
        accepted[0]?.headers.get('content-type') ?? '',
      );
      expect(last?.headers.get('x-request-id')).not.toBe(accepted[0]?.headers.get('x-request-id'));
    }
    await until('the call is charged', async () => (await world.chargesOf(id)) > 0);
    expect(await world.chargesOf(id)).toBe(1);
    if (route.kind === 'call') expect(await world.callsSince(since)).toBe(1);
  });

  test('422: another body under the same key is refused', async () => {
    const { id, key } = await world.newKey();
    const idempotency_key = 'order-2';
    const sent = { idempotency_key, key };
    expect((await world.receive(route.path, route.body('One'), sent)).status).toBe(200);
    const other = await world.receive(route.path, route.body('Two'), sent);
    expect({ ...other, headers: 0 }).toMatchObject({ status: 422 });
    expect(other.text).toContain(CODES.reused);
    if (route.kind === 'call') expect(await world.chargesOf(id)).toBe(1);
  });

  test('another API key of the organization gets its own answer', async () => {
    const [one, two] = [await world.newKey(), await world.newKey()];
    const body = () => route.body('The same request');
    const idempotency_key = 'order-3';
    const first = await world.receive(route.path, body(), { idempotency_key, key: one.key });
    const second = await world.receive(route.path, body(), { idempotency_key, key: two.key });
    expect([first.status, second.status]).toEqual([200, 200]);
    expect(second.headers.get('idempotent-replayed')).toBeNull();
    if (route.kind !== 'call') expect(sameOf(route, second)).not.toEqual(sameOf(route, first));
    for (const { id } of [one, two]) {
      if (route.kind === 'call') expect(await world.chargesOf(id)).toBe(1);
    }
  });

  test('a refusal before money was reserved is not kept', async () => {
    // A batch is created without money. Its requests are refused later.
    if (route.kind === 'batch') return;
    const { id, key } = await world.newKey({ limitAmount: 1e-9 });
    const body = () => route.body('Hello '.repeat(50));
    const idempotency_key = 'order-4';
    const refused = await world.receive(route.path, body(), { idempotency_key, key });
    expect(refused.status).toBe(402);
    await world.manage('PATCH', `/api-keys/${id}`, { limitAmount: 50 });
    const served = await world.receive(route.path, body(), { idempotency_key, key });
    expect({ ...served, headers: 0 }).toMatchObject({ status: 200 });
    expect(served.headers.get('idempotent-replayed')).toBeNull();
  });
});

const calls = rows.filter(([, { kind }]) => kind === 'call');

describe.each(calls)('%s', (_, route) => {
  // The books of the provider must not get calls of earlier tests.
  beforeAll(() => world.idle());

  test('a refusal by the provider charges nothing and is not kept', async () => {
    const { id, key } = await world.newKey();
    const sent = { idempotency_key: 'order-5', key };
    const body = () => route.body('Hello [[sim status=400]]');
    const since = await world.lastCall();
    for (const _ of ['first', 'repeat']) {
      const refused = await world.receive(route.path, body(), sent);
      expect(refused.status).toBe(400);
      expect(refused.headers.get('idempotent-replayed')).toBeNull();
    }
    expect(await world.callsSince(since)).toBe(2);
    expect(await world.chargesOf(id)).toBe(0);
  });

  test('P7: a client that leaves does not stop the call; its repeat gets the answer, one charge', async () => {
    const { id, key } = await world.newKey();
    const since = await world.lastCall();
    const sent = { idempotency_key: 'order-6', key };
    const body = () => route.body('Hello [[sim tokens=6 latency_ms=700]]');
    const client = new AbortController();
    const first = world.receive(route.path, body(), { ...sent, signal: client.signal });
    first.catch(() => undefined);
    await until('the provider has the call', async () => (await world.callsSince(since)) === 1);
    client.abort();
    await expect(first).rejects.toThrow();
    const repeat = await world.receiveAtLast(route.path, body, sent);
    expect({ ...repeat, headers: 0 }).toMatchObject({ status: 200 });
    expect(repeat.headers.get('idempotent-replayed')).toBe('true');
    expect(await world.callsSince(since)).toBe(1);
    expect(await world.chargesOf(id)).toBe(1);
  });
});

describe.each(calls.filter(([name]) => name.endsWith('streamed')))('%s', (_, route) => {
  test('P7: a stream cut in its middle by the client and repeated: the same events from the first, one charge', async () => {
    const { id, key } = await world.newKey();
    const since = await world.lastCall();
    const sent = { idempotency_key: 'order-7', key };
    const body = () => route.body('Hello [[sim tokens=20 chunk_ms=40]]');
    const client = new AbortController();
    const response = await world.post(route.path, body(), { ...sent, signal: client.signal });
    const reader = response.body?.getReader();
    let begin = '';
    // The client reads a few events, and leaves while the provider still sends.
    while (begin.split('\n\n').length < 4) {
      begin += Buffer.from((await reader?.read())?.value ?? []).toString('latin1');
    }
    client.abort();
    const repeat = await world.receiveAtLast(route.path, body, sent);
    expect(repeat.status).toBe(200);
    expect(repeat.text.startsWith(begin)).toBe(true);
    expect(repeat.text.length).toBeGreaterThan(begin.length);
    expect(repeat.text).not.toContain('"error":{');
    expect(await world.callsSince(since)).toBe(1);
    expect(await world.chargesOf(id)).toBe(1);
    const [line] = await world.database.sql`select outcome from usage_line where key_id = ${id}`;
    expect(line?.['outcome']).toBe('completed');
  });

  test('a repeat while the stream runs gets 409 with retry_after', async () => {
    const { key } = await world.newKey();
    const sent = { idempotency_key: 'order-8', key };
    const body = () => route.body('Hello [[sim tokens=10 chunk_ms=100]]');
    const response = await world.post(route.path, body(), sent);
    const repeat = await world.post(route.path, body(), sent);
    expect(repeat.status).toBe(409);
    expect(repeat.headers.get('retry-after')).toBe('1');
    expect(repeat.headers.get('x-should-retry')).toBe('true');
    expect(await repeat.text()).toContain(CODES.in_use);
    await response.text();
  });

  test('a stream that broke is charged for its part, and the repeat is the same broken stream', async () => {
    const { id, key } = await world.newKey();
    const since = await world.lastCall();
    const sent = { idempotency_key: 'order-9', key };
    const body = () => route.body('Hello [[sim tokens=20 truncate_after=6]]');
    const first = await world.receive(route.path, body(), sent);
    expect(first.text).toContain('error');
    const repeat = await world.receive(route.path, body(), sent);
    expect(repeat.text).toBe(first.text);
    expect(await world.callsSince(since)).toBe(1);
    expect(await world.chargesOf(id)).toBe(1);
  });
});

test('504: the deadline of a client ends the call; nothing is charged, and a repeat runs anew', async () => {
  const { id, key } = await world.newKey();
  const body = (text: string) => ({ model: 'gpt-4o', messages: [{ role: 'user', content: text }] });
  const sent = { idempotency_key: 'order-10', key, headers: { 'x-weir-timeout-ms': '1000' } };
  const late = body('Hello [[sim latency_ms=2500]]');
  const first = await world.receive('/v1/chat/completions', late, sent);
  expect(first.status).toBe(504);
  expect(await world.chargesOf(id)).toBe(0);
  const repeat = await world.receive('/v1/chat/completions', late, { ...sent, headers: {} });
  expect(repeat.status).toBe(200);
  expect(repeat.headers.get('idempotent-replayed')).toBeNull();
  expect(await world.chargesOf(id)).toBe(1);
});

test('400: an Idempotency-Key with other characters than visible ASCII', async () => {
  const response = await world.post(
    '/v1/chat/completions',
    { model: 'gpt-4o', messages: [{ role: 'user', content: 'Hello' }] },
    { idempotency_key: 'two words' },
  );
  expect((await errorOf(response, 400)).param).toBe('Idempotency-Key');
});
