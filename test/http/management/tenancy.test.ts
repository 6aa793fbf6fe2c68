/**
 * Each route of lists, with each kind of credential, for an object of the caller's organization, of
 * another organization, and for an object that does not exist (P5, P6).
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import type { TSchema } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { EndpointListSchema } from '../../../src/http/alerts/records.ts';
import { BatchListSchema } from '../../../src/http/management/batches.ts';
import { DeliveryListSchema } from '../../../src/http/management/deliveries.ts';
import { TaskListSchema } from '../../../src/http/management/tasks.ts';
import { MANAGEMENT_ROUTES } from '../../../src/http/route-actions.ts';
import { errorOf } from '../../support/envelope.ts';
import { insideOf, startTenants, type Tenant, type Tenants } from '../../support/tenants.ts';

setDefaultTimeout(90_000);

let tenants: Tenants;
beforeAll(async () => {
  tenants = await startTenants();
});
afterAll(() => tenants.stop());

type Kind =
  | 'task'
  | 'batch'
  | 'delivery'
  | 'key'
  | 'token'
  | 'request'
  | 'window'
  | 'copy'
  | 'person'
  | 'invitation'
  | 'view'
  | 'upstream_key'
  | 'budget'
  | 'endpoint'
  | 'alert_delivery';

interface Route {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  path: string;
  role: 'management' | 'operator';
  /** The object that `{id}` stands for. */
  kind?: Kind;
  /**
   * The status for the caller's own object. The objects have ended, so no route can cancel them. null:
   * other tests have the caller's own object, because the route would end what this file needs.
   */
  status: number | null;
  body?: object;
}

const management = (
  method: Route['method'],
  path: string,
  status: number | null = 200,
  kind?: Kind,
  body?: object,
): Route => ({
  ...{ method, path: `/v1/management${path}`, role: 'management', status },
  ...(kind ? { kind } : {}),
  ...(body ? { body } : {}),
});
const operator = (path: string): Route => ({
  ...{ method: 'GET', path: `/v1/operator${path}`, role: 'operator', status: 200 },
});

const ROUTES: Route[] = [
  management('GET', '/tasks'),
  management('GET', '/tasks/{id}', 200, 'task'),
  management('POST', '/tasks/{id}/cancel', 400, 'task'),
  management('GET', '/inspect/machines'),
  management('GET', '/inspect/actors'),
  management('GET', '/inspect/calls'),
  management('GET', '/inspect/actors/task/{id}', 200, 'task'),
  management('GET', '/inspect/actors/task/{id}/events', 200, 'task'),
  management('GET', '/inspect/actors/task/{id}/events/1', 200, 'task'),
  management('GET', '/inspect/actors/task/{id}/recording', 200, 'task'),
  management('GET', '/inspect/requests/{id}/recording', 200, 'request'),
  management('GET', '/inspect/actors/batch/{id}/events', 200, 'batch'),
  management('GET', '/inspect/actors/quota/{id}', null, 'key'),
  management('GET', '/batches'),
  management('GET', '/batches/{id}', 200, 'batch'),
  management('POST', '/batches/{id}/cancel', 400, 'batch'),
  management('GET', '/batches/{id}/results', 200, 'batch'),
  management('GET', '/notices'),
  // Tests of their own have every kind of id.
  management('GET', '/find?id=x', 404),
  management('GET', '/webhook-deliveries'),
  management('POST', '/webhook-deliveries/{id}/redeliver', 200, 'delivery'),
  management('GET', '/tokens'),
  management('POST', '/tokens', 415),
  management('GET', '/tokens/{id}', 200, 'token'),
  management('PATCH', '/tokens/{id}', 200, 'token', { name: 'mine' }),
  management('POST', '/tokens/{id}/rotate', null, 'token'),
  management('POST', '/tokens/{id}/revoke', null, 'token'),
  management('GET', '/people'),
  management('GET', '/people/{id}', 200, 'person'),
  management('PATCH', '/people/{id}', 200, 'person', { role: 'viewer' }),
  management('DELETE', '/people/{id}', null, 'person'),
  management('GET', '/invitations'),
  management('POST', '/invitations', 415),
  management('POST', '/invitations/{id}/revoke', 200, 'invitation'),
  management('GET', '/balance'),
  management('GET', '/organization'),
  management('PATCH', '/organization', 200, undefined, { keep_answers: true }),
  management('GET', '/webhook-secret'),
  management('POST', '/webhook-secret/rotate'),
  management('GET', '/audit-log'),
  management('GET', '/audit-log/export'),
  management('GET', '/audit-log/check'),
  management('GET', '/usage'),
  management('GET', '/billing'),
  management('GET', '/requests'),
  management('GET', '/calls'),
  management('GET', '/usage/query?metric=cost&group=api_key_id'),
  management('GET', '/usage/queries?query=metric%3Dcost%26group%3Dapi_key_id'),
  management('GET', '/usage/export'),
  management('GET', '/statements/2026-01'),
  management('GET', '/api-keys'),
  // Without a body, these requests are refused.
  management('POST', '/api-keys', 415),
  management('GET', '/api-keys/{id}', 200, 'key'),
  management('PATCH', '/api-keys/{id}', 200, 'key', { name: 'mine' }),
  management('POST', '/api-keys/{id}/rotate', null, 'key'),
  management('DELETE', '/api-keys/{id}', null, 'key'),
  management('GET', '/api-keys/{id}/usage', 200, 'key'),
  management('GET', '/api-keys/{id}/billing', 200, 'key'),
  management('GET', '/requests/{id}', 200, 'request'),
  management('DELETE', '/cache?cache_entry_id={id}', 200, 'request'),
  management('GET', '/models'),
  management('GET', '/models/gpt-4o'),
  management('GET', '/views'),
  management('POST', '/views', 415),
  management('PATCH', '/views/{id}', 200, 'view', { name: 'mine' }),
  management('DELETE', '/views/{id}', null, 'view'),
  management('GET', '/budgets'),
  management('POST', '/budgets', 200, undefined, { period: 'week', limit_amount: 1 }),
  management('GET', '/budgets/{id}', 200, 'budget'),
  management('PATCH', '/budgets/{id}', 200, 'budget', { limit_amount: 2 }),
  management('DELETE', '/budgets/{id}', null, 'budget'),
  management('GET', '/upstream-keys'),
  management('POST', '/upstream-keys', 415),
  management('GET', '/upstream-keys/{id}', 200, 'upstream_key'),
  management('PATCH', '/upstream-keys/{id}', 200, 'upstream_key', { name: 'mine' }),
  // The key of this row cannot be decrypted.
  management('POST', '/upstream-keys/{id}/test', 409, 'upstream_key'),
  management('POST', '/upstream-keys/{id}/rotate', null, 'upstream_key', { api_key: 'sim-x' }),
  management('POST', '/upstream-keys/{id}/revoke', null, 'upstream_key'),
  management('GET', '/debug-windows'),
  // Without a body, the window of this request is refused.
  management('POST', '/debug-windows', 415),
  management('GET', '/debug-windows/{id}', 200, 'window'),
  management('POST', '/debug-windows/{id}/close', 200, 'window'),
  management('GET', '/debug-events'),
  management('GET', '/requests/{id}/debug', 200, 'copy'),
  management('GET', '/alerts'),
  management('GET', '/alert-endpoints'),
  management('POST', '/alert-endpoints', 415),
  management('GET', '/alert-endpoints/{id}', 200, 'endpoint'),
  management('PATCH', '/alert-endpoints/{id}', 200, 'endpoint', { name: 'mine' }),
  management('DELETE', '/alert-endpoints/{id}', null, 'endpoint'),
  management('POST', '/alert-endpoints/{id}/rotate', 200, 'endpoint'),
  management('POST', '/alert-endpoints/{id}/test', 200, 'endpoint'),
  management('GET', '/alert-deliveries'),
  management('POST', '/alert-deliveries/{id}/redeliver', 200, 'alert_delivery'),
  management('GET', '/alert-settings'),
  management('PATCH', '/alert-settings', 200, undefined, { unused_days: 30 }),
  operator('/people'),
  operator('/alerts'),
  operator('/alert-endpoints'),
  operator('/alert-deliveries'),
  operator('/invitations'),
  operator('/tokens'),
  operator('/organizations'),
  operator('/audit-log'),
  operator('/calls'),
  operator('/tasks'),
  operator('/inspect/machines'),
  operator('/inspect/actors'),
  operator('/inspect/calls'),
  // Without a body, an act is refused.
  ...['retry', 'cancel', 'reset'].map(
    (act): Route => ({
      ...operator(`/inspect/actors/task/weir_none/${act}`),
      ...{ method: 'POST', status: 415 },
    }),
  ),
  operator('/books'),
  operator('/channels/canary-channel-chat/circuit-history'),
];

const CREDENTIALS: { name: string; token: () => string | undefined; role?: Route['role'] }[] = [
  { name: 'no credential', token: () => undefined },
  { name: 'an unknown management token', token: () => `mt-${'x'.repeat(43)}` },
  { name: 'an unknown operator token', token: () => `op-${'x'.repeat(43)}` },
  { name: 'a revoked management token', token: () => tenants.revoked.management_token },
  { name: 'an expired management token', token: () => tenants.revoked.expired_management_token },
  { name: 'an expired operator token', token: () => tenants.revoked.expired_operator_token },
  { name: 'a revoked operator token', token: () => tenants.revoked.operator_token },
  { name: 'an API key', token: () => tenants.home.api_key },
  { name: 'a management token', token: () => tenants.home.management_token, role: 'management' },
  { name: 'an operator token', token: () => tenants.weir.operator_token, role: 'operator' },
];

const idOf = ({ key_id: key, token_id: token, ...tenant }: Tenant, kind: Kind) =>
  ({ ...tenant, key, token })[kind];
const pathFor = ({ path, kind }: Route, tenant: Tenant) =>
  path.replace('{id}', kind ? idOf(tenant, kind) : '');
const MISSING: Record<Kind, string> = {
  task: `weir_${'0'.repeat(32)}`,
  batch: `msgbatch_${'0'.repeat(32)}`,
  delivery: `msg_weir_${'0'.repeat(32)}`,
  key: `key_${'0'.repeat(32)}`,
  token: `token_${'0'.repeat(32)}`,
  request: `req_${'0'.repeat(32)}`,
  window: `dbg_${'0'.repeat(32)}`,
  copy: `req_${'0'.repeat(32)}`,
  person: `person_${'0'.repeat(32)}`,
  invitation: `link_${'0'.repeat(32)}`,
  view: `view_${'0'.repeat(32)}`,
  upstream_key: `upkey_${'0'.repeat(32)}`,
  budget: `budget_${'0'.repeat(32)}`,
  endpoint: `endpoint_${'0'.repeat(32)}`,
  alert_delivery: `msg_${'0'.repeat(32)}`,
};

/** Sends the request of a route, for the object with this id. */
const sendRoute = (
  { method, path, body }: Route,
  id: string,
  token?: string,
  weir = tenants.weir,
) =>
  fetch(weir.base_url + path.replace('{id}', encodeURIComponent(id)), {
    method,
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body ? { 'content-type': 'application/json' } : {}),
    },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
const idFor = ({ kind }: Route, tenant: Tenant) => (kind ? idOf(tenant, kind) : '');

test('the table has every route of an organization, but for streams', () => {
  const known = ROUTES.map(({ method, path }) => `${method} ${path.replace(/\?.*/, '')}`);
  const missing = Object.keys(MANAGEMENT_ROUTES)
    .map((route) =>
      route
        .replace(/:(id|keyId)\b/g, '{id}')
        .replace(':month', '2026-01')
        .replace(':kind', 'task')
        .replace(':seq', '1')
        .replace(':model', 'gpt-4o'),
    )
    .filter((route) => !known.includes(route));
  expect(missing).toEqual(['GET /v1/management/events', 'GET /v1/management/inspect/events']);
});

describe.each(ROUTES)('$method $path', (route) => {
  test.each(CREDENTIALS)('$name', async ({ token, role }) => {
    if (role === route.role && route.status === null) return;
    const response = await sendRoute(route, idFor(route, tenants.home), token());
    if (role === route.role) {
      expect(response.status).toBe(route.status as number);
      await response.text();
    } else await errorOf(response, 401);
  });

  if (route.kind !== undefined) {
    const missing = MISSING[route.kind];
    test('P6: another organization’s object answers exactly like a missing one', async () => {
      const token = tenants.home.management_token;
      const [strange, absent] = await Promise.all([
        sendRoute(route, idFor(route, tenants.away), token),
        sendRoute(route, missing, token, tenants.second),
      ]);
      expect(await errorOf(strange, 404)).toEqual(await errorOf(absent, 404));
      const odd = ['%00', '..%2f', 'x'.repeat(500), "'; drop table task"].map((id) =>
        sendRoute(route, id, token),
      );
      for (const response of await Promise.all(odd)) await errorOf(response, 404);
    });
  }
});

const LISTS: [path: string, object: Kind, schema: TSchema][] = [
  ['/v1/management/tasks', 'task', TaskListSchema],
  ['/v1/management/batches', 'batch', BatchListSchema],
  ['/v1/management/webhook-deliveries', 'delivery', DeliveryListSchema],
  ['/v1/management/alert-endpoints', 'endpoint', EndpointListSchema],
];

test.each(LISTS)(
  'P6: GET %s lists the own objects only, on both replicas',
  async (path, kind, schema) => {
    for (const weir of [tenants.weir, tenants.second]) {
      for (const tenant of [tenants.home, tenants.away]) {
        const response = await tenants.send('GET', path, tenant.management_token, weir);
        const list = (await response.json()) as { data: { id: string }[] };
        expect([...Value.Errors(schema, list)]).toEqual([]);
        expect(list.data.map(({ id }) => id)).toEqual([idOf(tenant, kind)]);
      }
    }
  },
);

test('P6: filters by ids of another organization find nothing', async () => {
  const { away } = tenants;
  const queries = [
    `/tasks?api_key_id=${away.key_id}`,
    `/batches?api_key_id=${away.key_id}`,
    `/webhook-deliveries?task_id=${away.task}`,
    `/alert-deliveries?endpoint_id=${away.endpoint}`,
    `/alerts?subject_id=${away.endpoint}`,
  ];
  for (const query of queries) {
    expect(await tenants.manage<object>('GET', query)).toEqual({
      object: 'list',
      data: [],
      has_more: false,
      next_cursor: null,
    });
  }
});

test('P5: no management answer names a channel, a provider or a physical model', async () => {
  const inside = insideOf(tenants);
  const operators = await tenants.send('GET', '/v1/operator/tasks', tenants.weir.operator_token);
  // The canary is where operators may see it, so the test can find it.
  expect(await operators.text()).toMatch(inside);
  const answered = ROUTES.filter(({ role, status }) => role === 'management' && status);
  // The catalogue has the public aliases of models. One of them is the name at its provider too.
  for (const route of answered.filter(({ path }) => !path.startsWith('/v1/management/models'))) {
    for (const path of [pathFor(route, tenants.home), pathFor(route, tenants.away)]) {
      const response = await tenants.send(route.method, path, tenants.home.management_token);
      const text = JSON.stringify([...response.headers]) + (await response.text());
      expect(text).not.toMatch(inside);
    }
  }
});
