/** Nobody gets more rights by a token than by his role: a person could make himself an owner with it. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { may, ROLES, SCOPES } from '../../../src/access/actions.ts';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { errorOf } from '../../support/envelope.ts';
import { ManagedTokens, type TokenRecord } from '../../support/managed-tokens.ts';
import { join, sendWith } from '../../support/people.ts';

setDefaultTimeout(60_000);

type Member = Awaited<ReturnType<typeof join>>;
const PATH = '/v1/management/tokens';

let app: TestApp;
const tokens = new ManagedTokens(() => app, 'management');
const members = new Map<string, Member>();
beforeAll(async () => {
  app = await startTestApp();
  for (const role of ROLES) members.set(role, await join(app, `${role}@example.com`, role));
});
afterAll(() => app.stop());
const member = (role: string) => members.get(role) as Member;

describe.each(ROLES)('a person with the role %s', (role) => {
  test.each(SCOPES)('and a token with the scope %s', async (scope) => {
    const response = await member(role).send('POST', PATH, { name: 'mine', scopes: [scope] });
    const mayWrite = may({ member_role: role }, 'tokens.write');
    const allowed = mayWrite && (role === 'owner' || scope !== 'admin');
    if (!allowed) {
      const error = await errorOf(response as never, 403);
      expect(error.code).toBe('access_denied');
      if (mayWrite) expect(error.param).toBe('scopes.0');
      return;
    }
    const made = (await response.json()) as TokenRecord;
    expect(made).toMatchObject({ created_by: member(role).session.person.id, scopes: [scope] });
    expect(await tokens.statusWith(made.token)).toBe(scope === 'keys' ? 403 : 200);
  });
});

test('403: an admin neither rotates nor widens a token that has more rights, but may revoke it', async () => {
  const admin = member('admin');
  const strong = await tokens.add({ scopes: ['admin'] });
  const weak = await tokens.add({ scopes: ['read'] });
  for (const [method, path, body] of [
    ['POST', `/${strong.id}/rotate`, {}],
    ['PATCH', `/${strong.id}`, { name: 'mine' }],
    ['PATCH', `/${weak.id}`, { scopes: ['read', 'admin'] }],
  ] as const) {
    const response = await admin.send(method, PATH + path, body);
    expect((await errorOf(response as never, 403)).code).toBe('access_denied');
  }
  expect(await tokens.get(weak.id)).toMatchObject({ scopes: ['read'] });
  expect((await admin.send('POST', `${PATH}/${weak.id}/rotate`, {})).status).toBe(200);
  expect((await admin.send('POST', `${PATH}/${strong.id}/revoke`, {})).status).toBe(200);
  expect(await tokens.statusWith(strong.token)).toBe(401);
});

test('an owner’s token may make an owner, and a token of an admin may not', async () => {
  const person = member('viewer').session.person.id;
  const path = `/v1/management/people/${person}`;
  const make = async (role: string, scopes: string[]) =>
    (await member(role).ask<{ token: string }>('POST', PATH, { name: 'x', scopes })).token;
  const weak = await make('admin', ['read', 'keys', 'billing']);
  await errorOf((await sendWith(app, weak, 'PATCH', path, { role: 'owner' })) as never, 403);
  const strong = await make('owner', ['admin']);
  expect((await sendWith(app, strong, 'PATCH', path, { role: 'owner' })).status).toBe(200);
});

test('a repeat of another person’s request gets another token', async () => {
  const headers = { 'idempotency-key': 'guessed-by-a-colleague' };
  const body = { name: 'same', scopes: ['read'] };
  const secrets = await Promise.all(
    ['owner', 'admin', 'owner'].map(async (role) => {
      const response = await member(role).send('POST', PATH, body, { headers });
      return ((await response.json()) as { token: string }).token;
    }),
  );
  expect(secrets[0]).toBe(secrets[2] as string);
  expect(secrets[1]).not.toBe(secrets[0] as string);
});
