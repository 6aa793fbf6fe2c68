/**
 * Alerts from end to end: real replicas, a receiver of webhooks that verifies with the package standardwebhooks, and a
 * real SMTP server, each in a process of its own.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { Webhook } from 'standardwebhooks';
import { type ChildProgram, startProgram } from '../../support/child.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { until } from '../../support/until.ts';
import { type RunningWeir, startWeir } from '../../support/weir.ts';

setDefaultTimeout(120_000);

let database: TestDatabase;
let smtp: ChildProgram;
let receiver: ChildProgram;
let weir: RunningWeir;
let second: RunningWeir;
let env: Record<string, string>;
beforeAll(async () => {
  smtp = await startProgram('smtp-main.ts', ['weir', 'p%ss']);
  receiver = await startProgram('webhook-receiver-main.ts', []);
  database = await createTestDatabase();
  env = {
    ...{ DATABASE_URL: database.url, WEIR_SECRET_KEY: 'k'.repeat(40), WEIR_ALERT_INTERVAL_S: '1' },
    WEIR_PUBLIC_URL: 'http://127.0.0.1:1',
    WEIR_SMTP_URL: `smtp://weir:p%25ss@127.0.0.1:${smtp.lines[0]}`,
    WEIR_MAIL_FROM: 'Weir <weir@example.com>',
    WEIR_WEBHOOK_ALLOW_HOSTS: `127.0.0.1:${receiver.lines[0]}`,
  };
  weir = await startWeir({ env });
  second = await startWeir({ env });
});
afterAll(async () => {
  await Promise.all([weir?.stop(), second?.stop()]);
  await Promise.all([smtp?.stop(), receiver?.stop()]);
  await database?.drop();
});

const hook = (path = '/hook') => `http://127.0.0.1:${receiver.lines[0]}${path}`;

interface Received {
  pathname: string;
  headers: Record<string, string>;
  body: string;
}
const webhooks = () => receiver.lines.slice(1).map((line) => JSON.parse(line) as Received);
const mailsTo = (address: string) =>
  smtp.lines
    .slice(1)
    .map((line) => JSON.parse(line) as { to: string[]; text: string })
    .filter(({ to }) => to.includes(address));

interface Endpoint {
  id: string;
  secret?: string;
  kinds: string[];
  url: string | null;
}
interface Delivery {
  id: string;
  kind: string;
  endpoint_id: string;
  status: string;
  attempts: number;
  last_status: number;
  redeliveries: number;
  attempt_log: { reason: string | null }[];
}

async function ask<Answer>(
  method: string,
  path: string,
  body?: object,
  token = weir.management_token,
  from = weir,
): Promise<{ status: number; answer: Answer }> {
  const response = await fetch(from.base_url + path, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body ? { 'content-type': 'application/json' } : {}),
    },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  return { status: response.status, answer: (await response.json()) as Answer };
}
const manage = <Answer>(method: string, path: string, body?: object) =>
  ask<Answer>(method, `/v1/management${path}`, body);
const operate = <Answer>(method: string, path: string, body?: object) =>
  ask<Answer>(method, `/v1/operator${path}`, body, weir.operator_token);
const make = async (body: object) =>
  (await manage<Endpoint>('POST', '/alert-endpoints', { name: 'Ops', ...body })).answer;
const deliveriesTo = async ({ id }: Endpoint) =>
  (await manage<{ data: Delivery[] }>('GET', `/alert-deliveries?endpoint_id=${id}`)).answer.data;

async function spend(key: string, limit_usd: number): Promise<void> {
  const call = await fetch(`${weir.base_url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'gpt-4o',
      messages: [{ role: 'user', content: 'Hello [[sim tokens=50]]' }],
    }),
  });
  expect({ limit_usd, status: call.status }).toMatchObject({ status: 200 });
  await call.text();
}

describe('a cap that is used', () => {
  test('is alerted to by webhook and mail, three times and once each, on two replicas', async () => {
    const webhook = await make({ type: 'webhook', url: hook('/cap'), kinds: ['cap_used'] });
    await make({ type: 'mail', email: 'ops@example.com', kinds: ['cap_used'] });
    const { answer: key } = await manage<{ id: string; key: string }>('POST', '/api-keys', {
      ...{ name: 'CI key', limitAmount: 0.01 },
    });
    await spend(key.key, 0.01);
    const [{ used } = { used: 0 }] = await database.sql<{ used: number }[]>`
      select sum(charged_nano_usd)::int8 as used from usage_line where key_id = ${key.id}`;
    expect(Number(used)).toBeGreaterThan(0);
    const alerts = () => webhooks().filter(({ pathname }) => pathname === '/cap');
    const mails = () => mailsTo('ops@example.com');
    // Each cap lies just above or at the share, so each PATCH makes one further share true.
    for (const [at, share] of [0.5, 0.8, 1].entries()) {
      const limitAmount = Math.floor(Number(used) / share) / 1e9;
      await manage('PATCH', `/api-keys/${key.id}`, { limitAmount });
      // With a lower cap, the shares below it are true as well: 1, then 2, then 3 new causes.
      const expected = [1, 3, 6][at] ?? 0;
      await until(`${expected} webhooks`, () => alerts().length >= expected);
      await until(`${expected} mails`, () => mails().length >= expected);
    }
    await Bun.sleep(3_000);
    expect([alerts().length, mails().length]).toEqual([6, 6]);
    expect(new Set(alerts().map(({ headers }) => headers['webhook-id'])).size).toBe(6);
    const bodies = alerts().map(({ headers, body }) => {
      return new Webhook(webhook.secret ?? '').verify(body, headers) as {
        type: string;
        data: { subject: object; figures: { share: number }; text: string };
      };
    });
    expect(bodies.map(({ data }) => data.figures.share).toSorted((a, b) => a - b)).toEqual([
      ...[50, 50, 50, 80, 80, 100],
    ]);
    expect(bodies[0]).toMatchObject({
      type: 'alert.cap_used',
      data: { subject: { kind: 'key', id: key.id, name: 'CI key' } },
    });
    expect(mails()[0]?.text).toContain('CI key');
    expect(mails()[0]?.text).toMatch(/^message-id: <msg_[0-9a-f]{32}@example\.com>/im);
    const inside = [...alerts().map(({ body }) => body), ...mails().map(({ text }) => text)].join();
    // P5: no channel, provider or physical model.
    expect(inside).not.toMatch(/demo|openai|simulator|127\.0\.0\.1/i);
    const { answer: list } = await manage<{ data: { kind: string }[] }>('GET', '/alerts');
    expect(list.data.length).toBe(6);
  });
});

describe('a test of an endpoint', () => {
  test('answers with the outcome of a signed webhook', async () => {
    const endpoint = await make({ type: 'webhook', url: hook('/test') });
    expect(endpoint.kinds).toContain('low_balance');
    const { status, answer } = await manage<Delivery>(
      'POST',
      `/alert-endpoints/${endpoint.id}/test`,
    );
    expect(status).toBe(200);
    expect(answer).toMatchObject({
      kind: 'test',
      status: 'delivered',
      attempts: 1,
      last_status: 204,
    });
    const [sent] = webhooks().filter(({ pathname }) => pathname === '/test');
    expect(sent?.headers['webhook-id']).toBe(answer.id);
    const verify = (secret: string) =>
      new Webhook(secret).verify(sent?.body ?? '', sent?.headers ?? {}) as object;
    expect(verify(endpoint.secret ?? '')).toMatchObject({ type: 'alert.test' });
    const { answer: rotated } = await manage<Endpoint>(
      ...(['POST', `/alert-endpoints/${endpoint.id}/rotate`] as const),
    );
    expect(() => verify(rotated.secret ?? '')).toThrow();
    const again = await manage<Delivery>('POST', `/alert-deliveries/${answer.id}/redeliver`);
    expect(again.status).toBe(200);
    const twice = () => webhooks().filter(({ headers }) => headers['webhook-id'] === answer.id);
    await until('it is sent again', () => twice().length === 2);
    const last = twice()[1];
    expect(last?.body).toBe(sent?.body as string);
    expect(
      new Webhook(rotated.secret ?? '').verify(last?.body ?? '', last?.headers ?? {}),
    ).toBeTruthy();
    await until('it is noted', async () => (await deliveriesTo(endpoint))[0]?.attempts === 2);
  });

  test('says why a receiver or a mail server refused it', async () => {
    const broken = await make({ type: 'webhook', url: hook('/status/503') });
    const { answer } = await manage<Delivery>('POST', `/alert-endpoints/${broken.id}/test`);
    expect(answer).toMatchObject({ status: 'pending', attempts: 1, last_status: 503 });
    expect(answer.attempt_log).toMatchObject([{ reason: 'http_status' }]);
    const gone = await make({ type: 'webhook', url: hook('/status/410') });
    const { answer: ended } = await manage<Delivery>('POST', `/alert-endpoints/${gone.id}/test`);
    expect(ended).toMatchObject({ status: 'failed', attempts: 1, last_status: 410 });
    const unknown = await make({ type: 'mail', email: 'refused@example.com' });
    const { answer: mail } = await manage<Delivery>('POST', `/alert-endpoints/${unknown.id}/test`);
    expect(mail).toMatchObject({ status: 'failed', attempts: 1, last_status: 550 });
    expect(mail.attempt_log).toMatchObject([{ reason: 'mail_refused' }]);
  });

  test('of a mail arrives', async () => {
    const endpoint = await make({ type: 'mail', email: 'test@example.com' });
    expect(endpoint.secret).toBeUndefined();
    const { answer } = await manage<Delivery>('POST', `/alert-endpoints/${endpoint.id}/test`);
    expect(answer).toMatchObject({ status: 'delivered', last_status: 250 });
    expect(mailsTo('test@example.com').length).toBe(1);
  });
});

describe('a delivery', () => {
  test('P3: goes on after kill -9, and an alert is not made again', async () => {
    const endpoint = await make({ type: 'webhook', url: hook('/killed'), kinds: ['cap_used'] });
    await database.sql`
      insert into api_key (id, organization_id, name, key_hash, key_prefix, limit_nano_usd, used_nano_usd)
      select 'key_killed_' || n, id, 'Killed ' || n, 'killed ' || n, 'sk-', 100, 50
      from organization, generate_series(1, 20) as n`;
    const arrived = () => webhooks().filter(({ pathname }) => pathname === '/killed');
    await until('the first one arrives', () => arrived().length > 0);
    weir.kill('SIGKILL');
    await weir.exited;
    const port = weir.port;
    weir = await startWeir({ env, port });
    await until('all are delivered', async () => {
      const all = await deliveriesTo(endpoint);
      return all.length === 20 && all.every(({ status }) => status === 'delivered');
    });
    await Bun.sleep(2_000);
    const all = await deliveriesTo(endpoint);
    expect(all.length).toBe(20);
    // An attempt whose outcome was lost with the replica may come twice, with the same id.
    const ids = arrived().map(({ headers }) => headers['webhook-id']);
    expect(new Set(ids).size).toBe(20);
    const [{ alerts } = { alerts: 0 }] = await database.sql<{ alerts: number }[]>`
      select count(*)::int4 as alerts from alert where subject_id like 'key_killed_%'`;
    expect(alerts).toBe(20);
  });

  test('to a deleted endpoint ends', async () => {
    const endpoint = await make({ type: 'webhook', url: hook('/status/500') });
    const { answer } = await manage<Delivery>('POST', `/alert-endpoints/${endpoint.id}/test`);
    expect(answer.status).toBe('pending');
    expect((await manage('DELETE', `/alert-endpoints/${endpoint.id}`)).status).toBe(200);
    expect((await manage('GET', `/alert-endpoints/${endpoint.id}`)).status).toBe(404);
    await manage('POST', `/alert-deliveries/${answer.id}/redeliver`);
    await until('it ends', async () => (await deliveriesTo(endpoint))[0]?.status === 'failed');
    expect((await deliveriesTo(endpoint))[0]?.attempt_log.at(-1)?.reason).toBe('endpoint_removed');
  });
});

describe('operators', () => {
  test('are alerted to a channel that is down, once, and no organization is', async () => {
    const { answer: own } = await operate<Endpoint>('POST', '/alert-endpoints', {
      ...{ name: 'On call', type: 'webhook', url: hook('/operators') },
    });
    expect(own.kinds).toEqual(['channel_down', 'price_changed']);
    await database.sql`
      insert into channel_transition (id, channel_id, model, replica_id, from_state, to_state, cause,
        is_from_peer, at)
      select gen_random_uuid(), 'canary-channel', 'gpt-4o', id, 'healthy', 'open', 'server', false,
        now() - interval '2 minutes' from replica where status = 'alive'`;
    const arrived = () => webhooks().filter(({ pathname }) => pathname === '/operators');
    await until('the operators know', () => arrived().length > 0);
    await Bun.sleep(2_500);
    expect(arrived().length).toBe(1);
    const { headers, body } = arrived()[0] ?? { headers: {}, body: '' };
    expect(new Webhook(own.secret ?? '').verify(body, headers)).toMatchObject({
      type: 'alert.channel_down',
      data: { subject: { kind: 'channel', id: 'canary-channel' } },
    });
    const shown = JSON.stringify([
      (await manage('GET', '/alerts?limit=100')).answer,
      (await manage('GET', '/alert-deliveries?limit=100')).answer,
    ]);
    expect(shown).not.toContain('canary');
    const alerts = await operate<{ data: { kind: string }[] }>('GET', '/alerts?kind=channel_down');
    expect(alerts.answer.data.length).toBe(1);
  });
});
