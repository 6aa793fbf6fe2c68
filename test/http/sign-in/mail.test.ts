/** Invitations and new passwords by mail, through a real SMTP server, on two replicas of a real Weir. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { type ChildProgram, startProgram } from '../../support/child.ts';
import { Browser, PASSWORD, refusalOf, type SessionRecord } from '../../support/people.ts';
import { freePort } from '../../support/ports.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { until } from '../../support/until.ts';
import { type RunningWeir, startWeir } from '../../support/weir.ts';

setDefaultTimeout(90_000);

let smtp: ChildProgram;
let database: TestDatabase;
let weir: RunningWeir;
let second: RunningWeir;
let env: Record<string, string>;
beforeAll(async () => {
  smtp = await startProgram('smtp-main.ts', ['weir', 'p%ss']);
  database = await createTestDatabase();
  const port = await freePort();
  env = {
    ...{ DATABASE_URL: database.url, WEIR_SECRET_KEY: 'k'.repeat(40) },
    WEIR_PUBLIC_URL: `http://127.0.0.1:${port}`,
    WEIR_SMTP_URL: `smtp://weir:p%25ss@127.0.0.1:${smtp.lines[0]}`,
    WEIR_MAIL_FROM: 'Weir <weir@example.com>',
  };
  weir = await startWeir({ port, env });
  second = await startWeir({ env });
});
afterAll(async () => {
  await Promise.all([weir?.stop(), second?.stop()]);
  await smtp?.stop();
  await database?.drop();
});

interface Sent {
  to: string[];
  text: string;
}
const mails = () => smtp.lines.slice(1).map((line) => JSON.parse(line) as Sent);
/** The link of a mail. A long line of a mail ends with `=`, and goes on in the next. */
const linkOf = ({ text }: Sent) =>
  /http:\S+\/v1\/auth\/links\/\S+/.exec(text.replaceAll('=\r\n', ''))?.[0] ?? '';

const invite = (email: string) =>
  fetch(`${weir.base_url}/v1/management/invitations`, {
    method: 'POST',
    body: JSON.stringify({ email, role: 'owner' }),
    headers: {
      authorization: `Bearer ${weir.management_token}`,
      'content-type': 'application/json',
    },
  });

test('an invitation is mailed and not shown; its use proves the address, on every replica', async () => {
  const answer = await invite('ada@example.com');
  const record = (await answer.json()) as { is_mailed: boolean };
  expect(record).toMatchObject({ is_mailed: true, email: 'ada@example.com' });
  expect(record).not.toHaveProperty('url');
  // What the mail server prints may come after the answer.
  const mail = await until('the mail has come', () => mails()[0]);
  expect(mail?.to).toEqual(['ada@example.com']);
  expect(mail?.text).toContain('From: Weir <weir@example.com>\r\n');
  expect(mail?.text).toContain('Subject: You are invited to First organization on Weir\r\n');
  const link = linkOf(mail);
  expect(link).toStartWith(`${weir.base_url}/v1/auth/links/lk-`);
  const browser = new Browser(weir.base_url);
  await browser.ask('POST', link, { name: 'Ada', password: PASSWORD });
  const there = await fetch(`${second.base_url}/v1/auth/session`, {
    headers: { cookie: browser.cookie },
  });
  expect(((await there.json()) as SessionRecord).person.email).toBe('ada@example.com');
  const [row] = await database.sql`select email_verified from person`;
  expect(row).toMatchObject({ email_verified: true });
  // A sign-out on one replica counts at once on the other.
  const headers = { cookie: browser.cookie, origin: weir.base_url };
  await fetch(`${second.base_url}/v1/auth/sign-out`, { method: 'POST', headers });
  expect(await refusalOf(await browser.send('GET', '/v1/auth/session'))).toBe('401 session_ended');
});

test('a new password is mailed to an account, and to nobody else', async () => {
  const count = mails().length;
  const browser = new Browser(weir.base_url);
  for (const email of ['nobody@example.com', 'ada@example.com']) {
    expect((await browser.send('POST', '/v1/auth/password-reset', { email })).status).toBe(202);
  }
  await until('the mail has come', () => mails().length > count);
  expect(mails().slice(count)).toMatchObject([{ to: ['ada@example.com'] }]);
  const password = 'a new password';
  await browser.ask('POST', linkOf(mails().at(-1) as Sent), { password });
  expect(await refusalOf(await browser.signIn('ada@example.com'))).toBe('401 sign_in_failed');
  expect((await browser.signIn('ada@example.com', password)).status).toBe(200);
});

test('a mail that the server refuses is an error, and a mail server that is away too', async () => {
  expect(await refusalOf(await invite('refused@example.com'))).toBe('503 service_unavailable');
  await smtp.stop();
  expect(await refusalOf(await invite('bea@example.com'))).toBe('503 service_unavailable');
  // The password of the SMTP server is in no log.
  expect(weir.output() + second.output()).not.toContain('p%ss');
  expect(weir.output()).not.toContain('p%25ss');
});

test('a mail server without a public address does not start: links would name any host', async () => {
  const { WEIR_PUBLIC_URL: _url, ...rest } = env;
  const start = startWeir({ env: rest });
  expect(start).rejects.toThrow('WEIR_SMTP_URL needs WEIR_MAIL_FROM and WEIR_PUBLIC_URL');
  await start.catch(() => undefined);
});
