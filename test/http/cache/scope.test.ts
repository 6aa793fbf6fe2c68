/** P6: who shares answers; and what ends them. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type CachedWeir, startCachedWeir } from '../../support/cached-weir.ts';
import { createTestDatabase } from '../../support/postgres.ts';
import { fc } from '../../support/property.ts';
import { until } from '../../support/until.ts';
import { startWeir } from '../../support/weir.ts';

setDefaultTimeout(120_000);

const PATH = '/v1/chat/completions';
const bodyOf = (content: string, model = 'gpt-4o') => ({
  model,
  messages: [{ role: 'user', content }],
});

const newKey = (world: CachedWeir, limits: object = {}) =>
  world.manage<{ id: string; key: string }>('POST', '/api-keys', { name: 'another', ...limits });

/** Creates an organization with money, and returns a key of it. */
async function newOrganization({ weir }: CachedWeir, name: string): Promise<string> {
  const operate = async (path: string, body: object) => {
    const response = await fetch(`${weir.base_url}/v1/operator${path}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${weir.operator_token}`,
        'content-type': 'application/json',
        'idempotency-key': crypto.randomUUID(),
      },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(await response.text());
    return (await response.json()) as { id: string; management_token?: string };
  };
  const { id, management_token } = await operate('/organizations', {
    name,
    management_token: true,
  });
  await operate(`/organizations/${id}/deposits`, { amount: 10, reference: 'a test' });
  const created = await fetch(`${weir.base_url}/v1/management/api-keys`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${management_token}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ name: 'first' }),
  });
  return ((await created.json()) as { key: string }).key;
}

describe('answers are shared', () => {
  test('P6: by the keys of one organization, for one model, and by nobody else', async () => {
    const world = await startCachedWeir();
    try {
      const keys = {
        own: world.weir.api_key,
        colleague: (await newKey(world)).key,
        stranger: await newOrganization(world, 'strangers'),
        other: await newOrganization(world, 'others'),
      };
      const owners = { own: 'a', colleague: 'a', stranger: 'b', other: 'c' };
      const seen = new Set<string>();
      const call = fc.record({
        who: fc.constantFrom('own', 'colleague', 'stranger', 'other'),
        model: fc.constantFrom('gpt-4o', 'gpt-4o-mini'),
        prompt: fc.integer({ min: 1, max: 3 }),
        stream: fc.boolean(),
      });
      await fc.assert(
        fc.asyncProperty(fc.array(call, { maxLength: 8 }), async (calls) => {
          for (const { who, model, prompt, stream } of calls) {
            const key = keys[who as keyof typeof keys];
            const body = { ...bodyOf(`Prompt ${prompt} [[sim tokens=4]]`, model), stream };
            const answered = await world.post(PATH, body, { key });
            const place = `${owners[who as keyof typeof owners]} ${model} ${prompt}`;
            expect(answered.status).toBe(200);
            expect(answered.cache).toBe(seen.has(place) ? 'hit' : 'miss');
            seen.add(place);
          }
        }),
        { numRuns: 12 },
      );
    } finally {
      await world.stop();
    }
  });

  test('P6: poisoning with headers and with material of another key fails', async () => {
    const world = await startCachedWeir();
    try {
      const stranger = await newOrganization(world, 'strangers');
      const tricks: [(content: string) => object, Record<string, string>][] = [
        [(content) => bodyOf(content), { 'x-weir-organization': 'org_1' }],
        [(content) => bodyOf(content), { 'x-weir-cache': 'hit', 'x-forwarded-for': '127.0.0.1' }],
        [(content) => ({ ...bodyOf(content), user: world.weir.api_key }), {}],
        [(content) => bodyOf(`${world.weir.api_key}\n${content}`), {}],
        [(content) => bodyOf(`6:openai6:gpt-4o${content}`), {}],
        [(content) => ({ ...bodyOf(content), organization_id: 'org_1', key_id: 'key_1' }), {}],
      ];
      for (const [at, [trick, headers]] of tricks.entries()) {
        const content = `Secret ${at} of the first organization [[sim tokens=4]]`;
        expect((await world.post(PATH, bodyOf(content))).cache).toBe('miss');
        const answered = await world.post(PATH, trick(content), { key: stranger, headers });
        expect(answered.cache).not.toBe('hit');
      }
      const secret = bodyOf('Secret 0 of the first organization [[sim tokens=4]]');
      expect((await world.post(PATH, secret)).cache).toBe('hit');
    } finally {
      await world.stop();
    }
  });

  test('by one key only, if the organization says so; on every replica, and on record', async () => {
    const database = await createTestDatabase();
    const env = { DATABASE_URL: database.url };
    const world = await startCachedWeir({}, undefined, env);
    const config = readFileSync(join(world.weir.data, '..', 'weir.yaml'), 'utf8');
    const other = await startWeir({ config, env: { ...env, WEIR_CACHE: 'on' } });
    try {
      const { key } = await newKey(world);
      const body = bodyOf('Mine alone [[sim tokens=4]]');
      expect((await world.post(PATH, body)).cache).toBe('miss');
      expect((await world.post(PATH, body, { key })).cache).toBe('hit');
      const send = async (as: string) => {
        const response = await fetch(other.base_url + PATH, {
          method: 'POST',
          headers: { authorization: `Bearer ${as}`, 'content-type': 'application/json' },
          body: JSON.stringify(body),
        });
        await response.text();
        return response.headers.get('x-weir-cache');
      };
      expect([await send(key), await send(world.weir.api_key)]).toEqual(['miss', 'hit']);

      const changed = await world.manage('PATCH', '/organization', { cache_scope: 'key' });
      expect(changed).toMatchObject({ cache_scope: 'key' });
      expect((await world.post(PATH, body)).cache).toBe('miss');
      expect((await world.post(PATH, body, { key })).cache).toBe('miss');
      expect((await world.post(PATH, body, { key })).cache).toBe('hit');
      expect((await world.post(PATH, body)).cache).toBe('hit');
      await until('the other replica knows', async () => (await send(key)) === 'miss');
      expect([await send(world.weir.api_key), await send(key)]).toEqual(['miss', 'hit']);
      const { data } = await world.manage<{ data: { after: object }[] }>(
        'GET',
        '/audit-log?action=organization.update',
      );
      expect(data[0]?.after).toEqual({ cache_scope: 'key' });

      await world.manage('PATCH', '/organization', { cache_scope: 'organization' });
      expect((await world.post(PATH, body, { key })).cache).toBe('hit');
    } finally {
      await other.stop();
      await world.stop();
      await database.drop();
    }
  });

  test('by nobody, if the cache is off', async () => {
    const world = await startCachedWeir({ enabled: false });
    try {
      const body = bodyOf('Nobody [[sim tokens=4]]');
      await world.post(PATH, body);
      expect((await world.post(PATH, body)).cache).toBe('bypass');
    } finally {
      await world.stop();
    }
  });
});

describe('a key', () => {
  test('at its cap, or suspended, is refused before the cache', async () => {
    const world = await startCachedWeir();
    try {
      const body = bodyOf('Refused [[sim tokens=4]]');
      await world.post(PATH, body);
      const broke = await newKey(world, { limitAmount: 0 });
      const refused = await world.post(PATH, body, { key: broke.key });
      expect(refused.status).toBe(402);
      const suspended = await newKey(world);
      expect((await world.post(PATH, body, { key: suspended.key })).cache).toBe('hit');
      await world.manage('PATCH', `/api-keys/${suspended.id}`, { status: 'suspended' });
      expect((await world.post(PATH, body, { key: suspended.key })).cache).toBeNull();
    } finally {
      await world.stop();
    }
  });
});

describe('an entry', () => {
  test('ends when the mapping of its model changes, and costs what the catalogue says', async () => {
    let config: object = {};
    const world = await startCachedWeir({}, (demo) => {
      const models = [{ id: 'gpt-4o-mini', price: SHARED }];
      config = { ...demo, models, roles: { standard: 1_000_000 } };
      return { models } as never;
    });
    try {
      const prompt = 'A part of its price [[sim tokens=30]]';
      const { id, key } = await newKey(world);
      const used = async () => {
        const { data } = await world.manage<{ data: { id: string; used_amount: number }[] }>(
          'GET',
          '/api-keys',
        );
        return data.find((each) => each.id === id)?.used_amount ?? 0;
      };
      await world.post(PATH, bodyOf(prompt, 'gpt-4o-mini'), { key });
      const full = await used();
      const hit = await world.post(PATH, bodyOf(prompt, 'gpt-4o-mini'), { key });
      expect(hit.cache).toBe('hit');
      expect(await used()).toBeCloseTo(full * 1.5, 8);
      const request = await world.manage<{ charge: { state: string; amount: string } }>(
        'GET',
        `/requests/${hit.headers.get('x-request-id')}`,
      );
      expect(request).toMatchObject({ outcome: 'cached', charge: { state: 'priced' } });

      await world.post(PATH, bodyOf(prompt));
      const channels = (config as { channels: { models: Record<string, string> }[] }).channels;
      const changed = channels.map((channel) =>
        channel.models['gpt-4o']
          ? { ...channel, models: { ...channel.models, 'gpt-4o': 'gpt-4o-next' } }
          : channel,
      );
      const file = join(world.weir.data, '..', 'weir.yaml');
      writeFileSync(file, JSON.stringify({ ...config, channels: changed }));
      let after = await world.post(PATH, bodyOf(prompt));
      while (after.cache === 'hit') after = await world.post(PATH, bodyOf(prompt));
      expect(after.cache).toBe('miss');
      expect((await world.post(PATH, bodyOf(prompt, 'gpt-4o-mini'), { key })).cache).toBe('hit');
    } finally {
      await world.stop();
    }
  });
});

/** Prices with which a hit costs half. */
const SHARED = { input_usd_per_mtok: 10, output_usd_per_mtok: 30, cached_answer_share: 0.5 };
