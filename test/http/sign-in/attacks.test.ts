/**
 * The attacks that signing in invites (OWASP: Authentication, Session Management, Forgot Password and
 * Cross-Site Request Forgery Prevention Cheat Sheets).
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import type { Mail } from '../../../src/mail/mailer.ts';
import { startTestApp, type TestApp } from '../../support/app.ts';
import {
  Browser,
  firstOperator,
  invite,
  join,
  PASSWORD,
  refusalOf,
  type SessionRecord,
  sendWith,
} from '../../support/people.ts';
import { until } from '../../support/until.ts';

setDefaultTimeout(60_000);

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ trusted_proxies: '127.0.0.1/32' });
});
afterAll(() => app.stop());

const from = (address: string) => ({ headers: { 'x-forwarded-for': address } });
const attempt = (email: string, password: string, address = '203.0.113.1') =>
  new Browser(app.base_url).send(
    'POST',
    '/v1/auth/sign-in',
    { email, password },
    { ...from(address), page: 'none' },
  );

describe('enumeration of accounts', () => {
  test('by message: an unknown address and a wrong password have the same answer', async () => {
    await join(app, 'known@example.com', 'viewer');
    const shown = async (email: string) => {
      const answer = await attempt(email, 'wrong wrong wrong');
      const { error } = (await answer.json()) as { error: Record<string, unknown> };
      return { status: answer.status, ...error, request_id: '' };
    };
    const known = await shown('known@example.com');
    expect(known).toMatchObject({ status: 401, code: 'sign_in_failed' });
    expect(await shown('unknown@example.com')).toEqual(known);
  });

  test('by time: an unknown address takes as long as a wrong password', async () => {
    const times = { known: Number.POSITIVE_INFINITY, unknown: Number.POSITIVE_INFINITY };
    for (let round = 0; round < 12; round += 1) {
      await join(app, `known-${round}@example.com`, 'viewer');
      for (const who of ['known', 'unknown'] as const) {
        const start = performance.now();
        await (await attempt(`${who}-${round}@example.com`, 'wrong wrong wrong')).text();
        // The shortest time is the one that other processes disturbed least.
        times[who] = Math.min(times[who], performance.now() - start);
      }
    }
    const ratio = times.known / times.unknown;
    expect(ratio).toBeGreaterThan(0.5);
    expect(ratio).toBeLessThan(2);
    // The time is that of a hash, which no faster path skips.
    expect(times.unknown).toBeGreaterThan(15);
  });

  test('by the lock: an account that does not exist is locked too', async () => {
    const statuses = async (email: string) => {
      const answers: number[] = [];
      for (let round = 0; round < 12; round += 1) {
        answers.push((await attempt(email, 'wrong wrong wrong', `198.51.100.${round}`)).status);
      }
      return answers;
    };
    const known = await statuses('known@example.com');
    expect(known.slice(-2)).toEqual([429, 429]);
    await join(app, 'lock@example.com', 'viewer');
    expect(await statuses('lock@example.com')).toEqual(await statuses('nobody@example.com'));
  });
});

test('fixation: a sign-in gives a new session, and never the one that the browser came with', async () => {
  const planted = await join(app, 'attacker@example.com', 'viewer');
  await join(app, 'victim@example.com', 'viewer');
  const victim = new Browser(app.base_url);
  victim.cookies.set('weir.session_token', planted.cookies.get('weir.session_token') ?? '');
  const session = (await (await victim.signIn('victim@example.com')).json()) as SessionRecord;
  expect(session.person.email).toBe('victim@example.com');
  expect(victim.cookie).not.toBe(planted.cookie);
  const still = await planted.ask<SessionRecord>('GET', '/v1/auth/session');
  expect(still.person.email).toBe('attacker@example.com');
});

describe('CSRF: a page of another site', () => {
  const ROUTES: [method: string, path: string, body: object][] = [
    ['POST', '/v1/auth/sign-in', { email: 'attacker@example.com', password: PASSWORD }],
    ['POST', '/v1/auth/sign-out', {}],
    ['POST', '/v1/auth/password', { current_password: PASSWORD, new_password: 'x'.repeat(12) }],
    ['POST', '/v1/auth/password-reset', { email: 'csrf@example.com' }],
    ['POST', '/v1/management/api-keys', { name: 'csrf' }],
    ['PATCH', '/v1/management/organization', { keep_answers: false }],
    ['POST', '/v1/management/invitations', { email: 'x@example.com', role: 'owner' }],
    ['POST', '/v1/operator/invitations', { email: 'x@example.com' }],
  ];

  test.each(ROUTES)('%s %s is refused', async (method, path, body) => {
    const browser = new Browser(app.base_url);
    if ((await browser.signIn('csrf@example.com')).status !== 200) {
      await join(app, 'csrf@example.com', 'owner');
      await browser.signIn('csrf@example.com');
    }
    const foreign: Record<string, string>[] = [
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { origin: `${app.base_url}.evil.example` },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
    ];
    for (const headers of foreign) {
      const answer = await browser.send(method, path, body, { page: 'none', headers });
      expect({ headers, refusal: await refusalOf(answer) }).toEqual({
        ...{ headers, refusal: '403 access_denied' },
      });
    }
    expect((await browser.send('GET', '/v1/auth/session')).status).toBe(200);
  });

  test('cannot read an answer: no route allows another origin', async () => {
    const browser = await join(app, 'cors@example.com', 'viewer');
    const headers = { origin: 'https://evil.example' };
    for (const method of ['GET', 'OPTIONS']) {
      const answer = await browser.send(method, '/v1/auth/session', undefined, { headers });
      expect(answer.headers.get('access-control-allow-origin')).toBeNull();
    }
  });
});

describe('links that work once', () => {
  test('replayed: of many requests at once, one gets in', async () => {
    const link = await invite(app, 'once@example.com', 'viewer');
    const body = { name: 'Once', password: PASSWORD };
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => new Browser(app.base_url).send('POST', link, body)),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([
      ...[200, ...Array.from({ length: 7 }, () => 404)],
    ]);
    expect((await new Browser(app.base_url).send('GET', link)).status).toBe(404);
  });

  test('replayed: of many requests at once, one sets the new password', async () => {
    const known = await join(app, 'replayed@example.com', 'member');
    const path = `/v1/operator/people/${known.session.person.id}/password-link`;
    const { operator_token } = app.credentials;
    const made = await sendWith(app, operator_token, 'POST', path, {});
    const { url } = (await made.json()) as { url: string };
    const answers = await Promise.all(
      Array.from({ length: 4 }, (_, at) =>
        new Browser(app.base_url).send('POST', url, { password: `password number ${at}` }),
      ),
    );
    const codes = await Promise.all(
      answers.map(async (answer) => (answer.ok ? '200' : await refusalOf(answer))),
    );
    expect(codes.filter((code) => code === '200')).toHaveLength(1);
    expect(new Set(codes).size).toBe(2);
  });

  test('opened by a program that reads mails, they still work', async () => {
    const link = await invite(app, 'scanned@example.com', 'viewer');
    const browser = new Browser(app.base_url);
    for (const method of ['GET', 'GET', 'HEAD']) await browser.send(method, link);
    const answer = await browser.send('GET', link);
    expect(answer.headers.get('referrer-policy')).toBe('no-referrer');
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect((await browser.send('POST', link, { name: 'S', password: PASSWORD })).status).toBe(200);
  });

  test('that are expired, revoked or unknown have the same answer', async () => {
    const { sql } = app.pool;
    const expired = await invite(app, 'late@example.com', 'viewer');
    await sql`update one_time_link set expires_at = weir_now() where email = 'late@example.com'`;
    const revoked = await invite(app, 'revoked@example.com', 'viewer');
    await sql`update one_time_link set revoked_at = weir_now() where email = 'revoked@example.com'`;
    const refusals = new Set<string>();
    for (const link of [expired, revoked, `${revoked.slice(0, -4)}AAAA`, '/v1/auth/links/lk-']) {
      const answer = await new Browser(app.base_url).send('POST', link, {
        ...{ name: 'Late', password: PASSWORD },
      });
      const { error } = (await answer.json()) as { error: { message: string; code: string } };
      refusals.add(`${answer.status} ${error.code} ${error.message}`);
    }
    expect(refusals.size).toBe(1);
    expect([...refusals][0]).toStartWith('404 not_found');
  });

  test('that the inviter sees take over no account', async () => {
    const victim = await join(app, 'owner-elsewhere@example.com', 'owner');
    const link = await invite(app, 'owner-elsewhere@example.com', 'viewer');
    const inviter = await join(app, 'inviter@example.com', 'admin');
    const guess = { name: 'Mine', password: 'password of mine' };
    expect(await refusalOf(await inviter.send('POST', link, guess))).toBe('401 sign_in_failed');
    expect((await victim.send('GET', '/v1/auth/session')).status).toBe(200);
    expect((await attempt('owner-elsewhere@example.com', PASSWORD)).status).toBe(200);
    const other = { email: 'inviter@example.com', name: 'Mine', password: PASSWORD };
    expect(await refusalOf(await inviter.send('POST', link, other))).toBe(
      '400 invalid_request_error',
    );
  });

  test('leave no secret in the database or in the audit log', async () => {
    const link = await invite(app, 'canary@example.com', 'viewer');
    const secret = link.split('/').at(-1) ?? '';
    const password = 'canary password 1234';
    await new Browser(app.base_url).ask('POST', link, { name: 'Canary', password });
    const { sql } = app.pool;
    const tables = ['one_time_link', 'person', 'person_account', 'person_session', 'audit_log'];
    for (const table of [...tables, 'kept_change', 'sign_in_attempt']) {
      const rows = await sql`select row_to_json(t)::text as text from ${sql(table)} as t`;
      const text = rows.map((row) => row['text']).join('\n');
      expect({ table, found: text.includes(secret) || text.includes(password) }).toEqual({
        ...{ table, found: false },
      });
    }
  });
});

describe('brute force', () => {
  test('from many addresses: the account is locked for a while, and sessions go on', async () => {
    const browser = await join(app, 'many@example.com', 'viewer');
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        attempt('many@example.com', 'wrong wrong wrong', `198.51.101.${index}`),
      ),
    );
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 401).length).toBe(10);
    expect(statuses.filter((status) => status === 429).length).toBe(10);
    const right = await attempt('many@example.com', PASSWORD, '198.51.101.99');
    expect(right.status).toBe(429);
    expect(Number(right.headers.get('retry-after'))).toBeGreaterThan(800);
    expect((await browser.send('GET', '/v1/auth/session')).status).toBe(200);
    await app.pool.sql`
      update sign_in_attempt set ends_at = weir_now() where ends_at > weir_now()`;
    expect((await attempt('many@example.com', PASSWORD)).status).toBe(200);
  });

  test('of many accounts from one address: the address is refused', async () => {
    const strict = await startTestApp({ wrong_keys_per_minute: 5 });
    try {
      const statuses: number[] = [];
      for (let index = 0; index < 8; index += 1) {
        const browser = new Browser(strict.base_url);
        statuses.push((await browser.signIn(`${index}@example.com`, 'wrong wrong')).status);
      }
      expect(statuses).toEqual([401, 401, 401, 401, 401, 429, 429, 429]);
    } finally {
      await strict.stop();
    }
  });
});

test('a change of the role in the middle of a session counts for the next request', async () => {
  const owner = await join(app, 'chief@example.com', 'owner');
  const admin = await join(app, 'second@example.com', 'admin');
  const create = () => admin.send('POST', '/v1/management/api-keys', { name: 'mine' });
  expect((await create()).status).toBe(200);
  const path = `/v1/management/people/${admin.session.person.id}`;
  await owner.ask('PATCH', path, { role: 'viewer' });
  expect(await refusalOf(await create())).toBe('403 access_denied');
  expect((await admin.send('GET', '/v1/management/api-keys')).status).toBe(200);
  await owner.ask('DELETE', path);
  for (const route of ['/v1/management/api-keys', '/v1/auth/session']) {
    expect(await refusalOf(await admin.send('GET', route))).toBe('401 session_ended');
  }
});

test('a person who was removed does not come back by an older invitation', async () => {
  const owner = await join(app, 'keeper@example.com', 'owner');
  const gone = await join(app, 'gone@example.com', 'member');
  const older = await invite(app, 'gone@example.com', 'owner');
  await owner.ask('DELETE', `/v1/management/people/${gone.session.person.id}`);
  const browser = new Browser(app.base_url);
  await browser.signIn('gone@example.com');
  expect(await refusalOf(await browser.send('POST', older, {}))).toBe('404 not_found');
});

test('an operator who is one no more loses the rights at once', async () => {
  const first = await firstOperator(app);
  const second = await join(app, 'second-operator@example.com');
  expect((await second.send('GET', '/v1/operator/people')).status).toBe(200);
  await first.ask('PATCH', `/v1/operator/people/${second.session.person.id}`, {
    is_operator: false,
  });
  expect(await refusalOf(await second.send('GET', '/v1/operator/people'))).toBe(
    '403 access_denied',
  );
  const last = await first.send('PATCH', `/v1/operator/people/${first.session.person.id}`, {
    is_operator: false,
  });
  expect(await refusalOf(last)).toBe('400 invalid_request_error');
});

describe('a new password by mail', () => {
  let mailed: TestApp;
  const mails: Mail[] = [];
  let isHeld = false;
  const held = new Set<() => void>();
  beforeAll(async () => {
    mailed = await startTestApp({
      public_url: 'https://weir.example',
      mailer: {
        async send(mail) {
          if (isHeld) await new Promise<void>((send) => held.add(send));
          mails.push(mail);
        },
      },
    });
  });
  afterAll(() => mailed.stop());

  const own = { headers: { origin: 'https://weir.example' }, page: 'none' } as const;
  const ask = (email: string, headers: Record<string, string> = {}) =>
    new Browser(mailed.base_url).send(
      ...(['POST', '/v1/auth/password-reset', { email }] as const),
      { ...own, headers: { ...own.headers, ...headers } },
    );

  test('shows neither by message nor by time whether an account exists, or by its link a host', async () => {
    await sendWith(
      mailed,
      mailed.credentials.management_token,
      'POST',
      '/v1/management/invitations',
      {
        ...{ email: 'real@example.com', role: 'owner' },
      },
    );
    const invitation = /https:\/\/weir\.example(\/v1\/auth\/links\/\S+)/.exec(mails[0]?.text ?? '');
    const person = { name: 'Real', password: PASSWORD };
    const joined = new Browser(mailed.base_url);
    const answer = await joined.send('POST', invitation?.[1] ?? '', person, own);
    expect(answer.status).toBe(200);
    // The address of Weir has TLS, so browsers send the cookie over TLS only.
    expect(answer.headers.getSetCookie()[0]).toMatch(/^__Secure-weir\.session_token=.*; Secure/);
    const bodies = new Set<string>();
    // An answer that waited for its mail would never come.
    isHeld = true;
    for (let round = 0; round < 5; round += 1) {
      for (const who of ['real', 'fake']) {
        const accepted = await ask(`${who}@example.com`, { 'x-forwarded-host': 'evil.example' });
        bodies.add(`${accepted.status} ${await accepted.text()}`);
      }
    }
    expect([...bodies]).toEqual(['202 {"object":"password_reset","status":"accepted"}']);
    await until('five mails wait', () => held.size === 5);
    isHeld = false;
    for (const send of held) send();
    await until('five mails', () => mails.length === 6);
    expect(mails.slice(1).every(({ to }) => to === 'real@example.com')).toBe(true);
    expect(mails.every(({ text }) => text.includes('https://weir.example/v1/auth/links/lk-'))).toBe(
      true,
    );
    await ask('real@example.com');
    await Bun.sleep(600);
    expect(mails.length).toBe(6);
    const links = mails.slice(1).map(({ text }) => /\/v1\/auth\/links\/\S+/.exec(text)?.[0] ?? '');
    const fresh = new Browser(mailed.base_url);
    const body = { password: 'a new password' };
    expect((await fresh.send('POST', links[0] ?? '', body, own)).status).toBe(200);
    // One use ends the other links for the account, and its sessions.
    expect((await fresh.send('POST', links[1] ?? '', body, own)).status).toBe(404);
    expect((await joined.send('GET', '/v1/auth/session')).status).toBe(401);
  });
});
