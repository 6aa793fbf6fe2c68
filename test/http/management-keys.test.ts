import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { newId } from '../../db/secrets.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { errorOf } from '../support/envelope.ts';
import { ManagedKeys } from '../support/managed-keys.ts';

let app: TestApp;
const keys = new ManagedKeys(() => app);
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());

const ISO_MS = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;

describe('POST /v1/management/api-keys', () => {
  test('200: without fields, an unlimited key that never expires', async () => {
    const key = await keys.add();
    expect(key).toEqual({
      id: expect.stringMatching(/^key_[0-9a-f]{32}$/),
      name: 'Default Key',
      key_prefix: expect.stringMatching(/^sk-/),
      status: 'active',
      limit_amount: null,
      cap_counts: 'charged',
      used_amount: 0,
      held_amount: 0,
      models: [],
      tags: [],
      call_tags: {},
      external_id: null,
      requests_per_minute: null,
      limits: [],
      default_timeout_ms: null,
      default_image_response_format: null,
      expires_at: null,
      last_used_at: null,
      created_at: expect.stringMatching(ISO_MS),
      key: expect.stringMatching(/^sk-[\w-]{43}$/),
    });
  });

  test('200: the key works at once, and is never returned again', async () => {
    const { id, key = '', key_prefix } = await keys.add();
    const response = await app.fetch('/v1/models', { headers: { authorization: `Bearer ${key}` } });
    expect(response.status).toBe(200);
    const again = await keys.find(id);
    expect(again).not.toHaveProperty('key');
    expect(JSON.stringify(again)).not.toContain(key);
    expect(key.startsWith(key_prefix.replace('…', ''))).toBe(true);
    const stored = await app.database.sql`select * from api_key where id = ${id}`;
    expect(JSON.stringify(stored)).not.toContain(key);
  });

  test('200: with every field', async () => {
    const key = await keys.add({
      name: '  My key\t',
      limitAmount: 12.5,
      limitCurrency: 'USD',
      models: ['gpt-4o', 'claude-haiku-4-5-20251001', 'gpt-4o'],
      default_timeout_ms: 3_600_000,
      default_image_response_format: 'b64_json',
      expiresAt: '2031-02-28T23:00:00.1239+02:00',
    });
    expect(key).toMatchObject({
      name: 'My key',
      limit_amount: 12.5,
      models: ['gpt-4o', 'claude-haiku-4-5-20251001'],
      default_timeout_ms: 3_600_000,
      default_image_response_format: 'b64_json',
      expires_at: '2031-02-28T21:00:00.123Z',
    });
  });

  test.each([
    [null, null],
    [0, 0],
    [0.01, 0.01],
    [0.000000001, 0.000000001],
    [1e-300, 0.000000001],
    [99_999.999999999, 99_999.999999999],
    [100_000, 100_000],
    [100_000.01, 100_000],
    [1_000_000, 100_000],
  ])('200: limitAmount %p is stored as %p', async (sent, stored) => {
    const { id, limit_amount } = await keys.add({ limitAmount: sent });
    expect(limit_amount).toBe(stored);
    expect((await keys.find(id))?.limit_amount).toBe(stored);
  });

  test('200: the ledger enforces the limit from the first call on', async () => {
    const { id } = await keys.add({ limitAmount: 3 });
    const [row] = await app.database.sql`
      select limit_nano_usd, ceiling_nano_usd from api_key where id = ${id}`;
    expect(row).toEqual({ limit_nano_usd: 3_000_000_000, ceiling_nano_usd: 3_000_000_000 });
  });

  test.each([
    ['name', { name: '' }],
    ['name', { name: ' \t\n ' }],
    ['name', { name: 'x'.repeat(51) }],
    ['name', { name: 'a\u0000b' }],
    ['name', { name: null }],
    ['name', { name: 5 }],
    ['limitAmount', { limitAmount: -0.01 }],
    ['limitAmount', { limitAmount: 1_000_000.01 }],
    ['limitAmount', { limitAmount: '5' }],
    ['limitAmount', { limitAmount: true }],
    ['limitCurrency', { limitCurrency: 'EUR' }],
    ['limitCurrency', { limitCurrency: 'usd' }],
    ['limitCurrency', { limitCurrency: null }],
    ['models', { models: 'gpt-4o' }],
    ['models', { models: null }],
    ['models.1', { models: ['gpt-4o', ''] }],
    ['models.0', { models: [5] }],
    ['models.0', { models: ['a\u0000'] }],
    ['models', { models: Array(1_001).fill('x') }],
    ['expiresAt', { expiresAt: 'tomorrow' }],
    ['expiresAt', { expiresAt: '2031-01-01' }],
    ['expiresAt', { expiresAt: '2031-01-01T00:00:00' }],
    ['expiresAt', { expiresAt: '2031-02-30T00:00:00Z' }],
    ['expiresAt', { expiresAt: '0000-01-01T00:00:00Z' }],
    ['expiresAt', { expiresAt: 1_900_000_000 }],
    ['status', { status: 'active' }],
    ['limitAmout', { limitAmout: 5 }],
    ['__proto__', JSON.parse('{"__proto__": {"name": "x"}}')],
  ])('400: names %s in %j', async (param, body) => {
    const error = await errorOf(await keys.create(body), 400);
    expect(error).toMatchObject({ type: 'invalid_request_error', param });
  });

  test('400: limitCurrency CNY is retired, also with a limitAmount', async () => {
    const error = await errorOf(await keys.create({ limitCurrency: 'CNY', limitAmount: 5 }), 400);
    expect(error).toMatchObject({ code: 'currency_retired', param: 'limitCurrency' });
  });

  test.each(['0001-01-01T00:00:00.000Z', '0028-09-10T18:22:15.635Z', '9999-12-31T23:59:59.999Z'])(
    '200: expiresAt %s is returned as it was sent',
    async (expiresAt) => {
      const { id, expires_at } = await keys.add({ expiresAt });
      expect([expires_at, (await keys.find(id))?.expires_at]).toEqual([expiresAt, expiresAt]);
    },
  );

  test('400: an unknown field, with a suggestion', async () => {
    const error = await errorOf(await keys.create({ expires_at: null }), 400);
    expect(error.message).toBe('expires_at is not a field of this request.');
    expect(error.hint).toBe('Did you mean expiresAt?');
  });

  test('200: a name of 50 characters that are more than 50 code units', async () => {
    const name = '🔑'.repeat(50);
    expect((await keys.add({ name })).name).toBe(name);
    await errorOf(await keys.create({ name: `${name}🔑` }), 400);
  });

  test('400: more keys than an organization may have', async () => {
    const crowded = await startTestApp();
    await crowded.database.sql`
      insert into api_key (id, organization_id, name, key_hash, key_prefix)
      select 'key_' || n, ${crowded.organization_id}, 'n', 'h' || n, 'sk-…'
      from generate_series(1, 9999) n`;
    const error = await errorOf(await crowded.manage('POST', '/api-keys', {}), 400);
    expect(error.message).toContain('10000');
    await crowded.stop();
  });

  test('400: more keys than an organization may have, also if many are created concurrently', async () => {
    const crowded = await startTestApp();
    await crowded.database.sql`
      insert into api_key (id, organization_id, name, key_hash, key_prefix)
      select 'key_' || n, ${crowded.organization_id}, 'n', 'h' || n, 'sk-…'
      from generate_series(1, 9990) n`;
    const answers = await Promise.all(
      Array.from(
        { length: 30 },
        async () => (await crowded.manage('POST', '/api-keys', {})).status,
      ),
    );
    // The organization starts with one key.
    expect(answers.filter((status) => status === 200)).toHaveLength(9);
    expect(answers.filter((status) => status === 400)).toHaveLength(21);
    await crowded.stop();
  });
});

describe('GET /v1/management/api-keys', () => {
  test('200: a list of the organization’s keys, oldest first', async () => {
    const one = await keys.add({ name: 'one' });
    const two = await keys.add({ name: 'two' });
    const { object, data } = await keys.list();
    expect(object).toBe('list');
    const ids = data.map(({ id }) => id);
    expect(ids.indexOf(one.id)).toBeLessThan(ids.indexOf(two.id));
    expect(data[0]?.name).toBe('Default Key');
  });

  test('200: revoked keys stay listed', async () => {
    const { id } = await keys.add();
    await keys.patch(id, { status: 'revoked' });
    expect((await keys.find(id))?.status).toBe('revoked');
  });

  test('P1: settled charges on open grants that are not posted yet are used, and no longer held', async () => {
    const { id } = await keys.add({ limitAmount: 1 });
    const { sql } = app.database;
    const replica = newId('replica');
    await sql`insert into replica (id, lease_until) values (${replica}, now() + interval '1 h')`;
    await sql`update api_key set used_nano_usd = 30, held_nano_usd = 100 where id = ${id}`;
    await sql`insert into quota_grant ${sql({
      id: Bun.randomUUIDv7(),
      key_id: id,
      organization_id: app.organization_id,
      replica_id: replica,
      granted_nano_usd: 130,
      settled_nano_usd: 37,
      posted_nano_usd: 30,
    })}`;
    expect(await keys.find(id)).toMatchObject({ used_amount: 37e-9, held_amount: 93e-9 });
  });

  test('200: last_used_at is the time of the last charge', async () => {
    const { id } = await keys.add();
    const { sql } = app.database;
    const line = (created_at: string) => ({
      id: Bun.randomUUIDv7(),
      request_id: Bun.randomUUIDv7(),
      organization_id: app.organization_id,
      key_id: id,
      grant_id: Bun.randomUUIDv7(),
      ...{ scene: 'chat', access_channel: 'platform', model: 'm', model_vendor: 'v' },
      ...{ channel_id: 'c', outcome: 'completed', estimated: false, charged_nano_usd: 0 },
      ...{ input_tokens: 1, cached_input_tokens: 0, cache_write_tokens: 0, output_tokens: 1 },
      ...{ created_at, at: created_at },
    });
    for (const at of ['2026-01-02T03:04:05.678Z', '2026-01-01T00:00:00Z']) {
      await sql`insert into usage_line ${sql(line(at))}`;
    }
    expect((await keys.find(id))?.last_used_at).toBe('2026-01-02T03:04:05.678Z');
  });
});
