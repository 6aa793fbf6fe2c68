/** The routes of budgets, and what calls beyond a budget are told. */
import {
  afterAll,
  beforeAll,
  beforeEach,
  describe,
  expect,
  setDefaultTimeout,
  test,
} from 'bun:test';
import { type Gateway, startGateway } from '../../support/gateway.ts';
import { findMoneyFaults } from '../../support/money-faults.ts';

setDefaultTimeout(60_000);

interface Budget {
  id: string;
  api_key_id: string | null;
  period: string;
  limit_amount: number;
  used_amount: number;
  held_amount: number;
  free_amount: number;
  window: { starts_on: string; resets_at: string; time_zone: string };
}

const PATH = '/v1/management/budgets';
const CALL = { model: 'gpt-4o-mini', max_tokens: 10, messages: [{ role: 'user', content: 'hi' }] };

let gateway: Gateway;
let key_id = '';
let token = '';
beforeAll(async () => {
  gateway = await startGateway();
  const [key] = await gateway.database.sql<{ id: string }[]>`select id from api_key`;
  key_id = key?.id ?? '';
  const made = await gateway.manage<{ token: string }>('POST', '/tokens', {
    ...{ name: 'all', scopes: ['admin'] },
  });
  token = made.token;
});
afterAll(() => gateway.stop());
beforeEach(async () => {
  const { data } = await gateway.manage<{ data: Budget[] }>('GET', '/budgets');
  for (const { id } of data) await gateway.manage('DELETE', `/budgets/${id}`);
});

const make = (body: object) => gateway.manage<Budget>('POST', '/budgets', body);
async function refusal(method: string, path: string, body: object, headers: object = {}) {
  const response = await fetch(gateway.base_url + path, {
    ...{ method, body: JSON.stringify(body) },
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
  });
  const { error } = (await response.json()) as { error: { code: string; param: string | null } };
  return `${response.status} ${error.code} ${error.param}`;
}
const auditOf = async (id: string) =>
  (
    await gateway.database.sql<{ action: string; after: object }[]>`
      select action, after from audit_log where subject_id = ${id} order by seq`
  ).map(({ action, after }) => [action, after]);

describe('a budget', () => {
  test('200: is made, listed, changed and deleted, and each change is in the audit log', async () => {
    const made = await make({ period: 'day', limit_amount: 20, api_key_id: key_id });
    expect(made).toMatchObject({
      ...{ object: 'budget', api_key_id: key_id, period: 'day', limit_amount: 20 },
      window: { starts_on: expect.stringMatching(/^\d{4}-\d\d-\d\d$/), time_zone: 'UTC' },
    });
    expect(Date.parse(made.window.resets_at)).toBeGreaterThan(Date.now());
    expect(await gateway.manage<Budget>('GET', `/budgets/${made.id}`)).toEqual(made);
    const changed = await gateway.manage<Budget>('PATCH', `/budgets/${made.id}`, {
      limit_amount: 5,
    });
    expect(changed).toEqual({ ...made, limit_amount: 5, free_amount: 5 - made.used_amount });
    const { data } = await gateway.manage<{ data: Budget[] }>('GET', '/budgets');
    expect(data).toEqual([changed]);
    expect(await gateway.manage<object>('DELETE', `/budgets/${made.id}`)).toEqual({
      ...{ object: 'budget.deleted', id: made.id, deleted: true },
    });
    expect(await auditOf(made.id)).toEqual([
      [
        'budget.create',
        {
          ...{ api_key_id: key_id, tag: null, period: 'day', limit_amount: 20 },
          when_reached: 'refuse',
        },
      ],
      ['budget.update', { limit_amount: 5 }],
      ['budget.delete', null],
    ] as never);
  });

  test.each([
    [{ period: 'year', limit_amount: 1 }, '400 invalid_request_error period'],
    [{ period: 'day' }, '400 invalid_request_error limit_amount'],
    [{ period: 'day', limit_amount: -1 }, '400 invalid_request_error limit_amount'],
    [
      { period: 'day', limit_amount: 1, api_key_id: 'key_none' },
      '400 invalid_request_error api_key_id',
    ],
    [{ period: 'day', limit_amount: 1, color: 'red' }, '400 invalid_request_error color'],
  ])('400: %j', async (body, says) => {
    expect(await refusal('POST', PATH, body)).toBe(says);
  });

  test('404, 409 and 412: no such budget, a second one, and one that somebody else changed', async () => {
    const made = await make({ period: 'month', limit_amount: 20 });
    expect(await refusal('PATCH', `${PATH}/budget_none`, { limit_amount: 1 })).toBe(
      '404 not_found id',
    );
    expect(await refusal('POST', PATH, { period: 'month', limit_amount: 1 })).toBe(
      '409 already_exists period',
    );
    const stale = { 'if-match': '"stale"' };
    expect(await refusal('PATCH', `${PATH}/${made.id}`, { limit_amount: 1 }, stale)).toBe(
      '412 precondition_failed If-Match',
    );
  });
});

describe('a call', () => {
  test('402: beyond the budget is refused with its owner and period, until the limit is raised', async () => {
    const made = await make({ period: 'day', limit_amount: 0 });
    const refused = await gateway.post('/v1/chat/completions', CALL);
    expect(refused.status).toBe(402);
    const seconds = Number(refused.headers.get('retry-after'));
    expect(seconds).toBeGreaterThan(0);
    expect(seconds).toBeLessThanOrEqual(86_400);
    expect(await refused.json()).toMatchObject({
      error: {
        code: 'quota_exceeded',
        message: 'The budget of the organization for today is spent.',
      },
    });
    await gateway.manage('PATCH', `/budgets/${made.id}`, { limit_amount: 20 });
    expect((await gateway.post('/v1/chat/completions', CALL)).status).toBe(200);
  });

  test('200: counts in the day, week and month of its organization and its key', async () => {
    const scopes = [null, key_id].flatMap((api_key_id) =>
      ['day', 'week', 'month'].map((period) => ({ api_key_id, period, limit_amount: 1 })),
    );
    const before = await Promise.all(scopes.map(make));
    const used = await usedOfKey();
    // The budgets count what was spent since their windows began, i.e. all calls of this file.
    expect(new Set(before.map(({ used_amount }) => used_amount))).toEqual(new Set([used]));
    expect((await gateway.post('/v1/chat/completions', CALL)).status).toBe(200);
    const { data } = await gateway.manage<{ data: Budget[] }>('GET', '/budgets');
    expect(data).toHaveLength(6);
    const now = await usedOfKey();
    expect(now).toBeGreaterThan(used);
    for (const budget of data) expect(budget.used_amount).toBe(now);
    expect(await findMoneyFaults(gateway.database.sql)).toEqual([]);
  });

  test('the time zone of the organization decides which day it is', async () => {
    const [first, second] = ['Pacific/Kiritimati', 'Etc/GMT+12'];
    const days: string[] = [];
    for (const time_zone of [first, second]) {
      await gateway.manage('PATCH', '/organization', { time_zone });
      const { id } = await make({ period: 'day', limit_amount: 1 });
      expect((await gateway.post('/v1/chat/completions', CALL)).status).toBe(200);
      const { window, used_amount } = await gateway.manage<Budget>('GET', `/budgets/${id}`);
      expect(window.time_zone).toBe(time_zone);
      expect(used_amount).toBeGreaterThan(0);
      days.push(window.starts_on);
      await gateway.manage('DELETE', `/budgets/${id}`);
    }
    // The two zones are 26 hours apart.
    expect(days[0]).not.toBe(days[1]);
    await gateway.manage('PATCH', '/organization', { time_zone: 'UTC' });
  });
});

async function usedOfKey(): Promise<number> {
  return (await gateway.manage<{ used_amount: number }>('GET', `/api-keys/${key_id}`)).used_amount;
}
