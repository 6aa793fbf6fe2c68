/** What operators may do with tokens, and the bounds of tokens. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { newCredential } from '../../../db/secrets.ts';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { errorOf } from '../../support/envelope.ts';
import { ManagedTokens, tokenOf } from '../../support/managed-tokens.ts';
import { firstOperator } from '../../support/people.ts';

setDefaultTimeout(30_000);

let app: TestApp;
const management = new ManagedTokens(() => app, 'management');
const operator = new ManagedTokens(() => app, 'operator');
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());

test('operator tokens have the scopes read and admin only', async () => {
  const response = await operator.send('POST', '', { name: 'x', scopes: ['keys'] });
  expect((await errorOf(response, 400)).param).toBe('scopes.0');
});

test('403: a management token does not manage operator tokens, and the reverse', async () => {
  await errorOf(await operator.send('GET', '', undefined, { by: management.first }), 401);
  await errorOf(await management.send('GET', '', undefined, { by: operator.first }), 401);
  await errorOf(await management.send('GET', '', undefined, { by: newCredential('mt') }), 401);
});

describe('an operator makes a token for an organization', () => {
  const path = (id = app.organization_id) => `/v1/operator/organizations/${id}/tokens`;
  const body = JSON.stringify({ name: 'lent', scopes: ['admin'] });
  const send = (method: string, to: string, by = operator.first) =>
    fetch(app.base_url + to, {
      ...{ method, ...(method === 'POST' ? { body } : {}) },
      headers: { authorization: `Bearer ${by}`, 'content-type': 'application/json' },
    });

  test('200: that has lost its own, which does not see which operator it was', async () => {
    const { token, ...made } = await tokenOf(await send('POST', path()));
    expect(made).toMatchObject({ object: 'management_token', created_by: null });
    expect(await management.statusWith(token)).toBe(200);
    expect(await management.get(made.id)).toEqual(made);
    const list = (await (await send('GET', path())).json()) as { data: object[] };
    expect(list.data).toContainEqual(made);
    const log = await fetch(`${app.base_url}/v1/management/audit-log?subject_id=${made.id}`, {
      headers: { authorization: `Bearer ${token}` },
    });
    expect(((await log.json()) as { data: object[] }).data).toMatchObject([
      { action: 'management_token.create', actor: { kind: 'operator', id: '' } },
    ] as never);
  });

  test('200: also the first token of a new organization does not say which operator made it', async () => {
    const response = await fetch(`${app.base_url}/v1/operator/organizations`, {
      method: 'POST',
      headers: { authorization: `Bearer ${operator.first}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'new', management_token: true }),
    });
    const { management_token: by } = (await response.json()) as { management_token: string };
    const list = await management.send('GET', '', undefined, { by });
    const { data } = (await list.json()) as { data: { created_by: string | null }[] };
    expect(data.map(({ created_by }) => created_by)).toEqual([null]);
  });

  test('403, 401, 404', async () => {
    const reader = await operator.add({ scopes: ['read'] });
    expect((await send('GET', path(), reader.token)).status).toBe(200);
    await errorOf((await send('POST', path(), reader.token)) as Response, 403);
    await errorOf((await send('POST', path(), management.first)) as Response, 401);
    for (const id of ['org_none', '%00']) {
      const error = await errorOf((await send('POST', path(id))) as Response, 404);
      expect(error.param).toBe('id');
    }
  });
});

test('400: the last operator token that may do everything stays', async () => {
  const alone = await startTestApp();
  const tokens = new ManagedTokens(() => alone, 'operator');
  const [first] = await tokens.list();
  const path = `/${first?.id}`;
  const changes = () => [
    tokens.send('POST', `${path}/revoke`),
    tokens.send('PATCH', path, { scopes: ['read'] }),
    tokens.send('PATCH', path, { expiresAt: '2040-01-01T00:00:00Z' }),
  ];
  for (const response of await Promise.all(changes())) {
    expect((await errorOf(response, 400)).message).toContain('last operator token');
  }
  await tokens.add({ scopes: ['read'] });
  await tokens.add({ scopes: ['admin'], expiresAt: '2040-01-01T00:00:00Z' });
  await errorOf(await tokens.send('POST', `${path}/revoke`), 400);
  const { token: by } = await tokens.add({ scopes: ['admin'] });
  // Two revocations at once must not end both.
  const ids = (await tokens.list())
    .filter(({ scopes, expires_at }) => scopes.includes('admin') && expires_at === null)
    .map(({ id }) => id);
  const statuses = await Promise.all(
    ids.map(async (id) => (await tokens.send('POST', `/${id}/revoke`, undefined, { by })).status),
  );
  expect(statuses.sort()).toEqual([200, 400]);
  await alone.stop();
});

test('200: with an operator who signs in, the last operator token can be revoked', async () => {
  const alone = await startTestApp();
  const tokens = new ManagedTokens(() => alone, 'operator');
  const person = await firstOperator(alone);
  const { data } = await person.ask<{ data: { id: string }[] }>('GET', '/v1/operator/tokens');
  const path = `/v1/operator/tokens/${data[0]?.id}`;
  await person.ask('POST', `${path}/revoke`);
  expect(await tokens.statusWith(tokens.first)).toBe(401);
  const made = { name: 'new', scopes: ['admin'] };
  const { token } = await person.ask<{ token: string }>('POST', '/v1/operator/tokens', made);
  expect(await tokens.statusWith(token)).toBe(200);
  await alone.stop();
});

test('200: the last operator token can be rotated', async () => {
  const alone = await startTestApp();
  const tokens = new ManagedTokens(() => alone, 'operator');
  const [first] = await tokens.list();
  const { token } = await tokenOf(await tokens.send('POST', `/${first?.id}/rotate`));
  expect(await tokens.statusWith(tokens.first)).toBe(401);
  expect(await tokens.statusWith(token)).toBe(200);
  await alone.stop();
});

test('400: more valid tokens than an organization may have, also if many are created at once', async () => {
  const crowded = await startTestApp();
  const tokens = new ManagedTokens(() => crowded, 'management');
  await crowded.database.sql`
    insert into access_token (id, kind, organization_id, token_hash, token_prefix, revoked_at)
    select 't_' || n, 'management', ${crowded.organization_id}, 'h' || n, 'mt-…',
      case when n > 995 then now() end
    from generate_series(1, 1100) n`;
  const statuses = await Promise.all(
    Array.from(
      { length: 10 },
      async () => (await tokens.send('POST', '', { name: 'n', scopes: ['read'] })).status,
    ),
  );
  expect(statuses.filter((status) => status === 200)).toHaveLength(4);
  expect(statuses.filter((status) => status === 400)).toHaveLength(6);
  await crowded.stop();
});

test('503: if the database is away, uses are kept and stored later', async () => {
  const away = await startTestApp();
  const tokens = new ManagedTokens(() => away, 'management');
  const { id, token } = await tokens.add();
  await tokens.statusWith(token);
  const { sql } = away.database;
  await sql`alter table access_token rename to access_token_away`;
  expect(away.tokenUses.store()).rejects.toThrow();
  await Bun.sleep(50);
  await sql`alter table access_token_away rename to access_token`;
  await away.tokenUses.store();
  expect((await tokens.get(id)).last_used_at).not.toBeNull();
  await away.stop();
});
