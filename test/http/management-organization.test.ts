import { afterAll, beforeAll, expect, test } from 'bun:test';
import { Value } from '@sinclair/typebox/value';
import { SETTING_NAMES, SETTINGS } from '../../src/http/management/settings.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { errorOf } from '../support/envelope.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());

const PATH = '/organization';

test('the settings of an organization are read and changed', async () => {
  const before = (await (await app.manage('GET', PATH)).json()) as object;
  expect(before).toEqual({
    object: 'organization',
    id: app.organization_id,
    name: expect.any(String),
    ...{ status: 'active', status_reason: '', keep_answers: true, cache_scope: 'organization' },
    ...{ own_keys: 'only', time_zone: 'UTC' },
    settings: {
      keep_answers: {
        ...{ value: true, default: true },
        schema: { description: expect.any(String), type: 'boolean' },
      },
      cache_scope: {
        ...{ value: 'organization', default: 'organization' },
        schema: { description: expect.any(String), anyOf: expect.any(Array) },
      },
      own_keys: {
        ...{ value: 'only', default: 'only' },
        schema: { description: expect.any(String), anyOf: expect.any(Array) },
      },
      time_zone: {
        ...{ value: 'UTC', default: 'UTC' },
        schema: { description: expect.any(String), type: 'string', pattern: expect.any(String) },
      },
    },
  });
  const response = await app.manage('PATCH', PATH, { keep_answers: false });
  const changed = await response.json();
  expect(changed).toMatchObject({
    keep_answers: false,
    settings: { keep_answers: { value: false, default: true } },
  });
  expect(await (await app.manage('GET', PATH)).json()).toEqual(changed);
  expect(await (await app.manage('GET', PATH)).json()).toMatchObject({ keep_answers: false });
  await app.manage('PATCH', PATH, { keep_answers: true });
});

test.each([
  [{ keep_answers: 'no' }, 'keep_answers'],
  [{ keep_answers: null }, 'keep_answers'],
  [{ keep_answer: false }, 'keep_answer'],
  [{ cache_scope: 'everybody' }, 'cache_scope'],
  [{ own_keys: 'never' }, 'own_keys'],
  [{ time_zone: 'Europe/Nowhere' }, 'time_zone'],
  [{ time_zone: 1 }, 'time_zone'],
  [{ name: 'another' }, 'name'],
  [{}, 'body'],
])('400: %j', async (body, param) => {
  const error = await errorOf(await app.manage('PATCH', PATH, body), 400);
  expect(error.param).toBe(param);
});

test('each default is within its bounds, and is that of the database', async () => {
  const { sql } = app.database;
  await sql`insert into organization (id, name) values ('org_new', 'new')`;
  const [row] = await sql`select * from organization where id = 'org_new'`;
  for (const name of SETTING_NAMES) {
    const { schema, default: standard } = SETTINGS[name];
    expect(Value.Check(schema, standard)).toBe(true);
    expect(row?.[name]).toEqual(standard);
  }
});

test('a change is a line of the audit log, once; no change is none', async () => {
  const headers = { 'idempotency-key': crypto.randomUUID() };
  for (let time = 0; time < 2; time += 1) {
    await app.manage('PATCH', PATH, { keep_answers: false }, headers);
    await app.manage('PATCH', PATH, { keep_answers: false });
  }
  await app.manage('PATCH', PATH, { keep_answers: true });
  const rows = await app.database.sql`
    select before, after from audit_log
    where organization_id = ${app.organization_id} and action = 'organization.update'
    order by seq desc limit 2`;
  expect(rows.map((row) => ({ ...row }))).toEqual([
    { before: { keep_answers: false }, after: { keep_answers: true } },
    { before: { keep_answers: true }, after: { keep_answers: false } },
  ]);
});

test('412: settings that somebody else changed', async () => {
  const tag = (await app.manage('GET', PATH)).headers.get('etag') ?? '';
  const change = (keep_answers: boolean) =>
    app.manage('PATCH', PATH, { keep_answers }, { 'if-match': tag });
  expect((await change(false)).status).toBe(200);
  await errorOf(await change(true), 412);
  await app.manage('PATCH', PATH, { keep_answers: true });
});

test('401: an API key cannot read the settings', async () => {
  await errorOf(await app.fetch(`/v1/management${PATH}`), 401);
});

test('P6: keep_answers: false deletes the kept answers of this organization only', async () => {
  const { sql } = app.database;
  await sql`insert into organization (id, name) values ('org_other', 'other')`;
  for (const organization_id of [app.organization_id, 'org_other']) {
    await sql`
      insert into kept_answer (key_id, route, repeat_hash, organization_id, request_hash,
        request_id, replica_id, state, status, body, body_bytes, expires_at)
      values ('key', ${organization_id}, 'h', ${organization_id}, 'r', ${Bun.randomUUIDv7()}, 'r',
        'kept', 200, 'body'::bytea, 4, now() + interval '1 day')`;
  }
  await app.manage('PATCH', PATH, { keep_answers: false });
  const rows = await sql`
    select organization_id, state, dropped_because, body_bytes from kept_answer order by state`;
  expect(rows.map((row) => ({ ...row }))).toEqual([
    {
      ...{ organization_id: app.organization_id, state: 'dropped', body_bytes: 0 },
      dropped_because: 'switched_off',
    },
    { organization_id: 'org_other', state: 'kept', dropped_because: null, body_bytes: 4 },
  ]);
});
