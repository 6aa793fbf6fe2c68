/** Organizations as operators create, change, suspend and close them, and book their money (P1). */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { verifyAudit } from '../../../db/audit/verify.ts';
import { findImbalances } from '../../../db/ledger/audit.ts';
import { WeirError } from '../../../src/errors/weir-error.ts';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { errorOf } from '../../support/envelope.ts';
import { OperatedOrganizations } from '../../support/operated-organizations.ts';

setDefaultTimeout(30_000);

let app: TestApp;
/** Another replica on the same database. */
let second: TestApp;
const operated = () => ({ ...app, operator_token: app.credentials.operator_token });
const organizations = new OperatedOrganizations(operated);
beforeAll(async () => {
  app = await startTestApp();
  second = await startTestApp({ requests_go_to: app.database.url });
});
afterAll(async () => {
  expect(await findImbalances(app.database.sql)).toEqual([]);
  expect(app.reported.filter((error) => !(error instanceof WeirError))).toEqual([]);
  await second.stop();
  await app.stop();
});

const manage = (token: string | undefined, method: string, path: string, body?: object) =>
  fetch(`${app.base_url}/v1/management${path}`, {
    method,
    ...(body ? { body: JSON.stringify(body) } : {}),
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
  });

interface AuditLine {
  action: string;
  before: object | null;
  after: object | null;
  actor: { kind: string; id: string };
}

/** The lines about a subject in the log of an organization, the oldest first. */
async function linesOf(token: string | undefined, subject_id?: string): Promise<AuditLine[]> {
  const query = subject_id === undefined ? '' : `?subject_id=${subject_id}`;
  const response = await manage(token, 'GET', `/audit-log${query}`);
  return ((await response.json()) as { data: AuditLine[] }).data.reverse();
}

describe('POST /v1/operator/organizations', () => {
  test('200: a new organization, with its first management token once', async () => {
    const key = { 'idempotency-key': crypto.randomUUID() };
    const body = { name: ' Acme \t', management_token: true };
    const made = await organizations.ask('POST', '', body, key);
    const { management_token, ...shown } = made;
    expect(shown).toEqual({
      ...({ object: 'organization', name: 'Acme', role: 'standard', status: 'active' } as object),
      id: expect.stringMatching(/^org_[0-9a-f]{32}$/),
      ...{ max_keys: null, requests_per_minute: null, status_reason: '', status_changed_at: null },
      balance: { currency: 'USD', total_deposited: 0, available: 0, held: 0, used: 0 },
      credit_line: { amount: 0, used: 0, to_return: 0 },
      created_at: expect.any(String),
    } as never);
    expect(await organizations.ask('POST', '', body, key)).toEqual(made);
    expect(await organizations.get(made.id)).toEqual(shown);
    const key_made = await manage(management_token, 'POST', '/api-keys', {});
    expect(key_made.status).toBe(200);
    expect(JSON.stringify(await linesOf(management_token))).not.toContain(
      management_token?.slice(10) ?? '?',
    );
    expect((await linesOf(management_token)).map(({ action }) => action)).toEqual([
      ...['organization.create', 'management_token.create', 'api_key.create'],
    ]);
  });

  test('200: without management_token, no token is made', async () => {
    const made = await organizations.create();
    expect(made.management_token).toBeUndefined();
    const rows = await app.database.sql`
      select from access_token where organization_id = ${made.id}`;
    expect(rows.length).toBe(0);
  });

  test.each([
    ['name', {}],
    ['name', { name: '' }],
    ['name', { name: 'x'.repeat(51) }],
    ['name', { name: 'a\u0000' }],
    ['role', { name: 'x', role: 'king' }],
    ['role', { name: 'x', role: '__proto__' }],
    ['max_keys', { name: 'x', max_keys: -1 }],
    ['max_keys', { name: 'x', max_keys: 10_001 }],
    ['requests_per_minute', { name: 'x', requests_per_minute: 0 }],
    ['requests_per_minute', { name: 'x', requests_per_minute: 1.5 }],
    ['management_token', { name: 'x', management_token: 'yes' }],
    ['balance', { name: 'x', balance: 5 }],
    ['id', { name: 'x', id: 'org_1' }],
  ])('400: names %s in %j', async (param, body) => {
    expect((await errorOf(await organizations.send('POST', '', body), 400)).param).toBe(param);
  });
});

describe('GET /v1/operator/organizations', () => {
  test('200: pages, the newest first, with filters', async () => {
    const name = `List ${crypto.randomUUID().slice(0, 8)}`;
    const made = [];
    for (const role of ['trial', 'standard', 'trial']) {
      made.push(await organizations.create({ name, role }));
    }
    const newest = made.map(({ id }) => id).reverse();
    const ids = async (query: string) => (await organizations.list(query)).map(({ id }) => id);
    const named = `?name=${encodeURIComponent(name.toUpperCase())}`;
    expect(await ids(named)).toEqual(newest);
    expect(await ids(`${named}&role=standard`)).toEqual([made[1]?.id ?? '']);
    await organizations.setStatus(made[0]?.id ?? '', 'suspend');
    expect(await ids(`${named}&status=suspended`)).toEqual([made[0]?.id ?? '']);
    type Page = { data: { id: string }[]; next_cursor: string | null };
    const seen: string[] = [];
    let cursor = '';
    do {
      const page = await organizations.ask<Page>('GET', `${named}&limit=2${cursor}`);
      seen.push(...page.data.map(({ id }) => id));
      cursor = page.next_cursor === null ? '' : `&cursor=${page.next_cursor}`;
    } while (cursor);
    expect(seen).toEqual(newest);
  });

  test.each(['?status=gone', '?limit=0', '?cursor=x', '?name=', '?role=%00', '?who=me'])(
    '400: %s',
    async (query) => {
      await errorOf(await organizations.send('GET', query), 400);
    },
  );
});

describe('PATCH /v1/operator/organizations/{id}', () => {
  test('200: the changed terms, a line in both logs, and at once on every replica', async () => {
    const { id, management_token } = await organizations.create({ management_token: true });
    const { key } = (await (await manage(management_token, 'POST', '/api-keys', {})).json()) as {
      key: string;
    };
    await organizations.ask('PATCH', `/${id}`, { name: 'Other', max_keys: 1, role: 'trial' });
    expect(await organizations.get(id)).toMatchObject({ name: 'Other', max_keys: 1 });
    const refused = await manage(management_token, 'POST', '/api-keys', {});
    expect((await errorOf(refused, 400)).message).toContain('at most 1 API keys');
    const call = () =>
      fetch(`${app.base_url}/v1/models`, { headers: { authorization: `Bearer ${key}` } });
    await organizations.ask('PATCH', `/${id}`, { requests_per_minute: 1, max_keys: null });
    const lines = await linesOf(management_token, id);
    expect(lines.slice(1)).toMatchObject([
      {
        action: 'organization.update',
        before: { name: 'Acme', max_keys: null, role: 'standard' },
        after: { name: 'Other', max_keys: 1, role: 'trial' },
        actor: { kind: 'operator', id: '' },
      },
      { before: { max_keys: 1, requests_per_minute: null }, after: { max_keys: null } },
    ]);
    const limits = [await call(), await call()].map(({ headers }) =>
      headers.get('x-ratelimit-limit-requests'),
    );
    expect(limits).toEqual(['1', '1']);
    expect(await verifyAudit(app.database.sql, null)).toMatchObject({ broken_at: null });
  });

  test('400: a change without fields, or with wrong ones', async () => {
    const { id } = await organizations.create();
    for (const [param, body] of [
      ['body', {}],
      ['status', { status: 'active' }],
      ['role', { role: 'king' }],
    ] as const) {
      const response = await organizations.send('PATCH', `/${id}`, body);
      expect((await errorOf(response, 400)).param).toBe(param);
    }
  });

  test('412: terms that another operator changed', async () => {
    const { id } = await organizations.create();
    const tag = (await organizations.send('GET', `/${id}`)).headers.get('etag') ?? '';
    await organizations.ask('PATCH', `/${id}`, { max_keys: 3 }, { 'if-match': tag });
    const late = await organizations.send('PATCH', `/${id}`, { max_keys: 4 }, { 'if-match': tag });
    await errorOf(late, 412);
    expect((await organizations.get(id)).max_keys).toBe(3);
  });
});

describe('status', () => {
  test('403: keys of a suspended organization, whose tokens still work', async () => {
    const { id, management_token } = await organizations.create({ management_token: true });
    const { key } = (await (await manage(management_token, 'POST', '/api-keys', {})).json()) as {
      key: string;
    };
    const call = () =>
      fetch(`${app.base_url}/v1/models`, { headers: { authorization: `Bearer ${key}` } });
    expect((await call()).status).toBe(200);
    const suspended = await organizations.setStatus(id, 'suspend', 'unpaid bills');
    expect(suspended).toMatchObject({ status: 'suspended', status_reason: 'unpaid bills' });
    expect(await errorOf(await call(), 403)).toMatchObject({
      ...{ code: 'organization_suspended', type: 'access_denied' },
      message: 'The organization of this API key is suspended.',
    });
    expect(await organizations.setStatus(id, 'suspend', 'again')).toEqual(suspended);
    expect((await manage(management_token, 'POST', '/api-keys', {})).status).toBe(200);
    const shown = await (await manage(management_token, 'GET', '/organization')).json();
    expect(shown).toMatchObject({ status: 'suspended', status_reason: 'unpaid bills' });
    await organizations.setStatus(id, 'reactivate', 'paid');
    expect((await call()).status).toBe(200);
    const lines = await linesOf(management_token, id);
    expect(lines.slice(1)).toMatchObject([
      { action: 'organization.suspend', before: { status: 'active', status_reason: '' } },
      { action: 'organization.reactivate', after: { status: 'active', status_reason: 'paid' } },
    ]);
  });

  test('403: a closed organization is read-only, loses its free credit, and can come back', async () => {
    const { id, management_token } = await organizations.create({ management_token: true });
    await organizations.ask('POST', `/${id}/deposits`, { amount: 5, reference: 'p' });
    await organizations.ask('PATCH', `/${id}/credit-line`, { amount: 10 });
    expect(await organizations.setStatus(id, 'close')).toMatchObject({
      ...{ status: 'closed', balance: { total_deposited: 5, available: 5 } },
      credit_line: { amount: 0, used: 0, to_return: 0 },
    });
    expect((await manage(management_token, 'GET', '/balance')).status).toBe(200);
    const refused = await manage(management_token, 'POST', '/api-keys', {});
    expect((await errorOf(refused, 403)).code).toBe('organization_closed');
    for (const [method, path, body] of [
      ['POST', 'deposits', { amount: 1, reference: 'late' }],
      ['PATCH', 'credit-line', { amount: 1 }],
      ['POST', 'suspend', { reason: 'r' }],
    ] as const) {
      const response = await organizations.send(method, `/${id}/${path}`, body);
      expect((await errorOf(response, 409)).code).toBe('conflict');
    }
    await organizations.setStatus(id, 'reactivate');
    expect((await manage(management_token, 'POST', '/api-keys', {})).status).toBe(200);
  });

  test('409: an organization with held money is not closed', async () => {
    const { id } = await organizations.create();
    await organizations.ask('POST', `/${id}/deposits`, { amount: 5, reference: 'p' });
    const { sql } = app.database;
    const hold_id = Bun.randomUUIDv7();
    await sql`insert into api_key ${sql({
      ...{ id: `key_of_${id}`, organization_id: id, name: 'n', key_hash: id, key_prefix: 'sk-' },
      held_nano_usd: 1_000_000_000,
    })}`;
    await sql.begin(async (tx) => {
      await tx`update organization set balance_nano_usd = 4000000000, held_nano_usd = 1000000000
        where id = ${id}`;
      await tx`insert into hold ${tx({
        ...{ id: hold_id, key_id: `key_of_${id}`, organization_id: id, reference: 'task' },
        ...{ amount_nano_usd: 1_000_000_000, expires_at: new Date('2100-01-01') },
      })}`;
    });
    const refused = await organizations.send('POST', `/${id}/close`, { reason: 'r' });
    expect((await errorOf(refused, 409)).message).toContain('1 USD are held');
    expect((await organizations.get(id)).status).toBe('active');
  });

  test('400: without a reason; 404: for an unknown organization', async () => {
    const { id } = await organizations.create();
    for (const deed of ['suspend', 'reactivate', 'close']) {
      for (const body of [{}, { reason: '' }, { reason: 'x'.repeat(501) }, { reason: 'a\u0000' }]) {
        const response = await organizations.send('POST', `/${id}/${deed}`, body);
        expect((await errorOf(response, 400)).param).toBe('reason');
      }
      for (const unknown of ['org_none', '%00', "'--"]) {
        const response = await organizations.send('POST', `/${unknown}/${deed}`, { reason: 'r' });
        expect((await errorOf(response, 404)).param).toBe('id');
      }
    }
  });
});

const ROUTES: { method: string; path: string; body?: object }[] = [
  { method: 'GET', path: '' },
  { method: 'POST', path: '', body: { name: 'x' } },
  { method: 'GET', path: '/{id}' },
  { method: 'PATCH', path: '/{id}', body: { name: 'x' } },
  { method: 'POST', path: '/{id}/suspend', body: { reason: 'r' } },
  { method: 'POST', path: '/{id}/reactivate', body: { reason: 'r' } },
  { method: 'POST', path: '/{id}/close', body: { reason: 'r' } },
  { method: 'GET', path: '/{id}/deposits' },
  { method: 'POST', path: '/{id}/deposits', body: { amount: 1, reference: 'r' } },
  { method: 'PATCH', path: '/{id}/credit-line', body: { amount: 1 } },
];

describe.each(ROUTES)('$method $path', ({ method, path, body }) => {
  test('401: without an operator token', async () => {
    const { organization_id, credentials } = app;
    const before = await organizations.get(organization_id);
    const { management_token, api_key } = credentials;
    for (const token of ['', `op-${'x'.repeat(43)}`, management_token, api_key]) {
      const stranger = new OperatedOrganizations(() => ({ ...app, operator_token: token }));
      const response = await stranger.send(method, path.replace('{id}', organization_id), body);
      await errorOf(response, 401);
    }
    expect(await organizations.get(organization_id)).toEqual(before);
  });

  test('503: while the database is away, nothing changes', async () => {
    const { id } = await organizations.create();
    const state = async () => {
      const [log] = await app.database.sql`select count(*)::int4 as lines from audit_log`;
      return [await organizations.get(id), log?.['lines']];
    };
    const before = await state();
    const lost = await startTestApp({ requests_go_to: 'postgres://weir@127.0.0.1:1/none' });
    const { operator_token } = app.credentials;
    const away = new OperatedOrganizations(() => ({ ...lost, operator_token }));
    const error = await errorOf(await away.send(method, path.replace('{id}', id), body), 503);
    expect(error).toMatchObject({ code: 'service_unavailable', retryable: true });
    await lost.stop();
    expect(await state()).toEqual(before);
  });
});

test('403: an operator token that may only read changes nothing', async () => {
  const response = await fetch(`${app.base_url}/v1/operator/tokens`, {
    method: 'POST',
    body: JSON.stringify({ name: 'reader', scopes: ['read'] }),
    headers: {
      authorization: `Bearer ${app.credentials.operator_token}`,
      'content-type': 'application/json',
    },
  });
  const { token } = (await response.json()) as { token: string };
  const reader = new OperatedOrganizations(() => ({ ...app, operator_token: token }));
  expect((await reader.send('GET')).status).toBe(200);
  await errorOf(await reader.send('POST', '', { name: 'x' }), 403);
  const path = `/${app.organization_id}/deposits`;
  await errorOf(await reader.send('POST', path, { amount: 1, reference: 'r' }), 403);
});
