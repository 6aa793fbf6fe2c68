/** Signing in and out by password, and sessions on the management and operator routes. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import type { AuditLine } from '../../../db/audit/entry.ts';
import { readAudit } from '../../../db/audit/log.ts';
import { firstOperatorLink } from '../../../src/start/people.ts';
import { startTestApp, type TestApp } from '../../support/app.ts';
import {
  Browser,
  firstOperator,
  join,
  PASSWORD,
  refusalOf,
  type SessionRecord,
} from '../../support/people.ts';

setDefaultTimeout(30_000);

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());

const linesOf = (organization_id: string | null, action: string): Promise<AuditLine[]> =>
  readAudit(app.pool.sql, organization_id, { action }, {}, 50);

describe('the first operator', () => {
  test('signs in by the link of the start, which then works no more', async () => {
    const lost = await firstOperatorLink(app.pool.sql, app.base_url);
    const link = (await firstOperatorLink(app.pool.sql, app.base_url)) ?? '';
    const browser = new Browser(app.base_url);
    const body = { email: 'First@Example.com', name: 'First', password: PASSWORD };
    expect(await refusalOf(await browser.send('POST', lost ?? '', body))).toBe('404 not_found');
    const shown = await browser.ask<{ kind: string; email: null }>('GET', link);
    expect(shown).toMatchObject({ kind: 'operator', email: null, organization: null });
    const session = await browser.ask<SessionRecord>('POST', link, body);
    expect(session).toMatchObject({
      is_operator: true,
      // Nobody was in the organization that the first start made.
      organizations: [{ id: app.organization_id, name: 'First organization', role: 'owner' }],
      person: { email: 'first@example.com', name: 'First' },
    });
    expect((await browser.send('GET', '/v1/operator/books')).status).toBe(503);
    expect((await browser.send('GET', '/v1/operator/people')).status).toBe(200);
    const again = { ...body, email: 'other@example.com' };
    expect(await refusalOf(await browser.send('POST', link, again))).toBe('404 not_found');
    expect(await firstOperatorLink(app.pool.sql, app.base_url)).toBeUndefined();
    const [line] = await linesOf(null, 'operator.add');
    expect(line).toMatchObject({
      ...{ subject_id: session.person.id, after: { email: 'first@example.com' } },
      actor: { kind: 'person', label: 'first@example.com', address: '127.0.0.1' },
    });
  });
});

describe('a session', () => {
  test('begins with the password, names its person, and ends with the sign-out', async () => {
    const { session } = await join(app, 'ada@example.com', 'member');
    const browser = new Browser(app.base_url);
    const answer = await browser.signIn('ADA@example.com');
    expect(answer.status).toBe(200);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    const [cookie = ''] = answer.headers.getSetCookie();
    expect(cookie).toStartWith('weir.session_token=');
    expect(cookie).toMatch(/; Max-Age=604800; Path=\/; HttpOnly; SameSite=Lax$/);
    const mine = (await answer.json()) as SessionRecord;
    expect(mine.person).toEqual(session.person);
    expect(mine.organizations).toEqual([
      { id: app.organization_id, name: 'First organization', role: 'member' },
    ]);
    expect((await browser.send('GET', '/v1/management/balance')).status).toBe(200);
    const stolen = new Browser(app.base_url);
    for (const [name, value] of browser.cookies) stolen.cookies.set(name, value);
    await browser.ask('POST', '/v1/auth/sign-out');
    expect(browser.cookies.size).toBe(0);
    for (const path of ['/v1/auth/session', '/v1/management/balance', '/v1/operator/people']) {
      expect(await refusalOf(await stolen.send('GET', path))).toBe('401 session_ended');
    }
    for (const organization_id of [null, app.organization_id]) {
      const [begun] = await linesOf(organization_id, 'session.create');
      expect(begun).toMatchObject({
        actor: { kind: 'person', label: 'ada@example.com', credential_id: mine.id },
        after: { by: 'password' },
      });
      const [ended] = await linesOf(organization_id, 'session.end');
      expect(ended?.actor.credential_id).toBe(mine.id);
    }
  });

  test('that ends counts for all later requests, however many are on their way', async () => {
    const browser = await join(app, 'bo@example.com', 'member');
    const page = new Browser(app.base_url);
    for (const [name, value] of browser.cookies) page.cookies.set(name, value);
    const ask = () => page.send('GET', '/v1/management/balance');
    for (let round = 0; round < 5; round += 1) {
      const before = Array.from({ length: 10 }, ask);
      if (round === 4) await browser.ask('POST', '/v1/auth/sign-out');
      const after = await Promise.all(Array.from({ length: 10 }, ask));
      const status = round === 4 ? 401 : 200;
      expect(after.map((answer) => answer.status)).toEqual(after.map(() => status));
      await Promise.all(before);
    }
  });

  test('is secret: the database has no cookie that works, and a forged one is refused', async () => {
    const browser = await join(app, 'bea@example.com', 'viewer');
    const [row] = await app.pool.sql<{ token: string }[]>`
      select token from person_session where person_id = ${browser.session.person.id}`;
    const forged = new Browser(app.base_url);
    for (const value of [row?.token ?? '', `${row?.token}.${'A'.repeat(43)}%3D`]) {
      forged.cookies.set('weir.session_token', value);
      expect(await refusalOf(await forged.send('GET', '/v1/auth/session'))).toBe(
        '401 session_ended',
      );
    }
  });

  test('of a token that is sent too counts for nothing', async () => {
    const browser = await join(app, 'cyd@example.com', 'viewer');
    const headers = { authorization: `Bearer mt-wrong` };
    const answer = await browser.send('GET', '/v1/management/balance', undefined, { headers });
    expect(await refusalOf(answer)).toBe('401 invalid_api_key');
  });

  test('acts in the organization that the request names', async () => {
    const { sql } = app.pool;
    await sql`insert into organization (id, name) values ('org_second', 'Second')`;
    const browser = await join(app, 'dan@example.com', 'viewer');
    const link = (await join(app, 'eva@example.com', 'owner', 'org_second')) && browser;
    const at = (organization: string) =>
      browser.send('GET', '/v1/management/organization', undefined, {
        headers: { 'weir-organization': organization },
      });
    expect((await at(app.organization_id)).status).toBe(200);
    expect(await refusalOf(await at('org_second'))).toBe('403 access_denied');
    expect(await refusalOf(await at('org_missing'))).toBe('403 access_denied');
    const { invite } = await import('../../support/people.ts');
    await link.ask('POST', await invite(app, 'dan@example.com', 'admin', 'org_second'), {});
    expect(await ((await at('org_second')).json() as Promise<object>)).toMatchObject({
      id: 'org_second',
    });
    const unnamed = await browser.send('GET', '/v1/management/organization');
    expect(await refusalOf(unnamed)).toBe('400 invalid_request_error');
    // A link, which sends no header, names the organization of an export.
    const exported = (organization: string) =>
      browser.send('GET', `/v1/management/usage/export?organization_id=${organization}`);
    expect((await exported('org_second')).status).toBe(200);
    expect((await exported(app.organization_id)).status).toBe(200);
    expect(await refusalOf(await exported('org_missing'))).toBe('403 access_denied');
  });

  test('with a new password, ends the others', async () => {
    const browser = await join(app, 'fay@example.com', 'viewer');
    const other = new Browser(app.base_url);
    await other.signIn('fay@example.com');
    const change = (current_password: string, new_password: string) =>
      browser.send('POST', '/v1/auth/password', { current_password, new_password });
    expect(await refusalOf(await change('wrong wrong wrong', 'another password'))).toBe(
      '400 invalid_request_error',
    );
    expect(await refusalOf(await change(PASSWORD, 'too short'))).toBe('400 invalid_request_error');
    expect((await change(PASSWORD, 'another password')).status).toBe(200);
    expect((await browser.send('GET', '/v1/auth/session')).status).toBe(200);
    expect((await other.send('GET', '/v1/auth/session')).status).toBe(401);
    expect(await refusalOf(await other.signIn('fay@example.com'))).toBe('401 sign_in_failed');
    expect((await other.signIn('fay@example.com', 'another password')).status).toBe(200);
    const [line] = await linesOf(app.organization_id, 'person.password');
    expect(line?.after).toEqual({ ended_sessions: 1 });
  });

  test('of an operator may do what operators do, and nothing in an organization', async () => {
    const { sql } = app.pool;
    await sql`delete from operator_person`;
    const browser = await firstOperator(app);
    expect((await browser.send('GET', '/v1/operator/audit-log')).status).toBe(200);
    expect(await refusalOf(await browser.send('GET', '/v1/management/balance'))).toBe(
      '403 access_denied',
    );
    const viewer = await join(app, 'gil@example.com', 'owner');
    expect(await refusalOf(await viewer.send('GET', '/v1/operator/people'))).toBe(
      '403 access_denied',
    );
    const email = 'hal@example.com';
    await browser.ask('POST', '/v1/operator/invitations', {
      ...{ email, role: 'viewer', organization_id: app.organization_id },
    });
    const [installation] = await linesOf(null, 'invitation.create');
    expect(installation?.actor).toMatchObject({
      ...{ kind: 'operator', label: 'operator@example.com', id: browser.session.person.id },
    });
    const [organization] = await linesOf(app.organization_id, 'invitation.create');
    expect(organization?.actor).toMatchObject({ kind: 'operator', id: '', label: '' });
  });
});
