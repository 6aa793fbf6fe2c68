import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { hashCredential, newCredential, newId, shownPrefix } from '../../db/secrets.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { errorOf } from '../support/envelope.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());

interface KeyRecord {
  id: string;
  name: string;
  key_prefix: string;
  status: string;
  limit_amount: number | null;
  used_amount: number;
  models: string[];
  expires_at: string | null;
  last_used_at: string | null;
  created_at: string;
  key?: string;
}

async function record(response: Response): Promise<KeyRecord> {
  const body = await response.json();
  expect({ status: response.status, body }).toEqual({ status: 200, body });
  return body as KeyRecord;
}

const create = (body: unknown = {}) => app.manage('POST', '/api-keys', body);
const patch = (id: string, body: unknown) => app.manage('PATCH', `/api-keys/${id}`, body);
const newKey = async (body: unknown = {}) => record(await create(body));

interface KeyList {
  object: string;
  data: KeyRecord[];
}

async function list(): Promise<KeyList> {
  return (await (await app.manage('GET', '/api-keys')).json()) as KeyList;
}

async function listed(id: string): Promise<KeyRecord | undefined> {
  return (await list()).data.find((key) => key.id === id);
}

/** Another organization with a key of its own. */
async function stranger(): Promise<{ key_id: string; token: string }> {
  const { sql } = app.database;
  const [organization_id, key_id, token] = [newId('org'), newId('key'), newCredential('mt')];
  await sql`insert into organization ${sql({ id: organization_id, name: 'strangers' })}`;
  await sql`insert into api_key ${sql({
    id: key_id,
    organization_id,
    name: 'theirs',
    key_hash: hashCredential(newCredential('sk')),
    key_prefix: 'sk-thei…',
  })}`;
  await sql`insert into access_token ${sql({
    id: newId('token'),
    kind: 'management',
    organization_id,
    token_hash: hashCredential(token),
    token_prefix: shownPrefix(token),
  })}`;
  return { key_id, token };
}

const ISO_MS = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;

describe('POST /v1/management/api-keys', () => {
  test('200: with nothing said, an unlimited key that never expires', async () => {
    const key = await newKey();
    expect(key).toEqual({
      id: expect.stringMatching(/^key_[0-9a-f]{32}$/),
      name: 'Default Key',
      key_prefix: expect.stringMatching(/^sk-/),
      status: 'active',
      limit_amount: null,
      used_amount: 0,
      models: [],
      expires_at: null,
      last_used_at: null,
      created_at: expect.stringMatching(ISO_MS),
      key: expect.stringMatching(/^sk-[\w-]{43}$/),
    });
  });

  test('200: the key works at once, and is never shown again', async () => {
    const { id, key = '', key_prefix } = await newKey();
    const response = await app.fetch('/v1/models', { headers: { authorization: `Bearer ${key}` } });
    expect(response.status).toBe(200);
    const again = await listed(id);
    expect(again).not.toHaveProperty('key');
    expect(JSON.stringify(again)).not.toContain(key);
    expect(key.startsWith(key_prefix.replace('…', ''))).toBe(true);
    const stored = await app.database.sql`select * from api_key where id = ${id}`;
    expect(JSON.stringify(stored)).not.toContain(key);
  });

  test('200: with everything said', async () => {
    const key = await newKey({
      name: '  My key\t',
      limitAmount: 12.5,
      limitCurrency: 'USD',
      models: ['gpt-4o', 'not-yet-there', 'gpt-4o'],
      expiresAt: '2031-02-28T23:00:00.1239+02:00',
    });
    expect(key).toMatchObject({
      name: 'My key',
      limit_amount: 12.5,
      models: ['gpt-4o', 'not-yet-there'],
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
  ])('200: limitAmount %p is kept as %p', async (given, kept) => {
    const { id, limit_amount } = await newKey({ limitAmount: given });
    expect(limit_amount).toBe(kept);
    expect((await listed(id))?.limit_amount).toBe(kept);
  });

  test('200: the limit is what the ledger enforces from the first call on', async () => {
    const { id } = await newKey({ limitAmount: 3 });
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
    const error = await errorOf(await create(body), 400);
    expect(error).toMatchObject({ type: 'invalid_request_error', param });
  });

  test('400: CNY is retired, whatever else is said', async () => {
    const error = await errorOf(await create({ limitCurrency: 'CNY', limitAmount: 5 }), 400);
    expect(error).toMatchObject({ code: 'currency_retired', param: 'limitCurrency' });
  });

  test('400: an unknown field, with the one that is meant', async () => {
    const error = await errorOf(await create({ expires_at: null }), 400);
    expect(error.message).toBe('expires_at is not a field of this request.');
    expect(error.hint).toBe('Did you mean expiresAt?');
  });

  test('200: a name of 50 characters that are more than 50 code units', async () => {
    const name = '🔑'.repeat(50);
    expect((await newKey({ name })).name).toBe(name);
    await errorOf(await create({ name: `${name}🔑` }), 400);
  });

  test('400: no more keys than an organization may have', async () => {
    const crowded = await startTestApp();
    await crowded.database.sql`
      insert into api_key (id, organization_id, name, key_hash, key_prefix)
      select 'key_' || n, ${crowded.organization_id}, 'n', 'h' || n, 'sk-…'
      from generate_series(1, 9999) n`;
    const error = await errorOf(await crowded.manage('POST', '/api-keys', {}), 400);
    expect(error.message).toContain('10000');
    await crowded.stop();
  });
});

describe('GET /v1/management/api-keys', () => {
  test('200: a list of the organization’s keys, oldest first', async () => {
    const one = await newKey({ name: 'one' });
    const two = await newKey({ name: 'two' });
    const { object, data } = await list();
    expect(object).toBe('list');
    const ids = data.map(({ id }) => id);
    expect(ids.indexOf(one.id)).toBeLessThan(ids.indexOf(two.id));
    expect(data[0]?.name).toBe('Default Key');
  });

  test('200: revoked keys stay listed', async () => {
    const { id } = await newKey();
    await patch(id, { status: 'revoked' });
    expect((await listed(id))?.status).toBe('revoked');
  });

  test('P1: used_amount counts what is settled on open grants and not posted yet', async () => {
    const { id } = await newKey({ limitAmount: 1 });
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
    expect((await listed(id))?.used_amount).toBe(37e-9);
  });

  test('200: last_used_at is the time of the last charge', async () => {
    const { id } = await newKey();
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
      created_at,
    });
    for (const at of ['2026-01-02T03:04:05.678Z', '2026-01-01T00:00:00Z']) {
      await sql`insert into usage_line ${sql(line(at))}`;
    }
    expect((await listed(id))?.last_used_at).toBe('2026-01-02T03:04:05.678Z');
  });
});

describe('PATCH /v1/management/api-keys/{keyId}', () => {
  test('200: changes each field and leaves the others', async () => {
    const before = await newKey({ name: 'before', limitAmount: 5, models: ['gpt-4o'] });
    const changes: [unknown, Partial<KeyRecord>][] = [
      [{ name: ' after ' }, { name: 'after' }],
      [{ limitAmount: 7 }, { limit_amount: 7 }],
      [{ limitAmount: 200_000 }, { limit_amount: 100_000 }],
      [{ limitAmount: null }, { limit_amount: null }],
      [{ limitAmount: 0, limitCurrency: 'USD' }, { limit_amount: 0 }],
      [{ models: ['gpt-5', 'o3'] }, { models: ['gpt-5', 'o3'] }],
      [{ models: [] }, { models: [] }],
      [{ expiresAt: '2030-01-31T12:00:00Z' }, { expires_at: '2030-01-31T12:00:00.000Z' }],
      [{ expiresAt: null }, { expires_at: null }],
      [{ status: 'inactive' }, { status: 'inactive' }],
      [{ status: 'suspended' }, { status: 'suspended' }],
      [{ status: 'active' }, { status: 'active' }],
    ];
    const { key: _shown_once, ...visible } = before;
    let expected: KeyRecord = visible;
    for (const [body, change] of changes) {
      expected = { ...expected, ...change };
      expect(await record(await patch(before.id, body))).toEqual(expected);
    }
    expect(await listed(before.id)).toEqual(expected);
  });

  test('200: the currency alone is a field, and changes nothing', async () => {
    const { id } = await newKey({ name: 'same' });
    expect(await record(await patch(id, { limitCurrency: 'USD' }))).toMatchObject({ name: 'same' });
  });

  test('200: P2: a limit below what is out is kept as said, and enforced as money comes back', async () => {
    const { id } = await newKey({ limitAmount: 10 });
    const { sql } = app.database;
    await sql`update api_key set used_nano_usd = 3000000000, held_nano_usd = 4000000000
      where id = ${id}`;
    expect((await record(await patch(id, { limitAmount: 5 }))).limit_amount).toBe(5);
    const bounds = async () => {
      const [row] =
        await sql`select limit_nano_usd, ceiling_nano_usd from api_key where id = ${id}`;
      return [row?.['limit_nano_usd'], row?.['ceiling_nano_usd']];
    };
    expect(await bounds()).toEqual([5_000_000_000, 7_000_000_000]);
    await patch(id, { limitAmount: 8 });
    expect(await bounds()).toEqual([8_000_000_000, 8_000_000_000]);
    await patch(id, { limitAmount: null });
    expect(await bounds()).toEqual([null, null]);
  });

  test('200: revoking is final, and can be repeated', async () => {
    const { id } = await newKey();
    expect((await record(await patch(id, { status: 'revoked' }))).status).toBe('revoked');
    expect((await record(await patch(id, { status: 'revoked' }))).status).toBe('revoked');
  });

  test.each(['active', 'inactive', 'suspended'])(
    '400: a revoked key is not made %s',
    async (to) => {
      const { id } = await newKey();
      await patch(id, { status: 'revoked' });
      const error = await errorOf(await patch(id, { status: to, name: 'changed' }), 400);
      expect(error).toMatchObject({ param: 'status' });
      expect(await listed(id)).toMatchObject({ status: 'revoked', name: 'Default Key' });
    },
  );

  test('400: at least one field', async () => {
    const { id } = await newKey();
    expect((await errorOf(await patch(id, {}), 400)).message).toContain('At least one field');
  });

  test.each([
    ['status', { status: 'deleted' }],
    ['status', { status: null }],
    ['status', { status: ['active'] }],
    ['name', { name: '' }],
    ['limitAmount', { limitAmount: -1 }],
    ['models', { models: {} }],
    ['expiresAt', { expiresAt: '' }],
    ['used_amount', { used_amount: 0 }],
    ['id', { id: 'key_2' }],
  ])('400: names %s in %j, and changes nothing', async (param, body) => {
    const { id } = await newKey({ name: 'untouched' });
    const error = await errorOf(await patch(id, { ...body }), 400);
    expect(error.param).toBe(param);
    expect(await listed(id)).toMatchObject({ name: 'untouched', status: 'active' });
  });

  test('400: CNY is retired', async () => {
    const { id } = await newKey();
    const error = await errorOf(await patch(id, { limitCurrency: 'CNY' }), 400);
    expect(error.code).toBe('currency_retired');
  });

  test.each(['key_unknown', '%00', '%E0%A4%A', 'x'.repeat(3_000), "'; drop table api_key"])(
    '404: no key %s',
    async (id) => {
      const error = await errorOf(
        await patch(encodeURI(id).replaceAll('%25', '%'), { name: 'x' }),
        404,
      );
      expect(error).toMatchObject({ code: 'not_found', param: 'keyId' });
    },
  );

  test('404: P6: a stranger’s key is answered exactly like one that does not exist', async () => {
    const { key_id } = await stranger();
    const bodies = [{ name: 'mine' }, { status: 'active' }, { limitCurrency: 'USD' }];
    for (const body of bodies) {
      const answers = await Promise.all([patch(key_id, body), patch('key_none', body)]);
      const [theirs, none] = await Promise.all(answers.map((answer) => answer.text()));
      expect(answers.map(({ status }) => status)).toEqual([404, 404]);
      expect(theirs).toBe(none as string);
    }
    const [row] = await app.database.sql`select name from api_key where id = ${key_id}`;
    expect(row?.['name']).toBe('theirs');
  });

  test('P6: a stranger sees and changes only his own keys', async () => {
    const { key_id, token } = await stranger();
    const { id } = await newKey();
    const theirs = (path: string, init?: RequestInit) =>
      fetch(`${app.base_url}/v1/management${path}`, {
        ...init,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      });
    const { data } = (await (await theirs('/api-keys')).json()) as KeyList;
    expect(data.map((key) => key.id)).toEqual([key_id]);
    const intrusion = { method: 'PATCH', body: JSON.stringify({ status: 'revoked' }) };
    await errorOf(await theirs(`/api-keys/${id}`, intrusion), 404);
    expect((await listed(id))?.status).toBe('active');
  });

  test('many changes at once of one key leave it as one of them said', async () => {
    const { id } = await newKey();
    const names = Array.from({ length: 20 }, (_, n) => `name ${n}`);
    const answers = await Promise.all(names.map((name) => patch(id, { name, limitAmount: 1 })));
    expect(answers.map(({ status }) => status)).toEqual(names.map(() => 200));
    expect(names).toContain((await listed(id))?.name ?? '');
  });
});
