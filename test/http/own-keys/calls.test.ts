/** Calls on own keys of an organization: whose account serves them, what they cost, who may use them. */
import {
  afterAll,
  afterEach,
  beforeAll,
  describe,
  expect,
  setDefaultTimeout,
  test,
} from 'bun:test';
import { errorOf } from '../../support/envelope.ts';
import { type Line, OWN_CANARY, OwnKeysWorld } from '../../support/own-keys-world.ts';
import { until } from '../../support/until.ts';

setDefaultTimeout(90_000);

let world: OwnKeysWorld;
beforeAll(async () => {
  world = await OwnKeysWorld.start({ fee_share: 0.25 });
});
afterAll(() => world.stop());
afterEach(() => world.clear());

/** The fee of a list price: a quarter, rounded up to a nano-USD. */
const feeOf = (list_price: number) => Math.ceil(Math.round(list_price * 1e9) / 4) / 1e9;

describe('a call on an own key', () => {
  const IMAGE = { model: 'gpt-image-2', prompt: 'a fox [[sim task_ms=50]]' };
  const ROUTES: [name: string, path: string, body: object, models: object, protocol: string][] = [
    ['chat', '/v1/chat/completions', { model: 'gpt-4o', stream: false }, {}, 'openai'],
    ['a stream', '/v1/chat/completions', { model: 'gpt-4o', stream: true }, {}, 'openai'],
    [
      ...(['embeddings', '/v1/embeddings'] as const),
      { model: 'text-embedding-3-small', input: 'hello' },
      ...([{ 'text-embedding-3-small': 'text-embedding-3-small' }, 'openai'] as const),
    ],
    [
      ...(['pictures', '/v1/images/generations', IMAGE] as const),
      ...([{ 'gpt-image-2': 'gpt-image-2' }, 'openai-images'] as const),
    ],
  ];

  test.each(ROUTES)(
    '%s: is served by it, and costs the fee',
    async (_, path, body, models, protocol) => {
      const isChat = path.includes('chat');
      await world.add({ protocol, models: isChat ? { 'gpt-4o': 'gpt-4o' } : models });
      const messages = [{ role: 'user', content: 'hi [[sim tokens=50]]' }];
      const asked = isChat ? { ...body, messages } : body;
      const response = await world.send(world.home.api_key, 'POST', path, asked);
      expect([response.status, await response.text()]).toEqual([200, expect.any(String)]);
      const line = await world.lineOf(response);
      expect(line.access_channel).toBe('byok');
      expect(line.list_price).toBeGreaterThan(0);
      expect(line.amount).toBe(feeOf(line.list_price));
      expect(await world.served()).toBe(1);
      expect(await world.served(`platform-${protocol}`)).toBe(0);
    },
  );

  test('a video is a task on it, and costs the fee', async () => {
    await world.add({
      ...{ protocol: 'kling', base_url: `${world.simulator.url}/kling` },
      models: { 'kling-3.0': 'kling-v3' },
    });
    const response = await world.send(world.home.api_key, 'POST', '/v1/videos/generations', {
      ...{ model: 'kling-3.0', prompt: 'a fox [[sim task_ms=50]]', duration: 5 },
    });
    const text = await response.text();
    expect([response.status, text]).toEqual([200, expect.any(String)]);
    const line = await until('the task is charged', async () => {
      const { data } = await world.manage<{ data: { scene: string; outcome: string }[] }>(
        ...(['GET', '/usage?scene=video'] as const),
      );
      return data.find(({ outcome }) => outcome === 'completed');
    });
    const { access_channel, list_price, amount } = line as never as {
      access_channel: string;
      list_price: number;
      amount: number;
    };
    expect(access_channel).toBe('byok');
    expect(list_price).toBeGreaterThan(0);
    expect(amount).toBe(feeOf(list_price));
    expect(await world.served()).toBe(1);
  });

  test('the platform serves it for an organization without an own key', async () => {
    await world.add();
    const response = await world.chat({}, world.away);
    await response.text();
    const line = await world.lineOf(response, world.away);
    expect([line.access_channel, line.amount]).toEqual(['platform', line.list_price]);
    expect(await world.served()).toBe(0);
    expect(await world.served('platform-openai')).toBe(1);
  });

  test('the platform serves the models that no own key serves', async () => {
    await world.add();
    const response = await world.chat({ model: 'claude-haiku-4-5' });
    await response.text();
    expect((await world.lineOf(response)).access_channel).toBe('platform');
  });

  test('sums and filters of usage tell own keys from the platform', async () => {
    await world.add();
    const own = await world.chat();
    await own.text();
    const other = await world.chat({ model: 'claude-haiku-4-5' });
    await other.text();
    const line = await world.lineOf(own);
    await world.lineOf(other);
    const { data } = await world.manage<{ data: { access_channel: string }[] }>(
      ...(['GET', '/usage?accessChannel=byok'] as const),
    );
    expect(new Set(data.map(({ access_channel }) => access_channel))).toEqual(new Set(['byok']));
    const call = await world.manage<{ charge: { lines: { kind: string; amount: string }[] } }>(
      ...(['GET', `/requests/${line.request_id}`] as const),
    );
    const kinds = call.charge.lines.map(({ kind }) => kind);
    expect(kinds).toContain('own key');
    const sum = call.charge.lines.reduce((total, { amount }) => total + Number(amount), 0);
    expect(sum).toBeCloseTo(line.amount, 12);
  });

  test('used_amount of the key is the sum of what is counted', async () => {
    await world.add();
    for (const stream of [true, false]) await (await world.chat({ stream })).text();
    const { data } = await world.manage<{ data: { counted: number }[] }>('GET', '/usage?limit=100');
    const { used_amount } = await world.manage<{ used_amount: number }>(
      ...(['GET', `/api-keys/${world.home.key_id}`] as const),
    );
    expect(used_amount).toBeCloseTo(
      data.reduce((sum, { counted }) => sum + counted, 0),
      9,
    );
  });
});

describe('a model that no channel of the platform serves', () => {
  const models = { 'gpt-4o': 'gpt-4o', 'gpt-4o-mini': 'gpt-4o-mini' };
  const listed = async (owner = world.home) => {
    const response = await world.send(owner.api_key, 'GET', '/v1/models');
    const { data } = (await response.json()) as { data: { id: string }[] };
    return data.map(({ id }) => id);
  };

  test('exists for the organization whose own key serves it, and for nobody else', async () => {
    expect((await errorOf(await world.chat({ model: 'gpt-4o-mini' }), 400)).code).toBe(
      'model_not_found',
    );
    const { id } = await world.add({ models });
    const response = await world.chat({ model: 'gpt-4o-mini' });
    expect([response.status, await response.text()]).toEqual([200, expect.any(String)]);
    const line = await world.lineOf(response);
    expect(line).toMatchObject({ access_channel: 'byok', logical_model: 'gpt-4o-mini' });
    expect(line.list_price).toBeGreaterThan(0);
    expect(await listed()).toContain('gpt-4o-mini');
    // P6: another organization sees nothing of it.
    expect(await listed(world.away)).not.toContain('gpt-4o-mini');
    const stranger = await errorOf(await world.chat({ model: 'gpt-4o-mini' }, world.away), 400);
    expect(stranger.code).toBe('model_not_found');
    await world.manage('POST', `/upstream-keys/${id}/revoke`, {});
    expect((await errorOf(await world.chat({ model: 'gpt-4o-mini' }), 400)).code).toBe(
      'model_not_found',
    );
  });

  test('may be in the list of models of an API key', async () => {
    await world.add({ models });
    const { key } = await world.manage<{ key: string }>('POST', '/api-keys', {
      ...{ name: 'k', models: ['gpt-4o-mini'] },
    });
    const owner = { ...world.home, api_key: key };
    expect((await world.chat({ model: 'gpt-4o-mini' }, owner)).status).toBe(200);
    expect((await errorOf(await world.chat({}, owner), 403)).code).toBe('model_not_allowed');
  });

  test('a video, too', async () => {
    await world.add({
      ...{ protocol: 'runway', base_url: `${world.simulator.url}/runway` },
      models: { 'runway-gen4.5': 'gen4.5' },
    });
    const response = await world.send(world.home.api_key, 'POST', '/v1/videos/generations', {
      ...{ model: 'runway-gen4.5', prompt: 'a fox [[sim task_ms=50]]', duration: 5 },
    });
    expect([response.status, await response.text()]).toEqual([200, expect.any(String)]);
    const line = await until('the task is charged', async () => {
      const path = '/usage?logicalModel=runway-gen4.5';
      const { data } = await world.manage<{ data: Line[] }>('GET', path);
      return data.find(({ outcome }) => outcome === 'completed');
    });
    expect(line.amount).toBe(feeOf(line.list_price));
  });
});

describe('only: the platform’s money is not used', () => {
  test('503: a call whose own key fails is refused, and costs nothing', async () => {
    await world.add();
    await world.simulator.setAccount(OWN_CANARY, { status: 500 });
    const response = await world.chat();
    expect(response.status).toBeGreaterThanOrEqual(500);
    await response.text();
    expect(await world.served('platform-openai')).toBe(0);
  });

  test('a revoked key no longer serves, and then the platform does', async () => {
    const { id } = await world.add();
    await world.manage('POST', `/upstream-keys/${id}/revoke`, {});
    const response = await world.chat();
    await response.text();
    expect((await world.lineOf(response)).access_channel).toBe('platform');
    expect(await world.served()).toBe(0);
  });

  test('a task whose own key was revoked never runs on the platform', async () => {
    const { id } = await world.add({
      ...{ protocol: 'kling', base_url: `${world.simulator.url}/kling` },
      models: { 'kling-3.0': 'kling-v3' },
    });
    await world.simulator.setAccount(OWN_CANARY, { status: 503 });
    const created = await world.send(world.home.api_key, 'POST', '/v1/videos/generations', {
      ...{ model: 'kling-3.0', prompt: 'a fox [[sim task_ms=50]]', duration: 5 },
    });
    expect([created.status, await created.text()]).toEqual([200, expect.any(String)]);
    await world.manage('POST', `/upstream-keys/${id}/revoke`, {});
    await Bun.sleep(3_000);
    expect(await world.served('platform-kling')).toBe(0);
    const [held] = await world.database.sql`
      select hold_nano_usd, own_only from task order by created_at desc limit 1`;
    expect(held?.['own_only']).toBe(true);
  });
});

describe('first: the platform takes over, at the list price', () => {
  test.each([false, true])('a call whose own key fails, stream: %p', async (stream) => {
    await world.add();
    await world.choose('first');
    await world.simulator.setAccount(OWN_CANARY, { status: 500 });
    const response = await world.chat({ stream });
    expect([response.status, await response.text()]).toEqual([200, expect.any(String)]);
    const line = await world.lineOf(response);
    expect([line.access_channel, line.amount]).toEqual(['platform', line.list_price]);
    expect(await world.served('platform-openai')).toBe(1);
  });

  test('an own key that works is used, not the platform', async () => {
    await world.add();
    await world.choose('first');
    const response = await world.chat();
    await response.text();
    expect((await world.lineOf(response)).access_channel).toBe('byok');
    expect(await world.served('platform-openai')).toBe(0);
  });

  test('a video whose own key is refused, too', async () => {
    await world.add({
      ...{ protocol: 'kling', base_url: `${world.simulator.url}/kling` },
      models: { 'kling-3.0': 'kling-v3' },
    });
    await world.choose('first');
    await world.simulator.setAccount(OWN_CANARY, { revoked: true });
    const response = await world.send(world.home.api_key, 'POST', '/v1/videos/generations', {
      ...{ model: 'kling-3.0', prompt: 'a fox [[sim task_ms=50]]', duration: 5 },
    });
    expect([response.status, await response.text()]).toEqual([200, expect.any(String)]);
    await until('the platform served it', async () => (await world.served('platform-kling')) === 1);
  });

  test('a client error of the provider is the client’s, and nobody else is asked', async () => {
    await world.add();
    await world.choose('first');
    const response = await world.chat({ temperature: 99 });
    expect(response.status).toBeLessThan(500);
    await response.text();
    expect(await world.served('platform-openai')).toBe(0);
  });
});

describe('limits apply to calls on own keys', () => {
  const newKey = (body: object) =>
    world.manage<{ id: string; key: string }>('POST', '/api-keys', { name: 'k', ...body });
  const call = (key: string, more: object = {}) =>
    world.chat(more, { ...world.home, api_key: key });

  test('403: a model that the key may not call', async () => {
    await world.add();
    const { key } = await newKey({ models: ['claude-haiku-4-5'] });
    expect((await errorOf(await call(key), 403)).code).toBe('model_not_allowed');
    expect(await world.served()).toBe(0);
  });

  test('402: a key whose cap is 0', async () => {
    await world.add();
    const { key } = await newKey({ limitAmount: 0 });
    expect((await errorOf(await call(key), 402)).code).toBe('quota_exceeded');
    expect(await world.served()).toBe(0);
  });

  test('a cap counts what is charged, and is never exceeded', async () => {
    await world.add();
    const { id, key } = await newKey({ limitAmount: 0.00002 });
    const statuses = await Promise.all(
      Array.from({ length: 12 }, async () => {
        const response = await call(key, { max_tokens: 20 });
        await response.text();
        return response.status;
      }),
    );
    expect(statuses).toContain(200);
    const { used_amount } = await world.manage<{ used_amount: number }>('GET', `/api-keys/${id}`);
    expect(used_amount).toBeLessThanOrEqual(0.00002);
    expect(used_amount).toBeGreaterThan(0);
  });

  test('a cap that counts list prices ends calls that cost less', async () => {
    await world.add();
    const limitAmount = 0.0004;
    const { id, key } = await newKey({ limitAmount, cap_counts: 'list' });
    const lines: Line[] = [];
    let refused = 0;
    for (let calls = 0; calls < 20 && refused === 0; calls += 1) {
      const response = await call(key, { max_tokens: 20, stream: calls % 2 === 0 });
      await response.text();
      if (response.status === 200) lines.push(await world.lineOf(response));
      else refused = response.status;
    }
    expect(refused).toBe(402);
    expect(lines.length).toBeGreaterThan(1);
    for (const line of lines) {
      expect(line).toMatchObject({ access_channel: 'byok', counted: line.list_price });
      expect(line.amount).toBe(feeOf(line.list_price));
    }
    const { used_amount } = await world.manage<{ used_amount: number }>('GET', `/api-keys/${id}`);
    expect(used_amount).toBeLessThanOrEqual(limitAmount);
    expect(used_amount).toBeCloseTo(
      lines.reduce((sum, { counted }) => sum + counted, 0),
      9,
    );
  });

  test('a task counts its list price, and costs the fee', async () => {
    await world.add({
      ...{ protocol: 'kling', base_url: `${world.simulator.url}/kling` },
      models: { 'kling-3.0': 'kling-v3' },
    });
    const { id, key } = await newKey({ cap_counts: 'list' });
    const response = await world.send(key, 'POST', '/v1/videos/generations', {
      ...{ model: 'kling-3.0', prompt: 'a fox [[sim task_ms=50]]', duration: 5 },
    });
    expect([response.status, await response.text()]).toEqual([200, expect.any(String)]);
    const line = await until('the task is charged', async () => {
      const { data } = await world.manage<{ data: Line[] }>('GET', `/api-keys/${id}/usage`);
      return data.find(({ outcome }) => outcome === 'completed');
    });
    expect(line).toMatchObject({ access_channel: 'byok', counted: line.list_price });
    expect(line.amount).toBe(feeOf(line.list_price));
    const { used_amount } = await world.manage<{ used_amount: number }>('GET', `/api-keys/${id}`);
    expect(used_amount).toBeCloseTo(line.list_price, 9);
  });

  test('a suspended key is refused', async () => {
    await world.add();
    const { id, key } = await newKey({});
    await world.manage('PATCH', `/api-keys/${id}`, { status: 'suspended' });
    expect((await call(key)).status).toBe(403);
  });
});
