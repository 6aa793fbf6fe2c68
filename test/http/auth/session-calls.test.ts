/**
 * Calls of people: the cookie of a session and the id of an API key, instead of the key. Every route that
 * takes a key is called, and so is every way in which a person may not.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { may, ROLES } from '../../../src/access/actions.ts';
import { startTestApp, type TestApp } from '../../support/app.ts';
import type { KeyRecord } from '../../support/managed-keys.ts';
import { PAID_ROUTES } from '../../support/paid-routes.ts';
import { Browser, join, refusalOf } from '../../support/people.ts';

setDefaultTimeout(60_000);

let app: TestApp;
let key_id: string;
/** A key of an organization in which nobody of these tests but `stranger` is. */
let foreign_key_id: string;
const people = new Map<string, Browser>();
let stranger: Browser;

beforeAll(async () => {
  app = await startTestApp({ roles: { standard: 1_000_000, tiny: 2 } });
  key_id = (await newKey()).id;
  await app.pool.sql`insert into organization (id, name) values ('org_other', 'Other')`;
  foreign_key_id = 'key_of_the_other_organization';
  await app.pool.sql`insert into api_key (id, organization_id, name, key_hash, key_prefix)
    values (${foreign_key_id}, 'org_other', 'Other', 'hash', 'sk-other')`;
  for (const role of ROLES) people.set(role, await join(app, `${role}@example.com`, role));
  stranger = await join(app, 'stranger@example.com', 'owner', 'org_other');
});
afterAll(() => app.stop());

async function newKey(body: object = {}): Promise<KeyRecord> {
  const answer = await app.manage('POST', '/api-keys', { name: 'of a test', ...body });
  expect(answer.status).toBe(200);
  return (await answer.json()) as KeyRecord;
}

const CHAT = { model: 'gpt-4o', messages: [{ role: 'user', content: 'hi' }] };
const member = () => people.get('member') as Browser;

interface Sent {
  method?: string;
  path?: string;
  body?: unknown;
  page?: 'own' | 'foreign' | 'none';
  headers?: Record<string, string>;
}

/** Sends a call of a person, a chat call by default. */
function call(browser: Browser, id = key_id, sent: Sent = {}): Promise<Response> {
  const { method = 'POST', path = '/v1/chat/completions', page = 'own' } = sent;
  const body = method === 'POST' ? (sent.body ?? CHAT) : undefined;
  const headers = { 'weir-key': id, 'anthropic-version': '2023-06-01', ...sent.headers };
  return browser.send(method, path, body, { page, headers });
}

describe('a person who may use keys', () => {
  test('calls a model with the key that its id names', async () => {
    const before = app.calls.length;
    const answer = await call(member());
    expect({ status: answer.status, body: await answer.json() }).toEqual({
      ...{ status: 200, body: { ok: true } },
    });
    expect(app.calls.slice(before).map((each) => each.key.id)).toEqual([key_id]);
  });

  test.each(ROLES)('is an owner, an admin or a member: %s', async (member_role) => {
    const answer = await call(people.get(member_role) as Browser);
    if (may({ member_role }, 'keys.use')) expect(answer.status).toBe(200);
    else expect(await refusalOf(answer)).toBe('403 access_denied');
  });

  test.each(['/v1/models', '/v1/models/gpt-4o', '/v1beta/models', '/v1/messages/batches'])(
    'reads %s',
    async (path) => {
      const sent = { method: 'GET', path };
      // This app serves no batches: 503 after the key was found.
      expect([200, 503]).toContain((await call(member(), key_id, sent)).status);
      expect((await call(people.get('viewer') as Browser, key_id, sent)).status).toBe(403);
    },
  );

  test('reads a task and its events', async () => {
    for (const path of ['/v1/tasks/weir_0', '/v1/tasks/weir_0/events', '/v1/images/weir_0']) {
      const sent = { method: 'GET', path };
      expect((await call(member(), key_id, sent)).status).toBe(404);
      expect((await call(people.get('viewer') as Browser, key_id, sent)).status).toBe(403);
    }
  });
});

describe.each(PAID_ROUTES.map((route) => [route.name, route] as const))('%s', (_, route) => {
  const send = (browser: Browser, id: string, page: Sent['page'] = 'own') => {
    const body = route.body('hi');
    if (!(body instanceof FormData)) return call(browser, id, { path: route.path, body, page });
    return fetch(app.base_url + route.path, {
      ...{ method: 'POST', body },
      headers: {
        ...{ cookie: browser.cookie, 'weir-key': id },
        origin: page === 'own' ? app.base_url : 'https://evil.example',
      },
    });
  };
  const statusOf = async (browser: Browser, id: string, page?: Sent['page']) => {
    const answer = await send(browser, id, page);
    await answer.body?.cancel();
    return answer.status;
  };

  test('lets a member in, and nobody else', async () => {
    expect([401, 403, 404]).not.toContain(await statusOf(member(), key_id));
    expect(await statusOf(people.get('viewer') as Browser, key_id)).toBe(403);
    expect(await statusOf(member(), key_id, 'foreign')).toBe(403);
    expect(await statusOf(stranger, key_id)).toBe(404);
    expect(await statusOf(new Browser(app.base_url), key_id)).toBe(401);
  });
});

describe('a page of another site', () => {
  const FOREIGN: Record<string, string>[] = [
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
  ];
  test.each(FOREIGN)('%p spends nothing', async (headers) => {
    const before = app.calls.length;
    const answer = await call(member(), key_id, { page: 'none', headers });
    expect(await refusalOf(answer)).toBe('403 access_denied');
    expect(app.calls.length).toBe(before);
  });

  test('cannot read an answer either', async () => {
    for (const method of ['GET', 'OPTIONS']) {
      const headers = { origin: 'https://evil.example' };
      const answer = await call(member(), key_id, { method, path: '/v1/models', headers });
      expect(answer.headers.get('access-control-allow-origin')).toBeNull();
    }
  });
});

describe('a key that the person may not use', () => {
  test('of another organization looks like one that does not exist', async () => {
    const answers = [foreign_key_id, 'key_missing', '', "' or true --", '\u00ff'].map((id) =>
      call(member(), id),
    );
    const shown = await Promise.all(
      (await Promise.all(answers)).map(async (answer) => {
        const { error } = (await answer.json()) as { error: object };
        return { status: answer.status, error: { ...error, request_id: '' } };
      }),
    );
    for (const each of shown) expect(each).toEqual(shown[0] as never);
    expect(shown[0]).toMatchObject({
      status: 404,
      error: { code: 'not_found', param: 'weir-key' },
    });
  });

  test('of another organization looks so when it is revoked, too', async () => {
    await app.pool.sql`update api_key set status = 'revoked' where id = ${foreign_key_id}`;
    expect(await refusalOf(await call(member(), foreign_key_id))).toBe('404 not_found');
  });

  test('although its secret was used on this replica', async () => {
    const { id, key } = await newKey();
    await app.fetch('/v1/models', { headers: { authorization: `Bearer ${key}` } });
    expect(await refusalOf(await call(stranger, id))).toBe('404 not_found');
    expect((await call(member(), id)).status).toBe(200);
  });

  test.each([
    ['revoked', 401, 'expired_api_key'],
    ['inactive', 403, 'access_denied'],
    ['suspended', 403, 'access_denied'],
  ])('%s', async (status, code, name) => {
    const { id } = await newKey();
    expect((await call(member(), id)).status).toBe(200);
    await app.pool.sql`update api_key set status = ${status} where id = ${id}`;
    app.keys.invalidate(id);
    expect(await refusalOf(await call(member(), id))).toBe(`${code} ${name}`);
  });

  test('that has expired', async () => {
    const { id } = await newKey();
    await app.pool.sql`update api_key set expires_at = now() - interval '1 s' where id = ${id}`;
    app.keys.invalidate(id);
    expect(await refusalOf(await call(member(), id))).toBe('401 expired_api_key');
  });

  test('for a model that its list does not have', async () => {
    const { id } = await newKey({ models: ['gpt-4o-mini'] });
    expect(await refusalOf(await call(member(), id))).toBe('403 model_not_allowed');
    const body = { ...CHAT, model: 'gpt-4o-mini' };
    expect((await call(member(), id, { body })).status).toBe(200);
  });

  test('after its own requests per minute', async () => {
    const { id } = await newKey({ requests_per_minute: 2 });
    const statuses: number[] = [];
    for (let round = 0; round < 3; round += 1) statuses.push((await call(member(), id)).status);
    expect(statuses).toEqual([200, 200, 429]);
  });
});

describe('a person who may not call', () => {
  test('has no session, a forged one, or one that has ended', async () => {
    expect(await refusalOf(await call(new Browser(app.base_url)))).toBe('401 session_ended');
    const forged = new Browser(app.base_url);
    forged.cookies.set('weir.session_token', `${'a'.repeat(32)}.${'A'.repeat(43)}=`);
    expect(await refusalOf(await call(forged))).toBe('401 session_ended');
    const leaver = await join(app, 'leaver@example.com', 'member');
    expect((await call(leaver)).status).toBe(200);
    const cookies = [...leaver.cookies];
    await leaver.ask('POST', '/v1/auth/sign-out');
    for (const [name, value] of cookies) leaver.cookies.set(name, value);
    expect(await refusalOf(await call(leaver))).toBe('401 session_ended');
  });

  test('was removed from the organization, or is a viewer now', async () => {
    const gone = await join(app, 'gone@example.com', 'member');
    const { id } = gone.session.person;
    await app.manage('PATCH', `/people/${id}`, { role: 'viewer' });
    expect(await refusalOf(await call(gone))).toBe('403 access_denied');
    await app.manage('DELETE', `/people/${id}`);
    expect((await call(gone)).status).toBeGreaterThanOrEqual(401);
  });

  test('names an organization that the person is not in', async () => {
    const headers = { 'weir-organization': 'org_other' };
    expect(await refusalOf(await call(member(), foreign_key_id, { headers }))).toBe(
      '403 access_denied',
    );
  });

  test('is in a suspended organization', async () => {
    await app.pool.sql`update organization set status = 'suspended' where id = 'org_other'`;
    await app.pool.sql`update api_key set status = 'active' where id = ${foreign_key_id}`;
    app.keys.invalidateAll();
    expect(await refusalOf(await call(stranger, foreign_key_id))).toBe(
      '403 organization_suspended',
    );
  });
});

describe('a request with a credential of its own', () => {
  test('ignores the cookie and the id', async () => {
    const before = app.calls.length;
    const headers = { authorization: `Bearer ${app.credentials.api_key}` };
    expect((await call(stranger, 'key_missing', { headers })).status).toBe(200);
    expect(app.calls[before]?.key.organization_id).toBe(app.organization_id);
    for (const wrong of [
      { authorization: 'Bearer sk-unknown' },
      { authorization: 'Basic c2stOng=' },
      { 'x-api-key': 'sk-unknown' },
      { 'x-goog-api-key': 'sk-unknown' },
    ]) {
      expect(await refusalOf(await call(member(), key_id, { headers: wrong as never }))).toBe(
        '401 invalid_api_key',
      );
    }
  });

  test('and a cookie without the id of a key is no credential', async () => {
    const answer = await member().send('POST', '/v1/chat/completions', CHAT);
    expect(await refusalOf(answer)).toBe('401 invalid_api_key');
  });
});

test('the id of a key opens no management route', async () => {
  const headers = { 'weir-key': key_id };
  const answer = await fetch(`${app.base_url}/v1/management/api-keys`, { headers });
  expect(answer.status).toBe(401);
});
