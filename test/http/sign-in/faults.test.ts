/** Sessions while the database is away, and event streams of sessions that have ended. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { Browser, join, PASSWORD, refusalOf } from '../../support/people.ts';
import { freePort } from '../../support/ports.ts';
import { type RunningWeir, startWeir } from '../../support/weir.ts';

setDefaultTimeout(60_000);

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());

test('a lost database is a 503, for sign-ins and for sessions, and ends no session', async () => {
  const browser = await join(app, 'ada@example.com', 'owner');
  const requests_go_to = `postgres://127.0.0.1:${await freePort()}/none`;
  const lost = await startTestApp({ requests_go_to });
  try {
    const there = new Browser(lost.base_url);
    const link = '/v1/auth/links/lk-1';
    const answers = [
      await there.signIn('ada@example.com'),
      await there.send('POST', link, { name: 'x', password: PASSWORD }),
    ];
    for (const [name, value] of browser.cookies) there.cookies.set(name, value);
    for (const path of ['/v1/auth/session', '/v1/management/people', '/v1/operator/people']) {
      answers.push(await there.send('GET', path));
    }
    answers.push(await there.send('POST', '/v1/auth/sign-out'));
    for (const answer of answers) {
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(answer.headers.getSetCookie()).toEqual([]);
      expect(await refusalOf(answer)).toBe('503 service_unavailable');
    }
  } finally {
    await lost.stop();
  }
  expect((await browser.send('GET', '/v1/auth/session')).status).toBe(200);
});

test('a sign-in that cannot be noted in the audit log gives no session', async () => {
  await join(app, 'bea@example.com', 'viewer');
  const { sql } = app.pool;
  const sessions = async () => (await sql`select from person_session`).length;
  const before = await sessions();
  await sql`alter table audit_log rename to audit_log_away`;
  try {
    const browser = new Browser(app.base_url);
    expect((await browser.signIn('bea@example.com')).status).toBe(500);
    expect(browser.cookies.size).toBe(0);
    expect(await sessions()).toBe(before);
  } finally {
    await sql`alter table audit_log_away rename to audit_log`;
  }
});

test('an open event stream ends before its next event once the session has ended', async () => {
  const weir: RunningWeir = await startWeir({ shared_database: true });
  try {
    const invited = await fetch(`${weir.base_url}/v1/management/invitations`, {
      method: 'POST',
      body: JSON.stringify({ email: 'cyd@example.com', role: 'viewer' }),
      headers: {
        authorization: `Bearer ${weir.management_token}`,
        'content-type': 'application/json',
      },
    });
    const { url } = (await invited.json()) as { url: string };
    const browser = new Browser(weir.base_url);
    await browser.ask('POST', url, { name: 'Cyd', password: PASSWORD });
    const stream = await browser.send('GET', '/v1/management/events');
    expect(stream.status).toBe(200);
    await browser.ask('POST', '/v1/auth/sign-out');
    const call = await fetch(`${weir.base_url}/v1/chat/completions`, {
      method: 'POST',
      body: JSON.stringify({
        ...{ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'hi [[sim tokens=5]]' }] },
      }),
      headers: { authorization: `Bearer ${weir.api_key}`, 'content-type': 'application/json' },
    });
    expect(call.status).toBe(200);
    expect(await stream.text()).not.toContain('event: usage');
  } finally {
    await weir.stop();
  }
});
