/** People, roles and invitations of an organization, and the operators' view of all people. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { readAudit } from '../../../db/audit/log.ts';
import { verifyAudit } from '../../../db/audit/verify.ts';
import { lockMembers, removeMember } from '../../../db/people/members.ts';
import { ROLES } from '../../../src/access/actions.ts';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { Browser, invite, join, PASSWORD, refusalOf, sendWith } from '../../support/people.ts';
import { beginSilent } from '../../support/silent-transaction.ts';

setDefaultTimeout(60_000);

let app: TestApp;
let owner: Awaited<ReturnType<typeof join>>;
beforeAll(async () => {
  app = await startTestApp();
  owner = await join(app, 'owner@example.com', 'owner');
});
afterAll(() => app.stop());

interface Listed {
  data: { id: string; email: string; role: string; status?: string }[];
  has_more: boolean;
  next_cursor: string | null;
}

const manage = (method: string, path: string, body?: unknown) =>
  sendWith(app, app.credentials.management_token, method, `/v1/management${path}`, body);
const operate = (method: string, path: string, body?: unknown) =>
  sendWith(app, app.credentials.operator_token, method, `/v1/operator${path}`, body);
const person = (of: { session: { person: { id: string } } }) =>
  `/v1/management/people/${of.session.person.id}`;

describe('people of an organization', () => {
  test('are listed page by page, with their roles', async () => {
    const viewer = await join(app, 'viewer@example.com', 'viewer');
    const first = await viewer.ask<Listed>('GET', '/v1/management/people?limit=1');
    expect(first.data).toMatchObject([{ email: 'viewer@example.com', role: 'viewer' }]);
    const cursor = encodeURIComponent(first.next_cursor ?? '');
    const next = await viewer.ask<Listed>('GET', `/v1/management/people?limit=1&cursor=${cursor}`);
    expect(next.data).toMatchObject([{ email: 'owner@example.com', role: 'owner' }]);
    expect(await viewer.ask('GET', person(viewer))).toMatchObject({ email: 'viewer@example.com' });
  });

  test.each(ROLES)('as %s may give and take only roles that are not above', async (role) => {
    const actor = await join(app, `${role}-actor@example.com`, role);
    const isAdmin = role === 'owner' || role === 'admin';
    for (const other of ROLES) {
      const target = await join(app, `${role}-${other}@example.com`, other);
      const may = isAdmin && ROLES.indexOf(other) >= ROLES.indexOf(role);
      const expected = may ? 200 : 403;
      const invitation = { email: `${role}-${other}-new@example.com`, role: other };
      const invited = await actor.send('POST', '/v1/management/invitations', invitation);
      const changed = await actor.send('PATCH', person(target), { role: 'viewer' });
      const raised = await actor.send('PATCH', person(actor), { role: other });
      await owner.ask('PATCH', person(actor), { role });
      const removed = await actor.send('DELETE', person(target));
      const statuses = [invited, changed, raised, removed].map(({ status }) => status);
      expect({ other, statuses }).toEqual({ other, statuses: statuses.map(() => expected) });
    }
  });

  test('keep an owner, also if two owners leave at once', async () => {
    await app.pool.sql`insert into organization (id, name) values ('org_two', 'Two')`;
    const one = await join(app, 'one@example.com', 'owner', 'org_two');
    const two = await join(app, 'two@example.com', 'owner', 'org_two');
    const answers = await Promise.all([
      one.send('DELETE', person(one)),
      two.send('PATCH', person(two), { role: 'viewer' }),
    ]);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 400]);
    const owners = await app.pool.sql`
      select from membership where organization_id = 'org_two' and role = 'owner'`;
    expect(owners.length).toBe(1);
  });

  test('keep an owner: a request waits for another one that has not committed yet', async () => {
    await app.pool.sql`insert into organization (id, name) values ('org_wait', 'Wait')`;
    const one = await join(app, 'first@example.com', 'owner', 'org_wait');
    const two = await join(app, 'second@example.com', 'owner', 'org_wait');
    const answer = await beginSilent(app.pool.sql, async (tx) => {
      await lockMembers(tx, 'org_wait');
      await removeMember(tx, 'org_wait', one.session.person.id);
      const asked = two.send('DELETE', person(two));
      // Without the lock, the request would still see two owners, and would be over by then.
      await Promise.race([asked, Bun.sleep(300)]);
      return { asked };
    });
    expect(await refusalOf(await answer.asked)).toBe('400 invalid_request_error');
  });

  test('are signed out at once when they are removed', async () => {
    const leaver = await join(app, 'leaver@example.com', 'member');
    expect((await leaver.send('GET', '/v1/auth/session')).status).toBe(200);
    expect(await owner.ask<object>('DELETE', person(leaver))).toMatchObject({ removed: true });
    expect(await refusalOf(await leaver.send('GET', '/v1/auth/session'))).toBe('401 session_ended');
  });

  test('lose no update of two admins at once', async () => {
    const target = await join(app, 'target@example.com', 'member');
    const read = await owner.send('GET', person(target));
    const headers = { 'if-match': read.headers.get('etag') ?? '' };
    const change = (role: string) => owner.send('PATCH', person(target), { role }, { headers });
    const answers = await Promise.all([change('admin'), change('viewer')]);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 412]);
  });

  test('of a closed organization read, and change nothing', async () => {
    await app.pool.sql`insert into organization (id, name) values ('org_off', 'Off')`;
    const chief = await join(app, 'off@example.com', 'owner', 'org_off');
    await app.pool.sql`update organization set status = 'closed' where id = 'org_off'`;
    expect((await chief.send('GET', '/v1/management/people')).status).toBe(200);
    const key = await chief.send('POST', '/v1/management/api-keys', { name: 'k' });
    expect(await refusalOf(key)).toBe('403 organization_closed');
  });

  test('of another organization are not found', async () => {
    await app.pool.sql`insert into organization (id, name) values ('org_far', 'Far')`;
    const far = await join(app, 'far@example.com', 'owner', 'org_far');
    for (const [method, body] of [['GET'], ['PATCH', { role: 'viewer' }], ['DELETE']] as const) {
      const answer = await owner.send(method, person(far), body);
      expect(await refusalOf(answer)).toBe('404 not_found');
    }
    const { id } = (await (
      await operate('POST', '/invitations', {
        ...{ email: 'far2@example.com', role: 'viewer', organization_id: 'org_far' },
      })
    ).json()) as { id: string };
    const revoked = await owner.send('POST', `/v1/management/invitations/${id}/revoke`);
    expect(await refusalOf(revoked)).toBe('404 not_found');
    const listed = await owner.ask<Listed>('GET', '/v1/management/invitations?limit=100');
    expect(listed.data.some(({ email }) => email === 'far2@example.com')).toBe(false);
  });
});

describe('invitations', () => {
  test('are shown once, listed without their link, accepted and revoked', async () => {
    const made = await manage('POST', '/invitations', { email: 'New@Example.com', role: 'member' });
    const { id, url, ...shown } = (await made.json()) as { id: string; url: string };
    expect(shown).toMatchObject({ email: 'new@example.com', role: 'member', status: 'pending' });
    expect(made.headers.get('cache-control')).toBe('no-store');
    const list = async (status: string) => {
      const answer = await manage('GET', `/invitations?status=${status}&limit=100`);
      const text = await answer.text();
      expect(text).not.toContain('lk-');
      return (JSON.parse(text) as Listed).data.map(({ id: listed }) => listed);
    };
    expect(await list('pending')).toContain(id);
    const browser = new Browser(app.base_url);
    await browser.ask('POST', url, { name: 'New', password: PASSWORD });
    expect(await list('used')).toContain(id);
    const again = await manage('POST', `/invitations/${id}/revoke`);
    expect(await again.json()).toMatchObject({ status: 'used' });
    const second = await manage('POST', '/invitations', { email: 'b@example.com', role: 'viewer' });
    const other = (await second.json()) as { id: string; url: string };
    const revoked = await manage('POST', `/invitations/${other.id}/revoke`);
    expect(await revoked.json()).toMatchObject({ status: 'revoked' });
    const late = await new Browser(app.base_url).send('POST', other.url, {
      ...{ name: 'B', password: PASSWORD },
    });
    expect(await refusalOf(late)).toBe('404 not_found');
  });

  test('are made once for one idempotency key', async () => {
    const send = () =>
      fetch(`${app.base_url}/v1/management/invitations`, {
        method: 'POST',
        body: JSON.stringify({ email: 'repeat@example.com', role: 'viewer' }),
        headers: {
          authorization: `Bearer ${app.credentials.management_token}`,
          ...{ 'content-type': 'application/json', 'idempotency-key': 'invite-1' },
        },
      });
    const [first, repeat] = [await (await send()).text(), await (await send()).text()];
    expect(repeat).toBe(first);
    const rows = await app.pool.sql`
      select from one_time_link where email = 'repeat@example.com'`;
    expect(rows.length).toBe(1);
  });

  test.each([
    ['email', { email: 'no address', role: 'viewer' }],
    ['email', { email: 'a@example.com\r\nBcc: b@example.com', role: 'viewer' }],
    ['email', { role: 'viewer' }],
    ['role', { email: 'a@example.com', role: 'emperor' }],
    ['role', { email: 'a@example.com' }],
    ['extra', { email: 'a@example.com', role: 'viewer', extra: 1 }],
  ])('name the wrong parameter %s', async (param, body) => {
    const answer = await manage('POST', '/invitations', body);
    const { error } = (await answer.json()) as { error: { param: string } };
    expect({ status: answer.status, param: error.param }).toEqual({ status: 400, param });
  });

  test('are limited, so that nobody sends mails without end', async () => {
    await app.pool.sql`insert into organization (id, name) values ('org_many', 'Many')`;
    const chief = await join(app, 'chief@example.com', 'owner', 'org_many');
    await app.pool.sql`
      insert into one_time_link (id, kind, secret_hash, email, is_mailed, organization_id, role,
        expires_at)
      select 'link_' || n, 'invitation', 'hash_' || n, n || '@example.com', true, 'org_many',
        'viewer', weir_now() + interval '1 day' from generate_series(1, 100) as n`;
    const more = { email: 'more@example.com', role: 'viewer' };
    const answer = await chief.send('POST', '/v1/management/invitations', more);
    expect(await refusalOf(answer)).toBe('400 invalid_request_error');
  });
});

describe('operators', () => {
  test('see all people, and help one who lost the password', async () => {
    const lost = await join(app, 'lost@example.com', 'viewer');
    const { id } = lost.session.person;
    const all = (await (await operate('GET', '/people?limit=100')).json()) as Listed;
    expect(all.data.map(({ email }) => email)).toContain('lost@example.com');
    expect(await (await operate('GET', `/people/${id}`)).json()).toMatchObject({
      ...{ email: 'lost@example.com', is_operator: false },
      organizations: [{ id: app.organization_id, role: 'viewer' }],
    });
    const made = await operate('POST', `/people/${id}/password-link`);
    const { url } = (await made.json()) as { url: string };
    const fresh = new Browser(app.base_url);
    const password = 'the next password';
    expect(await fresh.ask('POST', url, { password })).toMatchObject({ person: { id } });
    expect((await lost.send('GET', '/v1/auth/session')).status).toBe(401);
    expect((await new Browser(app.base_url).signIn('lost@example.com', password)).status).toBe(200);
    expect(await (await operate('POST', `/people/${id}/sign-out`)).json()).toMatchObject({
      ended_sessions: 2,
    });
    expect((await fresh.send('GET', '/v1/auth/session')).status).toBe(401);
    expect(await refusalOf(await operate('GET', '/people/person_none'))).toBe('404 not_found');
  });

  test('make operators and unmake them', async () => {
    const one = await join(app, 'op-one@example.com');
    const two = await join(app, 'op-two@example.com', 'viewer');
    const path = `/people/${two.session.person.id}`;
    expect((await operate('PATCH', path, { is_operator: true })).status).toBe(200);
    const listed = (await (await operate('GET', '/people?is_operator=true')).json()) as Listed;
    expect(listed.data.map(({ email }) => email).toSorted()).toEqual([
      ...['op-one@example.com', 'op-two@example.com'],
    ]);
    const answers = await Promise.all(
      [one, two].map(({ session }) =>
        operate('PATCH', `/people/${session.person.id}`, { is_operator: false }),
      ),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 400]);
  });

  test('invite to an organization that exists', async () => {
    const body = { email: 'a@example.com', role: 'viewer', organization_id: 'org_none' };
    expect(await refusalOf(await operate('POST', '/invitations', body))).toBe(
      '400 invalid_request_error',
    );
    const half = { email: 'a@example.com', role: 'viewer' };
    expect(await refusalOf(await operate('POST', '/invitations', half))).toBe(
      '400 invalid_request_error',
    );
  });
});

test('every change of people is in the log of its organization, whose chain is whole', async () => {
  await app.pool.sql`insert into organization (id, name) values ('org_log', 'Log')`;
  const chief = await join(app, 'log-owner@example.com', 'owner', 'org_log');
  const member = await join(app, 'log-member@example.com', 'member', 'org_log');
  await chief.ask('PATCH', person(member), { role: 'admin' });
  await invite(app, 'log-open@example.com', 'viewer', 'org_log');
  await chief.ask('DELETE', person(member));
  await chief.ask('POST', '/v1/auth/sign-out');
  const lines = await readAudit(app.pool.sql, 'org_log', {}, { after_seq: 0 }, 100);
  expect(lines.map(({ action, actor }) => `${action} ${actor.kind} ${actor.label}`)).toEqual([
    'invitation.create operator ',
    'member.add person log-owner@example.com',
    'invitation.use person log-owner@example.com',
    'session.create person log-owner@example.com',
    'invitation.create operator ',
    'member.add person log-member@example.com',
    'invitation.use person log-member@example.com',
    'session.create person log-member@example.com',
    'member.update person log-owner@example.com',
    'invitation.create operator ',
    'member.remove person log-owner@example.com',
    'session.end person log-owner@example.com',
  ]);
  expect(lines[8]).toMatchObject({ before: { role: 'member' }, after: { role: 'admin' } });
  for (const organization_id of ['org_log', null]) {
    expect((await verifyAudit(app.pool.sql, organization_id)).broken_at).toBeNull();
  }
});
