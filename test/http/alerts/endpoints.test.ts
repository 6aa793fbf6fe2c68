/** The endpoints and settings of alerts over HTTP: who changes them, what is refused, and what is shown. */
import {
  afterAll,
  beforeAll,
  beforeEach,
  describe,
  expect,
  setDefaultTimeout,
  test,
} from 'bun:test';
import { MAX_ENDPOINTS } from '../../../db/alerts/endpoints.ts';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { errorOf } from '../../support/envelope.ts';
import { type Browser, join, refusalOf } from '../../support/people.ts';

setDefaultTimeout(60_000);

let app: TestApp;
let mailing: TestApp;
let admin: Browser;
let member: Browser;
let stranger: Browser;
beforeAll(async () => {
  app = await startTestApp();
  mailing = await startTestApp({ mailer: { send: async () => undefined } as never });
  admin = await join(app, 'ada@example.com', 'admin');
  member = await join(app, 'bob@example.com', 'member');
  await app.pool.sql`insert into organization (id, name) values ('org_other', 'Other')`;
  stranger = await join(app, 'stranger@example.com', 'owner', 'org_other');
});
afterAll(() => Promise.all([app.stop(), mailing.stop()]));
beforeEach(() => app.pool.sql`truncate alert_endpoint cascade`.then(() => undefined));

interface Endpoint {
  id: string;
  url: string | null;
  email: string | null;
  kinds: string[];
  enabled: boolean;
  secret?: string;
}
const PATH = '/v1/management/alert-endpoints';
const HOOK = { name: 'On call', type: 'webhook', url: 'https://example.com/hook' };
const make = (more: object = {}) => admin.ask<Endpoint>('POST', PATH, { ...HOOK, ...more });
const listOf = async (browser: Browser) =>
  (await browser.ask<{ data: Endpoint[] }>('GET', PATH)).data;

describe('an endpoint', () => {
  test('is made with all kinds, shown without its secret, changed and deleted', async () => {
    const made = await make();
    expect(made).toMatchObject({ object: 'alert_endpoint', ...HOOK, email: null, enabled: true });
    expect(made.secret).toMatch(/^whsec_/);
    expect(made.kinds.length).toBe(9);
    const path = `${PATH}/${made.id}`;
    const { secret: _, ...shown } = made;
    expect(await admin.ask<Endpoint>('GET', path)).toEqual(shown);
    expect(await listOf(member)).toEqual([shown]);
    const changes = { kinds: ['cap_used'], enabled: false, url: 'https://example.com/other' };
    expect(await admin.ask<Endpoint>('PATCH', path, changes)).toMatchObject(changes);
    const rotated = await admin.ask<Endpoint>('POST', `${path}/rotate`);
    expect(rotated.secret).toMatch(/^whsec_/);
    expect(rotated.secret).not.toBe(made.secret as string);
    const rows = await app.pool.sql`select * from alert_endpoint`;
    expect(JSON.stringify(rows)).not.toContain((rotated.secret ?? '').slice(10));
    expect(await admin.ask<object>('DELETE', path)).toEqual({
      ...{ object: 'alert_endpoint.deleted', id: made.id, deleted: true },
    });
    expect(await listOf(admin)).toEqual([]);
    expect((await admin.send('DELETE', path)).status).toBe(404);
  });

  test('P6: of another organization answers like none, and a member may only read', async () => {
    const { id } = await make();
    for (const [method, path] of [
      ...(['GET', 'PATCH', 'DELETE'] as const).map((each) => [each, `${PATH}/${id}`] as const),
      ...(['test', 'rotate'] as const).map((verb) => ['POST', `${PATH}/${id}/${verb}`] as const),
    ]) {
      const body = method === 'PATCH' ? { name: 'mine' } : undefined;
      expect(await refusalOf(await stranger.send(method, path, body))).toBe('404 not_found');
      if (method !== 'GET') {
        expect(await refusalOf(await member.send(method, path, body))).toBe('403 access_denied');
      }
    }
    expect(await listOf(stranger)).toEqual([]);
    const operator = await fetch(`${app.base_url}/v1/operator/alert-endpoints/${id}`, {
      headers: { authorization: `Bearer ${app.credentials.operator_token}` },
    });
    expect(operator.status).toBe(404);
  });

  test.each<[param: string, body: object]>([
    ['type', { type: 'pager' }],
    ['url', { url: 'http://example.com/hook' }],
    ['url', { url: 'https://127.0.0.1/hook' }],
    ['url', { url: 'https://localhost/hook' }],
    ['url', { url: undefined }],
    ['url', { url: `https://example.com/${'x'.repeat(2_048)}` }],
    ['email', { email: 'a@example.com' }],
    ['kinds', { kinds: [] }],
    ['kinds.0', { kinds: ['channel_down'] }],
    ['kinds', { kinds: ['cap_used', 'cap_used'] }],
    ['name', { name: '' }],
    ['name', { name: 'x'.repeat(51) }],
    ['enabled', { enabled: 'yes' }],
    ['secret', { secret: 'whsec_mine' }],
  ])('400: a wrong %s: %j', async (param, body) => {
    const answer = await admin.send('POST', PATH, { ...HOOK, ...body });
    expect(await errorOf(answer, 400)).toMatchObject({ param });
  });

  test('for mail is refused while the installation sends none', async () => {
    const mail = { name: 'Mail', type: 'mail', email: 'ops@example.com' };
    const refused = await errorOf(await admin.send('POST', PATH, mail), 400);
    expect(refused).toMatchObject({ param: 'type', message: 'This installation sends no mail.' });
    const answer = await mailing.manage('POST', '/alert-endpoints', mail);
    const made = (await answer.json()) as Endpoint;
    expect(made).toMatchObject({ type: 'mail', email: 'ops@example.com', url: null });
    expect(made.secret).toBeUndefined();
    const rotate = await mailing.manage('POST', `/alert-endpoints/${made.id}/rotate`);
    expect(await errorOf(rotate, 400)).toMatchObject({ param: 'id' });
    const url = await mailing.manage('PATCH', `/alert-endpoints/${made.id}`, { url: HOOK.url });
    expect(await errorOf(url, 400)).toMatchObject({ param: 'url' });
    for (const email of [
      'a',
      'a@b',
      'a@example.com\r\nBcc: b@example.com',
      'a@example.com, b@x.org',
    ]) {
      const wrong = await mailing.manage('POST', '/alert-endpoints', { ...mail, email });
      expect(await errorOf(wrong, 400)).toMatchObject({ param: 'email' });
    }
  });

  test('is not changed unseen, and there can be 20', async () => {
    const { id } = await make();
    const read = await admin.send('GET', `${PATH}/${id}`);
    const headers = { 'if-match': read.headers.get('etag') ?? '' };
    await admin.ask('PATCH', `${PATH}/${id}`, { name: 'second' });
    const late = await admin.send('PATCH', `${PATH}/${id}`, { name: 'third' }, { headers });
    expect(await refusalOf(late)).toBe('412 precondition_failed');
    for (let n = 2; n < MAX_ENDPOINTS; n += 1) await make();
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => admin.send('POST', PATH, HOOK)),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 400, 400, 400]);
  });

  test('can be tested 30 times an hour; a repeat of the same request is no other test', async () => {
    const { id } = await make();
    await app.pool.sql`truncate alert cascade`;
    const { id: other } = await make();
    await app.pool.sql`
      insert into alert (id, owner_id, kind, cause, subject_kind, subject_id, subject_name, figures)
      select 'alert_' || n, ${app.organization_id}, 'test', 'test:' || n, 'endpoint', ${other}, '', '{}'
      from generate_series(1, 29) as n`;
    const headers = { 'idempotency-key': 'test-1' };
    const ids = new Set<string>();
    for (let round = 0; round < 2; round += 1) {
      const answer = await admin.send('POST', `${PATH}/${id}/test`, undefined, { headers });
      ids.add(((await answer.json()) as { id: string }).id);
    }
    expect(ids.size).toBe(1);
    const refused = await admin.send('POST', `${PATH}/${id}/test`);
    expect(await errorOf(refused, 429)).toMatchObject({ code: 'rate_limit_exceeded' });
  });
});

describe('the settings of alerts', () => {
  const SETTINGS = '/v1/management/alert-settings';
  test('have defaults, are changed one by one, and belong to one organization', async () => {
    const defaults = { low_balance_usd: null, unused_days: 30, unusual_factor: 3 };
    expect(await member.ask<object>('GET', SETTINGS)).toMatchObject(defaults);
    const changed = await admin.ask<object>('PATCH', SETTINGS, { low_balance_usd: 12.5 });
    expect(changed).toMatchObject({ ...defaults, low_balance_usd: 12.5 });
    await admin.ask('PATCH', SETTINGS, { unused_days: 7, unusual_factor: 2 });
    expect(await admin.ask<object>('GET', SETTINGS)).toMatchObject({
      ...{ low_balance_usd: 12.5, unused_days: 7, unusual_factor: 2 },
    });
    expect(await stranger.ask<object>('GET', SETTINGS)).toMatchObject(defaults);
    const refused = await member.send('PATCH', SETTINGS, { unused_days: 1 });
    expect(await refusalOf(refused)).toBe('403 access_denied');
  });

  test.each<[param: string, body: object]>([
    ['low_balance_usd', { low_balance_usd: -1 }],
    ['unused_days', { unused_days: 0 }],
    ['unused_days', { unused_days: 1.5 }],
    ['unusual_factor', { unusual_factor: 1 }],
    ['body', {}],
    ['shares', { shares: [10] }],
  ])('400: a wrong %s: %j', async (param, body) => {
    expect(await errorOf(await admin.send('PATCH', SETTINGS, body), 400)).toMatchObject({ param });
  });
});
