import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { startTestApp, type TestApp } from '../support/app.ts';
import { errorOf } from '../support/envelope.ts';
import { type KeyList, type KeyRecord, ManagedKeys, record } from '../support/managed-keys.ts';

let app: TestApp;
const keys = new ManagedKeys(() => app);
const announced: string[] = [];
beforeAll(async () => {
  app = await startTestApp({ announceKey: (key_id) => announced.push(key_id) });
});
afterAll(() => app.stop());

describe('PATCH /v1/management/api-keys/{keyId}', () => {
  test('200: changes each field and leaves the others', async () => {
    const before = await keys.add({ name: 'before', limitAmount: 5, models: ['gpt-4o'] });
    const changes: [unknown, Partial<KeyRecord>][] = [
      [{ name: ' after ' }, { name: 'after' }],
      [{ limitAmount: 7 }, { limit_amount: 7 }],
      [{ limitAmount: 200_000 }, { limit_amount: 100_000 }],
      [{ limitAmount: null }, { limit_amount: null }],
      [{ limitAmount: 0, limitCurrency: 'USD' }, { limit_amount: 0 }],
      [{ models: ['gpt-5', 'o3'] }, { models: ['gpt-5', 'o3'] }],
      [{ models: [] }, { models: [] }],
      [{ default_timeout_ms: 1_000 }, { default_timeout_ms: 1_000 }],
      [{ default_timeout_ms: null }, { default_timeout_ms: null }],
      [
        { default_image_response_format: 'b64_json' },
        { default_image_response_format: 'b64_json' },
      ],
      [{ default_image_response_format: null }, { default_image_response_format: null }],
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
      expect(await record(await keys.patch(before.id, body))).toEqual(expected);
    }
    expect(await keys.find(before.id)).toEqual(expected);
  });

  test('200: notifies all replicas of a changed key, and of nothing else', async () => {
    const { id } = await keys.add({ name: 'announced' });
    announced.length = 0;
    await keys.patch(id, { name: 'changed' });
    expect(announced).toEqual([id]);
    await keys.patch(id, { limitCurrency: 'USD' });
    await errorOf(await keys.patch('key_unknown', { name: 'x' }), 404);
    expect(announced).toEqual([id]);
  });

  test('503: notifies all replicas if the outcome of a change is not known', async () => {
    const { id } = await keys.add({ name: 'unknown' });
    announced.length = 0;
    const { sql } = app.database;
    // The server ends the session of the change after the row was written.
    await sql`create function end_session() returns trigger language plpgsql as
      $$ begin perform pg_terminate_backend(pg_backend_pid()); return null; end $$`;
    await sql`create constraint trigger ends after update on api_key deferrable initially deferred
      for each row when (new.name = 'cut') execute function end_session()`;
    const response = await keys.patch(id, { name: 'cut' });
    await sql`drop trigger ends on api_key`;
    expect(response.status).toBe(503);
    expect(announced).toEqual([id]);
  });

  test('200: limitCurrency alone is accepted, and changes nothing', async () => {
    const { id } = await keys.add({ name: 'same' });
    expect(await record(await keys.patch(id, { limitCurrency: 'USD' }))).toMatchObject({
      name: 'same',
    });
  });

  test('200: P2: a limit below the open grants is stored, and applies as they are returned', async () => {
    const { id } = await keys.add({ limitAmount: 10 });
    const { sql } = app.database;
    await sql`update api_key set used_nano_usd = 3000000000, held_nano_usd = 4000000000
      where id = ${id}`;
    expect((await record(await keys.patch(id, { limitAmount: 5 }))).limit_amount).toBe(5);
    const bounds = async () => {
      const [row] =
        await sql`select limit_nano_usd, ceiling_nano_usd from api_key where id = ${id}`;
      return [row?.['limit_nano_usd'], row?.['ceiling_nano_usd']];
    };
    expect(await bounds()).toEqual([5_000_000_000, 7_000_000_000]);
    await keys.patch(id, { limitAmount: 8 });
    expect(await bounds()).toEqual([8_000_000_000, 8_000_000_000]);
    await keys.patch(id, { limitAmount: null });
    expect(await bounds()).toEqual([null, null]);
  });

  test('200: revoking is final, and can be repeated', async () => {
    const { id } = await keys.add();
    expect((await record(await keys.patch(id, { status: 'revoked' }))).status).toBe('revoked');
    expect((await record(await keys.patch(id, { status: 'revoked' }))).status).toBe('revoked');
  });

  test.each(['active', 'inactive', 'suspended'])(
    '400: a revoked key is not made %s',
    async (to) => {
      const { id } = await keys.add();
      await keys.patch(id, { status: 'revoked' });
      const error = await errorOf(await keys.patch(id, { status: to, name: 'changed' }), 400);
      expect(error).toMatchObject({ param: 'status' });
      expect(await keys.find(id)).toMatchObject({ status: 'revoked', name: 'Default Key' });
    },
  );

  test('400: without a field', async () => {
    const { id } = await keys.add();
    expect((await errorOf(await keys.patch(id, {}), 400)).message).toContain('At least one field');
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
    const { id } = await keys.add({ name: 'untouched' });
    const error = await errorOf(await keys.patch(id, { ...body }), 400);
    expect(error.param).toBe(param);
    expect(await keys.find(id)).toMatchObject({ name: 'untouched', status: 'active' });
  });

  test('400: limitCurrency CNY is retired', async () => {
    const { id } = await keys.add();
    const error = await errorOf(await keys.patch(id, { limitCurrency: 'CNY' }), 400);
    expect(error.code).toBe('currency_retired');
  });

  test.each(['key_unknown', '%00', '%E0%A4%A', 'x'.repeat(3_000), "'; drop table api_key"])(
    '404: no key %s',
    async (id) => {
      const error = await errorOf(
        await keys.patch(encodeURI(id).replaceAll('%25', '%'), { name: 'x' }),
        404,
      );
      expect(error).toMatchObject({ code: 'not_found', param: 'keyId' });
    },
  );

  test('404: P6: another organization’s key gives the same response as a missing one', async () => {
    const { key_id } = await keys.addStranger();
    const bodies = [{ name: 'mine' }, { status: 'active' }, { limitCurrency: 'USD' }];
    for (const body of bodies) {
      const answers = await Promise.all([keys.patch(key_id, body), keys.patch('key_none', body)]);
      const [theirs, none] = await Promise.all(answers.map((answer) => answer.text()));
      expect(answers.map(({ status }) => status)).toEqual([404, 404]);
      expect(theirs).toBe(none as string);
    }
    const [row] = await app.database.sql`select name from api_key where id = ${key_id}`;
    expect(row?.['name']).toBe('theirs');
  });

  test('P6: another organization sees and changes only its own keys', async () => {
    const { key_id, token } = await keys.addStranger();
    const { id } = await keys.add();
    const theirs = (path: string, init?: RequestInit) =>
      fetch(`${app.base_url}/v1/management${path}`, {
        ...init,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      });
    const { data } = (await (await theirs('/api-keys')).json()) as KeyList;
    expect(data.map((key) => key.id)).toEqual([key_id]);
    const intrusion = { method: 'PATCH', body: JSON.stringify({ status: 'revoked' }) };
    await errorOf(await theirs(`/api-keys/${id}`, intrusion), 404);
    expect((await keys.find(id))?.status).toBe('active');
  });

  test('concurrent changes of one key leave it with the values of one of them', async () => {
    const { id } = await keys.add();
    const names = Array.from({ length: 20 }, (_, n) => `name ${n}`);
    const answers = await Promise.all(
      names.map((name) => keys.patch(id, { name, limitAmount: 1 })),
    );
    expect(answers.map(({ status }) => status)).toEqual(names.map(() => 200));
    expect(names).toContain((await keys.find(id))?.name ?? '');
  });
});
