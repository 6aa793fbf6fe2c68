/** What an id is (`GET /v1/management/find`), and the results of a batch with a management credential. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { hashCredential, newCredential, newId, shownPrefix } from '../../../db/secrets.ts';
import { errorOf } from '../../support/envelope.ts';
import { type Browser, join } from '../../support/people.ts';
import { startTenants, type Tenant, type Tenants } from '../../support/tenants.ts';

setDefaultTimeout(90_000);

let tenants: Tenants;
let member: Browser;
let viewer: Browser;
beforeAll(async () => {
  tenants = await startTenants();
  const { weir, home } = tenants;
  const joined = {
    ...{ base_url: weir.base_url, organization_id: home.id },
    credentials: { operator_token: weir.operator_token },
  };
  member = await join(joined, 'member@example.com', 'member');
  viewer = await join(joined, 'viewer@example.com', 'viewer');
});
afterAll(() => tenants.stop());

const path = (id: string) => `/v1/management/find?id=${encodeURIComponent(id)}`;
const find = (id: string, token = tenants.home.management_token) =>
  tenants.send('GET', path(id), token);

/** The ids of a tenant with the answer to each. */
const idsOf = (tenant: Tenant): [id: string, kind: string, page: string][] => [
  [tenant.request, 'request', 'usage'],
  [tenant.task, 'task', 'tasks'],
  [tenant.batch, 'batch', 'batches'],
  [tenant.delivery, 'delivery', 'tasks'],
  [tenant.key_id, 'key', 'api-keys'],
  [tenant.token_id, 'token', 'access'],
  [tenant.person, 'person', 'access'],
  [tenant.invitation, 'invitation', 'access'],
  [tenant.view, 'view', 'usage'],
  [tenant.window, 'debug_window', 'usage'],
  [tenant.budget, 'budget', 'billing'],
  [tenant.upstream_key, 'upstream_key', 'access'],
  [tenant.endpoint, 'alert_endpoint', 'alerts'],
  [tenant.alert_delivery, 'alert_delivery', 'alerts'],
  ['audit_1', 'audit_line', 'access'],
];

describe('GET /v1/management/find', () => {
  test('names the kind and the page of every kind of id', async () => {
    for (const [id, kind, page] of idsOf(tenants.home)) {
      const answer = await (await find(id)).json();
      expect(answer).toEqual({ object: 'found', kind, id, page });
    }
  });

  test('finds a call by its transaction and by its bare id', async () => {
    const id = tenants.home.request;
    for (const form of [id.replace('req_', 'txn_'), id.slice(4), ` ${id} `]) {
      expect(await (await find(form)).json()).toMatchObject({ kind: 'request', id });
    }
  });

  test('finds a key and a token by the start that lists show', async () => {
    const { home } = tenants;
    for (const [secret, kind, id] of [
      [home.api_key, 'key', home.key_id],
      [home.management_token, 'token', home.token_id],
    ] as const) {
      const prefix = shownPrefix(secret);
      for (const form of [prefix, prefix.slice(0, -1), prefix.replace('…', '...')]) {
        expect(await (await find(form)).json()).toMatchObject({ kind, id });
      }
      // A whole secret finds nothing, because it should not be in an address.
      await errorOf(await find(secret), 404);
    }
  });

  test('of two keys with one prefix, the one that is not deleted', async () => {
    const secret = newCredential('sk');
    const rows = [true, false].map((isDeleted) => ({
      ...{ id: newId('key'), organization_id: tenants.home.id, name: 'twin' },
      ...{ key_hash: hashCredential(newCredential('sk')), key_prefix: shownPrefix(secret) },
      status: isDeleted ? 'revoked' : 'active',
      created_at: new Date(isDeleted ? Date.now() : Date.now() - 60_000),
      deleted_at: isDeleted ? new Date() : null,
    }));
    const { sql } = tenants.database;
    await sql`insert into api_key ${sql(rows)}`;
    const found = await (await find(shownPrefix(secret))).json();
    expect(found).toMatchObject({ kind: 'key', id: rows[1]?.id });
  });

  test('P6: an id of another organization answers like one that never was', async () => {
    const missing = await errorOf(await find(`key_${'0'.repeat(32)}`), 404);
    const strange = [
      ...idsOf(tenants.away)
        .filter(([id]) => id !== 'audit_1')
        .map(([id]) => id),
      ...[shownPrefix(tenants.away.api_key), shownPrefix(tenants.away.management_token)],
      ...['audit_999999', 'x', 'req_', "'; drop table task", '../x', 'weir_', 'sk-', '%'],
    ];
    for (const id of strange) {
      const error = await errorOf(await find(id), 404);
      expect({ ...error, request_id: '' }).toEqual({ ...missing, request_id: '' } as never);
    }
  });

  test('so does an id whose kind the caller may not see', async () => {
    for (const id of [tenants.home.token_id, 'audit_1', tenants.home.window]) {
      expect((await viewer.send('GET', path(id))).status).toBe(404);
    }
    expect((await viewer.send('GET', path(tenants.home.key_id))).status).toBe(200);
  });

  test('an own view is found by its person only', async () => {
    const view = { name: 'mine', page: 'usage', query: '' };
    const { id } = await viewer.ask<{ id: string }>('POST', '/v1/management/views', view);
    expect((await viewer.send('GET', path(id))).status).toBe(200);
    expect((await member.send('GET', path(id))).status).toBe(404);
    expect((await find(id)).status).toBe(404);
  });

  test.each(['', '?id=', `?id=${'x'.repeat(201)}`, '?id=a&id=b', '?key=x', '?id=%00'])(
    '400: %s',
    async (query) => {
      const token = tenants.home.management_token;
      await errorOf(await tenants.send('GET', `/v1/management/find${query}`, token), 400);
    },
  );
});

describe('GET /v1/management/batches/{id}/results', () => {
  const results = (id: string) => `/v1/management/batches/${id}/results`;

  test('has the lines that the route for API keys has', async () => {
    const { batch, management_token, api_key } = tenants.home;
    const answer = await tenants.send('GET', results(batch), management_token);
    expect(answer.headers.get('content-disposition')).toContain(`${batch}.jsonl`);
    const native = await fetch(`${tenants.weir.base_url}/v1/messages/batches/${batch}/results`, {
      headers: { 'x-api-key': api_key, 'anthropic-version': '2023-06-01' },
    });
    const text = await answer.text();
    expect(text).toBe(await native.text());
    expect(text.trim().split('\n').length).toBe(3);
  });

  test('is for people who may call models, and not for viewers', async () => {
    const { batch } = tenants.home;
    expect((await member.send('GET', results(batch))).status).toBe(200);
    expect((await viewer.send('GET', results(batch))).status).toBe(403);
  });

  test('400 while the batch runs, 404 when its results are archived', async () => {
    const { id } = await tenants.create<{ id: string }>('/v1/messages/batches', tenants.home, {
      requests: [
        {
          custom_id: 'slow',
          params: {
            ...{ model: 'claude-haiku-4-5', max_tokens: 20 },
            messages: [{ role: 'user', content: 'hi [[sim tokens=5 latency_ms=3000]]' }],
          },
        },
      ],
    });
    const token = tenants.home.management_token;
    const error = await errorOf(await tenants.send('GET', results(id), token), 400);
    expect(error).toMatchObject({ param: 'id' });
    const { batch } = tenants.home;
    await tenants.database.sql`update message_batch set archived_at = now() where id = ${batch}`;
    await errorOf(await tenants.send('GET', results(batch), token), 404);
  });
});
