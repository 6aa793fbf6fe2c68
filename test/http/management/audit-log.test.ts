/**
 * The audit log over HTTP: every route that changes something writes a line, no line has a secret, and
 * an organization sees its own log only (P6).
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import type { AuditLine } from '../../../db/audit/entry.ts';
import { MANAGEMENT_ROUTES } from '../../../src/http/route-actions.ts';
import { canonicalJson } from '../../../src/json/canonical.ts';
import { errorOf } from '../../support/envelope.ts';
import { OPENAI_COSTS } from '../../support/provider-bills.ts';
import { startTenants, type Tenants } from '../../support/tenants.ts';

setDefaultTimeout(90_000);

let tenants: Tenants;
beforeAll(async () => {
  tenants = await startTenants();
});
afterAll(() => tenants.stop());

/** Sends a request with JSON, and returns the answer with its text. */
async function send(method: string, path: string, token: string, body?: object) {
  const response = await fetch(tenants.weir.base_url + path, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body ? { 'content-type': 'application/json' } : {}),
    },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  return { response, text: await response.text() };
}

interface Page {
  data: AuditLine[];
  has_more: boolean;
  next_cursor: string | null;
}
const logOf = async (path: string, token: string): Promise<Page> => {
  const { response, text } = await send('GET', path, token);
  expect(response.status).toBe(200);
  return JSON.parse(text);
};
const own = (query = '') =>
  logOf(`/v1/management/audit-log${query}`, tenants.home.management_token);
const installation = (query = '') =>
  logOf(`/v1/operator/audit-log${query}`, tenants.weir.operator_token);

/** A change: its route, its request, and the action of its line. */
type Case = [route: string, action: string, body: object | undefined, path: () => string];
const at = (path: string) => () => path;
const MANAGED: Case[] = [
  [
    'POST /v1/management/tasks/:id/cancel',
    'task.cancel',
    undefined,
    () => `/tasks/${running_task}/cancel`,
  ],
  [
    'POST /v1/management/batches/:id/cancel',
    'batch.cancel',
    undefined,
    () => `/batches/${running_batch}/cancel`,
  ],
  [
    'POST /v1/management/webhook-deliveries/:id/redeliver',
    'webhook_delivery.redeliver',
    undefined,
    () => `/webhook-deliveries/${tenants.home.delivery}/redeliver`,
  ],
  [
    'POST /v1/management/webhook-secret/rotate',
    'webhook_secret.rotate',
    undefined,
    at('/webhook-secret/rotate'),
  ],
  [
    'POST /v1/management/debug-windows/:id/close',
    'debug_window.close',
    undefined,
    () => `/debug-windows/${tenants.home.window}/close`,
  ],
  ['POST /v1/management/debug-windows', 'debug_window.open', { minutes: 5 }, at('/debug-windows')],
  ['DELETE /v1/management/cache', 'cache.purge', undefined, at('/cache')],
  [
    'POST /v1/management/alert-endpoints',
    'alert_endpoint.create',
    { name: 'X', type: 'webhook', url: 'https://example.com/x' },
    at('/alert-endpoints'),
  ],
  [
    'PATCH /v1/management/alert-endpoints/:id',
    'alert_endpoint.update',
    { enabled: false },
    () => `/alert-endpoints/${tenants.home.endpoint}`,
  ],
  [
    'POST /v1/management/alert-endpoints/:id/rotate',
    'alert_endpoint.rotate',
    undefined,
    () => `/alert-endpoints/${tenants.home.endpoint}/rotate`,
  ],
  [
    'POST /v1/management/alert-endpoints/:id/test',
    'alert_endpoint.test',
    undefined,
    () => `/alert-endpoints/${tenants.home.endpoint}/test`,
  ],
  [
    'POST /v1/management/alert-deliveries/:id/redeliver',
    'alert_delivery.redeliver',
    undefined,
    () => `/alert-deliveries/${tenants.home.alert_delivery}/redeliver`,
  ],
  [
    'PATCH /v1/management/alert-settings',
    'alert_settings.update',
    { unused_days: 7 },
    at('/alert-settings'),
  ],
  [
    'DELETE /v1/management/alert-endpoints/:id',
    'alert_endpoint.delete',
    undefined,
    () => `/alert-endpoints/${tenants.home.endpoint}`,
  ],
];
/** Routes whose lines have tests of their own. */
const ELSEWHERE = new Set([
  'PATCH /v1/management/people/:id',
  'DELETE /v1/management/people/:id',
  'POST /v1/management/invitations',
  'POST /v1/management/invitations/:id/revoke',
  'PATCH /v1/management/organization',
  'POST /v1/management/api-keys',
  'PATCH /v1/management/api-keys/:keyId',
  'DELETE /v1/management/api-keys/:keyId',
  'POST /v1/management/api-keys/:keyId/rotate',
  'POST /v1/management/tokens',
  'PATCH /v1/management/tokens/:id',
  'POST /v1/management/tokens/:id/rotate',
  'POST /v1/management/tokens/:id/revoke',
  'POST /v1/management/budgets',
  'PATCH /v1/management/budgets/:id',
  'DELETE /v1/management/budgets/:id',
  'POST /v1/management/upstream-keys',
  'PATCH /v1/management/upstream-keys/:id',
  'POST /v1/management/upstream-keys/:id/test',
  'POST /v1/management/upstream-keys/:id/rotate',
  'POST /v1/management/upstream-keys/:id/revoke',
  'POST /v1/management/views',
  'PATCH /v1/management/views/:id',
  'DELETE /v1/management/views/:id',
]);
const OPERATED: Case[] = [
  [
    'POST /v1/operator/alert-endpoints',
    'alert_endpoint.create',
    { name: 'On call', type: 'webhook', url: 'https://example.com/x' },
    at('/alert-endpoints'),
  ],
  [
    ...([
      'POST /v1/operator/channels/:id/disable',
      'channel.disable',
      { reason: 'repair' },
    ] as const),
    at('/channels/canary-channel-images/disable'),
  ],
  [
    ...(['POST /v1/operator/channels/:id/drain', 'channel.drain', undefined] as const),
    at('/channels/canary-channel-images/drain'),
  ],
  [
    ...(['POST /v1/operator/channels/:id/enable', 'channel.enable', undefined] as const),
    at('/channels/canary-channel-images/enable'),
  ],
  [
    ...(['POST /v1/operator/provider-bills', 'provider_bill.import', OPENAI_COSTS] as const),
    at('/provider-bills?channel=canary-channel-openai&source=openai-costs'),
  ],
];

let running_task = '';
let running_batch = '';
beforeAll(async () => {
  running_task = await tenants.createTask(tenants.home, 60_000);
  const batch = await tenants.create<{ id: string }>('/v1/messages/batches', tenants.home, {
    requests: [
      {
        custom_id: 'slow',
        params: {
          ...{ model: 'claude-haiku-4-5', max_tokens: 20 },
          messages: [{ role: 'user', content: 'hi [[sim latency_ms=30000]]' }],
        },
      },
    ],
  });
  running_batch = batch.id;
});

describe('every change is on record', () => {
  test('the cases have every route of an organization that changes something', () => {
    const changing = Object.keys(MANAGEMENT_ROUTES).filter((route) => !route.startsWith('GET '));
    const known = [...MANAGED.map(([route]) => route), ...ELSEWHERE];
    expect(known.sort()).toEqual(changing.sort());
  });

  test.each(MANAGED)('%s: %s', async (route, action, body, path) => {
    const [method = ''] = route.split(' ');
    const before = await own();
    const token = tenants.home.management_token;
    const { response } = await send(method, `/v1/management${path()}`, token, body);
    expect(response.status).toBe(200);
    const after = await own();
    const [line] = after.data;
    expect(line?.seq).toBe((before.data[0]?.seq ?? 0) + 1);
    expect(line).toMatchObject({ action, organization_id: tenants.home.id });
    expect(line?.actor).toMatchObject({ kind: 'token', address: '127.0.0.1' });
    expect(line?.actor.request_id).toBe(response.headers.get('x-request-id'));
    expect(line?.actor.label).toBe(`${token.slice(0, 8)}…`);
  });

  test.each(OPERATED)('%s: %s', async (route, action, body, path) => {
    const [method = ''] = route.split(' ');
    const before = await installation();
    const token = tenants.weir.operator_token;
    const { response } = await send(method, `/v1/operator${path()}`, token, body);
    expect(response.status).toBe(200);
    const [line] = (await installation()).data;
    expect(line?.seq).toBe((before.data[0]?.seq ?? 0) + 1);
    expect(line).toMatchObject({ action, organization_id: null });
    expect(line?.actor).toMatchObject({ kind: 'operator', label: `${token.slice(0, 8)}…` });
  });

  test('a reading of prompts is a line too, and a refused change is none', async () => {
    const token = tenants.home.management_token;
    await send('GET', `/v1/management/requests/${tenants.home.copy}/debug`, token);
    const [line] = (await own()).data;
    expect(line).toMatchObject({
      action: 'debug_copy.read',
      after: { request_id: tenants.home.copy },
    });
    const stranger = `/v1/management/tasks/${tenants.away.task}/cancel`;
    await errorOf((await tenants.send('POST', stranger, token)) as Response, 404);
    expect((await own()).data[0]).toEqual(line as AuditLine);
  });
});

describe('the log', () => {
  test('pages have every line once, the newest first, and filters narrow them', async () => {
    const whole = (await own('?limit=100')).data;
    const paged: AuditLine[] = [];
    for (let cursor = ''; ; ) {
      const page = await own(`?limit=2${cursor}`);
      paged.push(...page.data);
      if (!page.has_more) break;
      cursor = `&cursor=${page.next_cursor}`;
    }
    expect(paged).toEqual(whole);
    const opened = (await own('?action=debug_window.open')).data;
    expect(opened).toEqual(whole.filter(({ action }) => action === 'debug_window.open'));
    const subject = tenants.home.window;
    const of_window = (await own(`?subject_id=${subject}`)).data;
    expect(of_window).toEqual(whole.filter(({ subject_id }) => subject_id === subject));
    expect(of_window.length).toBeGreaterThan(1);
    expect((await own(`?actor_id=${whole[0]?.actor.id}`)).data).toEqual(whole);
    expect((await own('?endDate=2020-01-01')).data).toEqual([]);
    expect((await own('?startDate=2020-01-01&limit=100')).data).toEqual(whole);
  });

  test.each([
    ['?limit=0', 'limit'],
    ['?cursor=x', 'cursor'],
    ['?startDate=yesterday', 'startDate'],
    ['?colour=red', 'colour'],
    ['?action=%00', 'action'],
  ])('400: %s', async (query, param) => {
    const path = `/v1/management/audit-log${query}`;
    const response = await tenants.send('GET', path, tenants.home.management_token);
    expect((await errorOf(response, 400)).param).toBe(param);
  });

  test.each([
    ['/v1/management/audit-log', () => tenants.home.management_token],
    ['/v1/operator/audit-log', () => tenants.weir.operator_token],
  ])('%s/export is a chain that another program can follow', async (path, token) => {
    const { response, text } = await send('GET', `${path}/export`, token());
    expect(response.headers.get('content-type')).toBe('application/x-ndjson');
    const lines = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as AuditLine);
    expect(lines.length).toBeGreaterThan(3);
    let [seq, previous] = [0, ''];
    for (const { hash, ...line } of lines) {
      expect([line.seq, line.previous_hash]).toEqual([seq + 1, previous]);
      expect(hash).toBe(new Bun.CryptoHasher('sha256').update(canonicalJson(line)).digest('hex'));
      [seq, previous] = [line.seq, hash];
    }
    const check = await send('GET', `${path}/check`, token());
    expect(JSON.parse(check.text)).toEqual({
      ...{ object: 'audit_log_check', intact: true, lines: lines.length, broken_at: null },
    });
  });

  test('no line has a credential, a secret or a text of a prompt', async () => {
    const { home, weir } = tenants;
    const { secret } = await tenants.manage<{ secret: string }>('GET', '/webhook-secret');
    const { text } = await send('GET', '/v1/management/audit-log/export', home.management_token);
    const { text: all } = await send('GET', '/v1/operator/audit-log/export', weir.operator_token);
    for (const canary of [home.api_key, home.management_token, weir.operator_token, secret]) {
      expect(text + all).not.toContain(canary);
      // Nor the secret part behind the shown start.
      expect(text + all).not.toContain(canary.slice(10));
    }
    expect(text + all).not.toMatch(/sim tokens|sim-canary/);
  });

  test('P6: another organization’s log has none of these lines', async () => {
    const { data } = await logOf(
      '/v1/management/audit-log?limit=100',
      tenants.away.management_token,
    );
    const ids = new Set(data.map(({ organization_id }) => organization_id));
    expect([...ids]).toEqual([tenants.away.id]);
    expect(JSON.stringify(data)).not.toContain(tenants.home.window);
  });
});
