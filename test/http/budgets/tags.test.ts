/** Budgets of tags over HTTP: what clients send as `metadata`, on each protocol that has it, and tasks. */
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
import { until } from '../../support/until.ts';

setDefaultTimeout(60_000);

interface Budget {
  id: string;
  api_key_id: string | null;
  tag: Record<string, string> | null;
  used_amount: number;
  free_amount: number;
}

const PATH = '/v1/management/budgets';
const MESSAGES = [{ role: 'user', content: 'hi' }];
const CHAT = { model: 'gpt-4o-mini', max_tokens: 10, messages: MESSAGES };

let gateway: Gateway;
let token = '';
let key_id = '';
beforeAll(async () => {
  gateway = await startGateway();
  const [key] = await gateway.database.sql<{ id: string }[]>`select id from api_key`;
  key_id = key?.id ?? '';
  const made = await gateway.manage<{ token: string }>('POST', '/tokens', {
    ...{ name: 'all', scopes: ['admin'] },
  });
  token = made.token;
  // The first refusal loads the tokenizer, and on a busy machine the replica admits no call meanwhile.
  await make({ team: 'first' }, 0);
  await gateway.post('/v1/chat/completions', { ...CHAT, metadata: { team: 'first' } });
  await until('calls are served', async () => {
    return (await gateway.post('/v1/chat/completions', CHAT)).status === 200;
  });
});
afterAll(() => gateway.stop());
beforeEach(async () => {
  const { data } = await gateway.manage<{ data: Budget[] }>('GET', '/budgets');
  for (const { id } of data) await gateway.manage('DELETE', `/budgets/${id}`);
});

const make = (tag: object, limit_amount: number, period = 'day') =>
  gateway.manage<Budget>('POST', '/budgets', { tag, limit_amount, period });
const usedOf = async ({ id }: Budget) =>
  (await gateway.manage<Budget>('GET', `/budgets/${id}`)).used_amount;
async function refusal(body: object) {
  const response = await fetch(gateway.base_url + PATH, {
    ...{ method: 'POST', body: JSON.stringify(body) },
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
  });
  const { error } = (await response.json()) as { error: { code: string; param: string | null } };
  return `${response.status} ${error.code} ${error.param}`;
}

describe('a budget of a tag', () => {
  test('200: is made, shown and deleted, and the audit log has the tag', async () => {
    const made = await make({ team: 'blue' }, 20);
    expect(made).toMatchObject({ api_key_id: null, tag: { team: 'blue' }, used_amount: 0 });
    expect(await gateway.manage<Budget>('GET', `/budgets/${made.id}`)).toEqual(made);
    await gateway.manage('DELETE', `/budgets/${made.id}`);
    const lines = await gateway.database.sql<{ action: string; before: object; after: object }[]>`
      select action, before, after from audit_log where subject_id = ${made.id} order by seq`;
    const members = {
      ...{ api_key_id: null, tag: { team: 'blue' }, period: 'day', limit_amount: 20 },
      when_reached: 'refuse',
    };
    expect(lines.map((line) => ({ ...line }))).toEqual([
      { action: 'budget.create', before: null as never, after: members },
      { action: 'budget.delete', before: members, after: null as never },
    ]);
  });

  test.each([
    [{ tag: {} }, '400 invalid_request_error tag'],
    [{ tag: { team: 'blue', env: 'prod' } }, '400 invalid_request_error tag'],
    [{ tag: { team: 1 } }, '400 invalid_request_error tag.team'],
    [{ tag: 'team' }, '400 invalid_request_error tag'],
    [{ tag: { '': 'blue' } }, '400 invalid_request_error tag.'],
    [{ tag: { user_id: 'me' } }, '400 invalid_request_error tag.user_id'],
    [{ tag: { team: 'x'.repeat(513) } }, '400 invalid_request_error tag.team'],
    [{ tag: { team: 'a\u0000b' } }, '400 invalid_request_error tag.team'],
  ])('400: %j', async (body, says) => {
    expect(await refusal({ period: 'day', limit_amount: 1, ...body })).toBe(says);
  });

  test('400: of a tag and a key; 409: a second one of the same tag and period', async () => {
    const body = { period: 'day', limit_amount: 1, tag: { team: 'blue' } };
    expect(await refusal({ ...body, api_key_id: key_id })).toBe('400 invalid_request_error tag');
    await make({ team: 'blue' }, 1);
    expect(await refusal(body)).toBe('409 already_exists period');
    await make({ team: 'red' }, 1);
    await make({ team: 'blue' }, 1, 'week');
  });
});

describe('a call', () => {
  const sent = [
    ['/v1/chat/completions', CHAT],
    ['/v1/responses', { model: 'gpt-4o-mini', max_output_tokens: 20, input: 'hi' }],
    ['/v1/messages', { model: 'claude-haiku-4-5', max_tokens: 10, messages: MESSAGES }],
  ] as const;

  test.each(sent)(
    '%s: with the tag is refused beyond the budget, and no other call',
    async (path, body) => {
      const made = await make({ team: 'blue' }, 0);
      const tagged = { ...body, metadata: { team: 'blue' } };
      const refused = await gateway.post(path, tagged);
      expect(refused.status).toBe(402);
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(await refused.json()).toMatchObject({
        error: { message: 'The budget of calls with the tag “team: blue” for today is spent.' },
      });
      expect((await gateway.post(path, body)).status).toBe(200);
      const other = { ...body, metadata: { team: 'red', user_id: 'blue' } };
      expect((await gateway.post(path, other)).status).toBe(200);
      await gateway.manage('PATCH', `/budgets/${made.id}`, { limit_amount: 1 });
      expect((await gateway.post(path, tagged)).status).toBe(200);
      expect(await usedOf(made)).toBeGreaterThan(0);
      expect(await findMoneyFaults(gateway.database.sql)).toEqual([]);
    },
  );

  test('counts in the budgets of all its tags, from their creation on', async () => {
    const metadata = { team: 'green', env: 'prod' };
    const before = await make({ team: 'green' }, 1);
    await gateway.post('/v1/chat/completions', { ...CHAT, metadata });
    const [later, month] = [
      await make({ env: 'prod' }, 1),
      await make({ team: 'green' }, 1, 'month'),
    ];
    // What the first budget made known counts in the second one of the same tag.
    expect([later.used_amount, month.used_amount]).toEqual([0, await usedOf(before)]);
    await gateway.post('/v1/chat/completions', { ...CHAT, metadata });
    await gateway.post('/v1/chat/completions', CHAT);
    const [all, half] = [await usedOf(before), await usedOf(later)];
    expect(half).toBeGreaterThan(0);
    expect(all).toBeCloseTo(2 * half, 9);
  });
});

describe('the tags of a key', () => {
  const call = (key: string, path: string, body: object) =>
    gateway.post(path, body, { headers: { authorization: `Bearer ${key}` } });

  test('are on each of its calls, and no client can change them', async () => {
    const made = await make({ team: 'fixed' }, 0);
    const { id, key } = await gateway.manage<{ id: string; key: string }>('POST', '/api-keys', {
      ...{ name: 'tagged', call_tags: { team: 'fixed' } },
    });
    const bodies = [CHAT, { ...CHAT, metadata: { team: 'other' } }, { ...CHAT, metadata: {} }];
    for (const body of bodies) {
      expect((await call(key, '/v1/chat/completions', body)).status).toBe(402);
    }
    await gateway.manage('PATCH', `/budgets/${made.id}`, { limit_amount: 1 });
    expect((await call(key, '/v1/chat/completions', bodies[1] as object)).status).toBe(200);
    expect(await usedOf(made)).toBeGreaterThan(0);
    const [record] = await gateway.database.sql<{ tags: object }[]>`
      select detail -> 'tags' as tags from usage_line where key_id = ${id}`;
    expect(record?.tags).toEqual({ team: 'fixed' });
    const changed = await gateway.manage<{ call_tags: object }>('PATCH', `/api-keys/${id}`, {
      call_tags: {},
    });
    expect(changed.call_tags).toEqual({});
    await gateway.manage('PATCH', `/budgets/${made.id}`, { limit_amount: 0 });
    expect((await call(key, '/v1/chat/completions', CHAT)).status).toBe(200);
    const lines = await gateway.database.sql<{ action: string; after: object }[]>`
      select action, after -> 'call_tags' as after from audit_log where subject_id = ${id} order by seq`;
    expect(lines.map(({ action, after }) => [action, after])).toEqual([
      ['api_key.create', { team: 'fixed' }],
      ['api_key.update', {}],
    ]);
    expect(await findMoneyFaults(gateway.database.sql)).toEqual([]);
  });

  test.each([
    [{ user_id: 'me' }],
    [{ team: 1 }],
    ['team'],
    [Object.fromEntries(Array.from({ length: 17 }, (_, n) => [n, 'x']))],
  ])('400: %j', async (call_tags) => {
    await expect(gateway.manage('POST', '/api-keys', { call_tags })).rejects.toThrow('call_tags');
  });
});
