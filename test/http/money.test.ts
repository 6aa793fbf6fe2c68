import {
  afterAll,
  beforeAll,
  beforeEach,
  describe,
  expect,
  setDefaultTimeout,
  test,
} from 'bun:test';
import { errorOf, nativeErrorOf } from '../support/envelope.ts';
import { type Gateway, startGateway } from '../support/gateway.ts';
import type { KeyList, KeyRecord } from '../support/managed-keys.ts';
import { findMoneyFaults } from '../support/money-faults.ts';
import { answerOf, refusal, USAGE } from '../support/upstream-answers.ts';

/** A busy machine may need longer than the default of 5 s. */
setDefaultTimeout(60_000);

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(async () => {
  expect(await findMoneyFaults(gateway.database.sql)).toEqual([]);
  await gateway.stop();
});
beforeEach(() => {
  gateway.upstream.answer = answerOf;
});

interface Balance {
  total_deposited: number;
  available: number;
  held: number;
  used: number;
}

const NANO = 1_000_000_000;
/** Converts an amount of a response to nano-USD, and checks that it is a whole number. */
function nano(usd: number): bigint {
  const rounded = Math.round(usd * NANO);
  expect(rounded / NANO).toBe(usd);
  return BigInt(rounded);
}

/** Prices of the catalogue in USD per million tokens, in the order input, cached input, output. */
const ROUTES = [
  { path: '/v1/chat/completions', model: 'gpt-4o-mini', price: ['0.15', '0.075', '0.6'] },
  { path: '/v1/chat/completions', model: 'gpt-4o', price: ['2.5', '1.25', '10'] },
  { path: '/v1/messages', model: 'claude-haiku-4-5', price: ['1', '0.1', '5'] },
] as const;

/**
 * Computes the charge independently of the product, in whole pico-USD. 10⁻⁶ USD per token is 10⁶
 * pico-USD.
 */
function expectedCharge([input, cached, output]: readonly [string, string, string]): bigint {
  const pico = (usd: string) => {
    const [whole = '0', digits = ''] = usd.split('.');
    return BigInt(whole + digits.padEnd(6, '0'));
  };
  const sum =
    BigInt(USAGE.input) * pico(input) +
    BigInt(USAGE.cached) * pico(cached) +
    BigInt(USAGE.output) * pico(output);
  return (sum + 999n) / 1000n;
}

const newKey = (body: object = {}) => gateway.manage<KeyRecord>('POST', '/api-keys', body);
const readBalance = () => gateway.manage<Balance>('GET', '/balance');

async function readKey(id: string): Promise<KeyRecord> {
  const { data } = await gateway.manage<KeyList>('GET', '/api-keys');
  const found = data.find((key) => key.id === id);
  if (!found) throw new Error(`no key ${id}`);
  return found;
}

async function expectConserved(): Promise<void> {
  const { total_deposited, available, held, used } = await readBalance();
  expect(nano(available) + nano(held) + nano(used)).toBe(nano(total_deposited));
  expect(await findMoneyFaults(gateway.database.sql)).toEqual([]);
}

function call(key: KeyRecord, { path, model }: { path: string; model: string }, more: object = {}) {
  const body = { model, max_tokens: 500, messages: [{ role: 'user', content: 'hi' }], ...more };
  return gateway.post(path, body, { headers: { authorization: `Bearer ${key.key}` } });
}

describe.each(ROUTES)('P1: a call of $model', ({ price, ...route }) => {
  test.each([false, true])('is charged exactly in nano-USD, stream: %p', async (stream) => {
    const key = await newKey();
    const before = await readBalance();
    for (let calls = 1; calls <= 3; calls += 1) {
      const response = await call(key, route, { stream });
      expect(response.status).toBe(200);
      await response.text();
      // The charge was committed before the last byte was sent (P4), so the test does not wait.
      const { used_amount } = await readKey(key.id);
      expect(nano(used_amount)).toBe(expectedCharge(price) * BigInt(calls));
      await expectConserved();
    }
    const after = await readBalance();
    expect(nano(after.used) - nano(before.used)).toBe(expectedCharge(price) * 3n);
    expect(after.total_deposited).toBe(before.total_deposited);
    expect((await readKey(key.id)).last_used_at).not.toBeNull();
  });

  test('is free when the upstream refuses it', async () => {
    const key = await newKey();
    const before = await readBalance();
    const error = { type: 'invalid_request_error' };
    gateway.upstream.answer = () => refusal({ physical: 'p', secret: 's' }, 400, error);
    for (const stream of [false, true]) {
      expect((await call(key, route, { stream })).status).toBe(400);
    }
    expect((await readKey(key.id)).used_amount).toBe(0);
    expect((await readBalance()).used).toBe(before.used);
    await expectConserved();
  });

  test('P2: 402 from the first call on with a zero quota, without an upstream request', async () => {
    const key = await newKey({ limitAmount: 0 });
    gateway.upstream.asked.length = 0;
    for (const stream of [false, true]) {
      const response = await call(key, route, { stream });
      const native = route.path === '/v1/messages';
      const error = await (native ? nativeErrorOf : errorOf)(response, 402);
      expect(error).toMatchObject({
        code: 'quota_exceeded',
        type: native ? 'billing_error' : 'quota_exceeded',
      });
    }
    expect(gateway.upstream.asked).toHaveLength(0);
    expect(await readKey(key.id)).toMatchObject({ limit_amount: 0, used_amount: 0 });
  });

  test('P2: a raised quota admits calls, and a zero quota refuses them again', async () => {
    const key = await newKey({ limitAmount: 0 });
    expect((await call(key, route)).status).toBe(402);
    for (const [limitAmount, status] of [
      [1, 200],
      [0, 402],
      [null, 200],
    ] as const) {
      await gateway.manage('PATCH', `/api-keys/${key.id}`, { limitAmount });
      const response = await call(key, route);
      await response.text();
      expect(response.status).toBe(status);
    }
    await expectConserved();
  });

  test.each([
    ['revoked', 401, 'expired_api_key'],
    ['inactive', 403, 'access_denied'],
    ['suspended', 403, 'access_denied'],
  ])('%s keys are refused from the very next one on', async (status, expected, code) => {
    const key = await newKey();
    expect((await call(key, route)).status).toBe(200);
    await gateway.manage('PATCH', `/api-keys/${key.id}`, { status });
    gateway.upstream.asked.length = 0;
    const refuse = route.path === '/v1/messages' ? nativeErrorOf : errorOf;
    expect((await refuse(await call(key, route), expected)).code).toBe(code);
    expect(gateway.upstream.asked).toHaveLength(0);
    if (status === 'revoked') return;
    await gateway.manage('PATCH', `/api-keys/${key.id}`, { status: 'active' });
    expect((await call(key, route)).status).toBe(200);
  });

  test('is refused for a model outside the allow-list as soon as the list is replaced', async () => {
    const key = await newKey({ models: [route.model] });
    expect((await call(key, route)).status).toBe(200);
    const other = route.model === 'gpt-4o' ? 'gpt-4o-mini' : 'gpt-4o';
    await gateway.manage('PATCH', `/api-keys/${key.id}`, { models: [other] });
    const refuse = route.path === '/v1/messages' ? nativeErrorOf : errorOf;
    const error = await refuse(await call(key, route), 403);
    expect(error).toMatchObject({ code: 'model_not_allowed', param: 'model' });
    await gateway.manage('PATCH', `/api-keys/${key.id}`, { models: [] });
    expect((await call(key, route)).status).toBe(200);
  });
});

describe('an organization without balance', () => {
  test.each(ROUTES)('gets 402 insufficient_balance for $model', async (route) => {
    const poor = await startGateway({ balance_usd: 0 });
    try {
      const body = {
        model: route.model,
        max_tokens: 9,
        messages: [{ role: 'user', content: 'h' }],
      };
      for (const stream of [false, true]) {
        const response = await poor.post(route.path, { ...body, stream });
        const native = route.path === '/v1/messages';
        const error = await (native ? nativeErrorOf : errorOf)(response, 402);
        expect(error).toMatchObject({
          ...{ code: 'insufficient_balance', balance_usd: 0 },
          type: native ? 'insufficient_balance_error' : 'insufficient_balance',
        });
      }
      expect(poor.upstream.asked).toHaveLength(0);
      expect(await findMoneyFaults(poor.database.sql)).toEqual([]);
    } finally {
      await poor.stop();
    }
  });
});

describe('P13: the suggestions for a refused model', () => {
  test('are models that this key can call now', async () => {
    const key = await newKey({ models: ['gpt-4o', 'claude-haiku-4-5'] });
    const response = await call(key, { path: '/v1/chat/completions', model: 'gpt-4o-mimi' });
    const { did_you_mean, suggestions } = await errorOf(response, 400);
    expect(did_you_mean).toBe('gpt-4o');
    expect(suggestions).toEqual([{ id: 'gpt-4o' }]);
    for (const { id } of suggestions ?? []) {
      const again = await call(key, { path: '/v1/chat/completions', model: id });
      expect(again.status).toBe(200);
    }
  });
});
