/** Every management route × every scope of a token, and every operator route × an operator's scopes. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { hashCredential, newCredential, newId, shownPrefix } from '../../../db/secrets.ts';
import { may, SCOPES, type TokenScope } from '../../../src/access/actions.ts';
import { MANAGEMENT_ROUTES } from '../../../src/http/route-actions.ts';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { errorOf } from '../../support/envelope.ts';

let app: TestApp;
const tokens = new Map<string, string>();
const SETS: TokenScope[][] = [[], ...SCOPES.map((scope) => [scope]), ['read', 'keys', 'billing']];

beforeAll(async () => {
  app = await startTestApp();
  for (const kind of ['management', 'operator'] as const) {
    for (const scopes of SETS) {
      const secret = newCredential(kind === 'management' ? 'mt' : 'op');
      await app.database.sql`insert into access_token ${app.database.sql({
        ...{ id: newId('token'), kind, scopes, token_hash: hashCredential(secret) },
        organization_id: kind === 'management' ? app.organization_id : null,
        token_prefix: shownPrefix(secret),
      })}`;
      tokens.set(`${kind} ${scopes}`, secret);
    }
  }
});
afterAll(() => app.stop());

/** Sends a request without a body, and returns the status and the error's code. */
async function send(route: string, token: string) {
  const [method = '', path = ''] = route.split(' ');
  const response = await fetch(app.base_url + path.replace(/:\w+/g, 'x'), {
    method,
    headers: { authorization: `Bearer ${token}` },
  });
  if (response.status === 403) return { status: 403, error: await errorOf(response, 403) };
  await response.body?.cancel();
  return { status: response.status, error: undefined };
}

const routes = Object.entries(MANAGEMENT_ROUTES);

describe.each(SETS.map((scopes) => [scopes.join(' and ') || 'no scope', scopes] as const))(
  'a management token with %s',
  (_, scopes) => {
    test.each(routes)('%s', async (route, action) => {
      const { status, error } = await send(route, tokens.get(`management ${scopes}`) ?? '');
      if (may({ scopes }, action)) expect([401, 403]).not.toContain(status);
      else {
        expect(error).toMatchObject({ code: 'access_denied', type: 'access_denied' });
        expect(error?.message).toMatch(/needs a token with the scope .*admin/);
      }
    });
  },
);

const OPERATED = ['GET /v1/operator/audit-log', 'POST /v1/operator/channels/x/disable'];

test.each(SETS.map((scopes) => [scopes.join(' and ') || 'no scope', scopes] as const))(
  'an operator token with %s',
  async (_, scopes) => {
    const token = tokens.get(`operator ${scopes}`) ?? '';
    const [reads, writes] = await Promise.all(OPERATED.map((route) => send(route, token)));
    expect(reads?.status === 403).toBe(!scopes.some((scope) => /read|admin/.test(scope)));
    expect(writes?.status === 403).toBe(!scopes.includes('admin'));
  },
);

test.each([
  ['has expired', { expires_at: new Date(Date.now() - 1_000) }, 401],
  ['expires later', { expires_at: new Date(Date.now() + 60_000) }, 200],
  ['was revoked', { revoked_at: new Date(Date.now() - 1_000) }, 401],
  ['is revoked later', { revoked_at: new Date(Date.now() + 60_000) }, 200],
])('a token that %s', async (_, times, status) => {
  const secret = newCredential('mt');
  await app.database.sql`insert into access_token ${app.database.sql({
    ...{ id: newId('token'), kind: 'management', organization_id: app.organization_id },
    ...{ token_hash: hashCredential(secret), token_prefix: shownPrefix(secret), ...times },
  })}`;
  expect((await send('GET /v1/management/balance', secret)).status).toBe(status);
});
