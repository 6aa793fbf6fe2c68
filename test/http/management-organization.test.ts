import { afterAll, beforeAll, expect, test } from 'bun:test';
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
    keep_answers: true,
  });
  const response = await app.manage('PATCH', PATH, { keep_answers: false });
  expect(await response.json()).toEqual({ ...before, keep_answers: false });
  expect(await (await app.manage('GET', PATH)).json()).toMatchObject({ keep_answers: false });
  await app.manage('PATCH', PATH, { keep_answers: true });
});

test.each([
  [{ keep_answers: 'no' }, 'keep_answers'],
  [{ keep_answers: null }, 'keep_answers'],
  [{ keep_answer: false }, 'keep_answer'],
  [{ name: 'another' }, 'name'],
  [{}, 'body'],
])('400: %j', async (body, param) => {
  const error = await errorOf(await app.manage('PATCH', PATH, body), 400);
  expect(error.param).toBe(param);
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
