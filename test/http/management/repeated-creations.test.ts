/** Every route that creates something for an administrator takes an `Idempotency-Key`. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { MANAGEMENT_ROUTES } from '../../../src/http/route-actions.ts';
import { startTestApp, type TestApp } from '../../support/app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());

const TOKEN = { name: 'x', scopes: ['read'] };
const CREATIONS: [path: string, body: object][] = [
  ['/v1/management/api-keys', { name: 'x' }],
  ['/v1/management/tokens', TOKEN],
  ['/v1/management/invitations', { email: 'a@example.com', role: 'viewer' }],
  ['/v1/management/views', { name: 'x', page: 'usage', query: 'metric=cost' }],
  ['/v1/management/budgets', { period: 'day', limit_amount: 1 }],
  [
    '/v1/management/alert-endpoints',
    { name: 'x', type: 'webhook', url: 'https://example.com/hook' },
  ],
  ['/v1/operator/alert-endpoints', { name: 'x', type: 'webhook', url: 'https://example.com/hook' }],
  ['/v1/operator/tokens', TOKEN],
  ['/v1/operator/organizations', { name: 'x', management_token: true }],
  ['/v1/operator/organizations/{id}/tokens', TOKEN],
  ['/v1/operator/organizations/{id}/deposits', { amount: 1, reference: 'pay_1' }],
  ['/v1/operator/invitations', { email: 'b@example.com' }],
];
/** Tested beside what they need: debug-windows.test.ts, own-keys/routes.test.ts. */
const ELSEWHERE = ['/v1/management/debug-windows', '/v1/management/upstream-keys'];

test('the cases have every creation of the management interface', () => {
  const creations = Object.keys(MANAGEMENT_ROUTES).flatMap(
    (route) => /^POST (\/v1\/management\/[\w-]+)$/.exec(route)?.slice(1) ?? [],
  );
  const known = [...CREATIONS.map(([path]) => path), ...ELSEWHERE];
  expect(creations.filter((path) => !known.includes(path))).toEqual([]);
});

test.each(CREATIONS)('POST %s', async (path, body) => {
  const isOperator = path.startsWith('/v1/operator');
  const { management_token, operator_token } = app.credentials;
  const send = async (more: object = {}) => {
    const response = await fetch(app.base_url + path.replace('{id}', app.organization_id), {
      method: 'POST',
      headers: {
        authorization: `Bearer ${isOperator ? operator_token : management_token}`,
        'content-type': 'application/json',
        'idempotency-key': 'once',
      },
      body: JSON.stringify({ ...body, ...more }),
    });
    const isRepeat = response.headers.get('idempotent-replayed') === 'true';
    return { status: response.status, isRepeat, text: await response.text() };
  };
  const first = await send();
  expect(first).toMatchObject({ status: 200, isRepeat: false });
  expect(await send()).toEqual({ ...first, isRepeat: true });
  const name = Object.keys(body).includes('name') ? { name: 'y' } : { email: 'c@example.com' };
  const amounts = 'limit_amount' in body ? { limit_amount: 2 } : name;
  const other = 'amount' in body ? { amount: 2 } : amounts;
  expect((await send(other)).status).toBe(422);
});
