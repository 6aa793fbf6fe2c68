/** Signing in at a real identity provider (the package oidc-provider, certified by the OpenID Foundation). */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { type ChildProgram, startProgram } from '../../support/child.ts';
import { Browser, PASSWORD, refusalOf, type SessionRecord } from '../../support/people.ts';
import { freePort } from '../../support/ports.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { type RunningWeir, startWeir } from '../../support/weir.ts';

setDefaultTimeout(90_000);

let provider: ChildProgram;
let issuer: string;
let database: TestDatabase;
let weir: RunningWeir;
let organization_id = '';
beforeAll(async () => {
  const [port, provider_port] = [await freePort(), await freePort()];
  issuer = `http://127.0.0.1:${provider_port}`;
  const callback = `http://127.0.0.1:${port}/v1/auth/oidc/callback`;
  const client = ['weir', 'canary-client-secret', callback];
  provider = await startProgram('oidc-main.ts', [String(provider_port), ...client]);
  database = await createTestDatabase();
  weir = await startWeir({
    port,
    env: {
      ...{ DATABASE_URL: database.url, WEIR_PUBLIC_URL: `http://127.0.0.1:${port}` },
      ...{ WEIR_OIDC_ISSUER: issuer, WEIR_OIDC_CLIENT_ID: 'weir' },
      WEIR_OIDC_CLIENT_SECRET: 'canary-client-secret',
    },
  });
  const [row] = await database.sql<{ id: string }[]>`select id from organization`;
  organization_id = row?.id ?? '';
});
afterAll(async () => {
  await weir?.stop();
  await provider?.stop();
  await database?.drop();
});

/** Fills in the forms of the provider, and returns the address to which it sends the browser back. */
async function signInAtProvider(browser: Browser, start: string, login: string): Promise<string> {
  let url = start;
  for (let step = 0; step < 20; step += 1) {
    if (url.startsWith(weir.base_url)) return url;
    const response = await browser.send('GET', url);
    const location = response.headers.get('location');
    if (location) url = new URL(location, url).href;
    else {
      const page = await response.text();
      const prompt = /name="prompt" value="(\w+)"/.exec(page)?.[1] ?? '';
      const action = /action="([^"]+)"/.exec(page)?.[1] ?? '';
      const form = new URLSearchParams({ prompt, login, password: 'x' });
      const sent = await fetch(new URL(action, url), {
        ...{ method: 'POST', body: form, redirect: 'manual' },
        headers: { cookie: browser.cookie },
      });
      for (const cookie of sent.headers.getSetCookie()) browser.keep(cookie);
      url = new URL(sent.headers.get('location') ?? '', url).href;
    }
  }
  throw new Error(`the provider did not send the browser back: ${url}`);
}

async function begin(browser: Browser, return_to?: string): Promise<string> {
  const query = return_to === undefined ? '' : `?return_to=${encodeURIComponent(return_to)}`;
  const answer = await browser.send('GET', `/v1/auth/oidc/start${query}`);
  expect(answer.status).toBe(302);
  return answer.headers.get('location') ?? '';
}

/** Signs in, and returns the last answer of Weir. */
async function signIn(browser: Browser, login: string, return_to?: string): Promise<Response> {
  const callback = await signInAtProvider(browser, await begin(browser, return_to), login);
  return browser.send('GET', callback);
}

async function invite(email: string, role = 'member'): Promise<string> {
  const answer = await fetch(`${weir.base_url}/v1/operator/invitations`, {
    method: 'POST',
    body: JSON.stringify({ email, role, organization_id }),
    headers: {
      authorization: `Bearer ${weir.operator_token}`,
      'content-type': 'application/json',
    },
  });
  return ((await answer.json()) as { url: string }).url;
}

describe('a person at the identity provider', () => {
  test('who is invited becomes a member, and signs in again', async () => {
    await invite('ada@example.com', 'admin');
    const browser = new Browser(weir.base_url);
    const url = new URL(await begin(browser));
    expect(Object.fromEntries(url.searchParams)).toMatchObject({
      ...{ response_type: 'code', client_id: 'weir', code_challenge_method: 'S256' },
      redirect_uri: `${weir.base_url}/v1/auth/oidc/callback`,
    });
    expect(url.searchParams.get('nonce')?.length).toBeGreaterThan(20);
    const answer = await signIn(browser, 'ada', '/pages/usage?day=1');
    expect(answer.headers.get('location')).toBe(`${weir.base_url}/pages/usage?day=1`);
    const session = await browser.ask<SessionRecord>('GET', '/v1/auth/session');
    expect(session).toMatchObject({
      person: { email: 'ada@example.com', name: 'ada' },
      organizations: [{ id: organization_id, role: 'admin' }],
    });
    expect((await browser.send('GET', '/v1/management/people')).status).toBe(200);
    const again = new Browser(weir.base_url);
    await signIn(again, 'ada');
    const next = await again.ask<SessionRecord>('GET', '/v1/auth/session');
    expect(next.person.id).toBe(session.person.id);
    const rows =
      await database.sql`select row_to_json(person_account)::text as t from person_account`;
    // No token of the provider is kept.
    expect(JSON.parse(rows[0]?.['t'] ?? '')).toMatchObject({
      ...{ access_token: null, refresh_token: null, id_token: null, password: null },
      provider_id: 'oidc',
    });
    const lines = await database.sql`
      select action, after from audit_log
      where organization_id = ${organization_id} and actor_label = 'ada@example.com' order by seq`;
    expect(lines.map(({ action }) => action)).toEqual([
      ...['member.add', 'invitation.use', 'session.create'],
    ]);
  });

  test('who is not invited, or whose address nobody proved, does not get in', async () => {
    await invite('unverified@example.com');
    for (const login of ['mallory', 'unverified']) {
      const browser = new Browser(weir.base_url);
      expect(await refusalOf(await signIn(browser, login))).toBe('401 sign_in_failed');
      expect((await browser.send('GET', '/v1/auth/session')).status).toBe(401);
    }
    const people = await database.sql`select email from person order by email`;
    expect(people.map(({ email }) => email)).toEqual(['ada@example.com']);
  });

  test('does not join an account whose password an inviter may have set', async () => {
    const link = await invite('bea@example.com', 'owner');
    const inviter = new Browser(weir.base_url);
    await inviter.ask('POST', link, { name: 'Not Bea', password: PASSWORD });
    const browser = new Browser(weir.base_url);
    expect(await refusalOf(await signIn(browser, 'bea'))).toBe('401 sign_in_failed');
    await database.sql`update person set email_verified = true where email = 'bea@example.com'`;
    expect((await signIn(browser, 'bea')).status).toBe(302);
    expect(await browser.ask<SessionRecord>('GET', '/v1/auth/session')).toMatchObject({
      person: { email: 'bea@example.com' },
    });
  });

  test('who got the address of somebody else does not get the account', async () => {
    const browser = new Browser(weir.base_url);
    // `ada.two` has the address of `ada` now, but is another identity (OpenID Connect Core 1.0, 5.7).
    expect(await refusalOf(await signIn(browser, 'ada.two'))).toBe('401 sign_in_failed');
    expect((await browser.send('GET', '/v1/auth/session')).status).toBe(401);
  });
});

describe('the callback', () => {
  test('of another browser, a replayed one, and a forged one are refused', async () => {
    const victim = new Browser(weir.base_url);
    const attacker = new Browser(weir.base_url);
    const callback = await signInAtProvider(attacker, await begin(attacker), 'ada');
    expect(await refusalOf(await victim.send('GET', callback))).toBe('401 sign_in_failed');
    const mine = new Browser(weir.base_url);
    const own = await signInAtProvider(mine, await begin(mine), 'ada');
    const cookies = [...mine.cookies];
    expect((await mine.send('GET', own)).status).toBe(302);
    for (const [name, value] of cookies) mine.cookies.set(name, value);
    expect(await refusalOf(await mine.send('GET', own))).toBe('401 sign_in_failed');
    for (const query of ['', '?code=x', '?code=x&state=y', '?error=access_denied']) {
      const path = `/v1/auth/oidc/callback${query}`;
      expect(await refusalOf(await mine.send('GET', path))).toBe('401 sign_in_failed');
    }
    // The state of one attempt does not fit the code of another.
    const one = new URL(await signInAtProvider(mine, await begin(mine), 'ada'));
    const other = await begin(mine);
    one.searchParams.set('state', new URL(other).searchParams.get('state') ?? '');
    expect(await refusalOf(await mine.send('GET', one.href))).toBe('401 sign_in_failed');
  });

  test.each([
    ...['https://evil.example', '//evil.example', '/\\evil.example', '/\t/evil.example'],
    ...['javascript:alert(1)', 'usage', '', '/%0d%0a x', '/a\r\nset-cookie: x=1'],
  ])('goes to no other site: %j', async (return_to) => {
    const browser = new Browser(weir.base_url);
    const query = `?return_to=${encodeURIComponent(return_to)}`;
    const answer = await browser.send('GET', `/v1/auth/oidc/start${query}`);
    expect(await refusalOf(answer)).toBe('400 invalid_request_error');
  });
});

test('one address does not begin sign-ins without end', async () => {
  const browser = new Browser(weir.base_url);
  const statuses = new Set<number>();
  for (let round = 0; round < 101; round += 1) {
    statuses.add((await browser.send('GET', '/v1/auth/oidc/start')).status);
  }
  expect([...statuses]).toEqual([302, 429]);
});

test('an identity provider that is silent delays no sign-in by password', async () => {
  const silent = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data: () => undefined } });
  const port = await freePort();
  const waiting = await startWeir({
    ...{ port, shared_database: true },
    env: {
      ...{ WEIR_PUBLIC_URL: `http://127.0.0.1:${port}`, WEIR_OIDC_CLIENT_ID: 'weir' },
      WEIR_OIDC_ISSUER: `http://127.0.0.1:${silent.port}`,
      WEIR_OIDC_CLIENT_SECRET: 'canary-client-secret',
    },
  });
  try {
    const browser = new Browser(waiting.base_url);
    const start = browser.send('GET', '/v1/auth/oidc/start');
    const other = await new Browser(waiting.base_url).signIn('ada@example.com');
    expect(await refusalOf(other)).toBe('401 sign_in_failed');
    expect(await refusalOf(await start)).toBe('503 service_unavailable');
  } finally {
    await waiting.stop();
    silent.stop(true);
  }
});

test('an identity provider that is away is an error that a retry can help', async () => {
  const port = await freePort();
  const lonely = await startWeir({
    ...{ port, shared_database: true },
    env: {
      ...{ WEIR_PUBLIC_URL: `http://127.0.0.1:${port}`, WEIR_OIDC_CLIENT_ID: 'weir' },
      WEIR_OIDC_ISSUER: `http://127.0.0.1:${await freePort()}`,
      WEIR_OIDC_CLIENT_SECRET: 'canary-client-secret',
    },
  });
  try {
    const answer = await new Browser(lonely.base_url).send('GET', '/v1/auth/oidc/start');
    expect(await refusalOf(answer)).toBe('503 service_unavailable');
    expect(lonely.output()).not.toContain('canary-client-secret');
  } finally {
    await lonely.stop();
  }
});
