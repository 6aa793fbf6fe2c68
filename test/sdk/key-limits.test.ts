/**
 * Limits of keys, as programs see that know nothing of Weir: the SDKs of OpenAI and Anthropic repeat a refused call
 * after `Retry-After`, and a parser of RFC 9651 reads the warnings of soft limits and budgets. `bin/test --full`
 * also waits for a whole minute (`test/full/sdk-minute.test.ts`).
 */
import {
  afterAll,
  beforeAll,
  beforeEach,
  describe,
  expect,
  setDefaultTimeout,
  test,
} from 'bun:test';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI, { type APIError } from 'openai';
import { parseList, Token } from 'structured-headers';
import { failureOf } from '../support/failure-of.ts';
import { type Gateway, startGateway } from '../support/gateway.ts';
import { until } from '../support/until.ts';
import { answerOf } from '../support/upstream-answers.ts';

setDefaultTimeout(60_000);

const MESSAGES = [{ role: 'user' as const, content: 'hi' }];

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway({ balance_usd: 1_000 });
});
afterAll(() => gateway.stop());

let key = { id: '', key: '' };
beforeEach(async () => {
  key = await gateway.manage('POST', '/api-keys', { name: 'limited' });
});
const limit = (limits: object[]) => gateway.manage('PATCH', `/api-keys/${key.id}`, { limits });

/** Each attempt of a client: its status, and the seconds to wait. */
type Attempt = readonly [status: number, retry_after: string | null];
function recorded() {
  const attempts: Attempt[] = [];
  const record = async (url: string | URL | Request, init?: RequestInit) => {
    const answer = await fetch(url, init);
    attempts.push([answer.status, answer.headers.get('retry-after')]);
    return answer;
  };
  return { attempts, fetch: record as typeof fetch };
}

const CLIENTS = [
  [
    'openai',
    async (fetch: typeof globalThis.fetch, maxRetries?: number) => {
      const options = { baseURL: `${gateway.base_url}/v1`, apiKey: key.key, fetch };
      const client = new OpenAI({
        ...options,
        ...(maxRetries === undefined ? {} : { maxRetries }),
      });
      const body = { model: 'gpt-4o-mini', max_tokens: 10, messages: MESSAGES };
      return (await client.chat.completions.create(body)).choices.length;
    },
  ],
  [
    '@anthropic-ai/sdk',
    async (fetch: typeof globalThis.fetch, maxRetries?: number) => {
      const options = { baseURL: gateway.base_url, apiKey: key.key, fetch };
      const client = new Anthropic({
        ...options,
        ...(maxRetries === undefined ? {} : { maxRetries }),
      });
      const body = { model: 'claude-haiku-4-5', max_tokens: 10, messages: MESSAGES };
      return (await client.messages.create(body)).content.length;
    },
  ],
] as const;

describe.each(CLIENTS)('%s', (_name, call) => {
  test('waits for Retry-After, and its own retry succeeds when another call has ended', async () => {
    await limit([{ concurrent_calls: 1 }]);
    const { upstream } = gateway;
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    let hasArrived = false;
    upstream.answer = async (asked) => {
      hasArrived = true;
      await released;
      return answerOf(asked);
    };
    const first = call(fetch);
    await until('the first call is at the upstream', () => hasArrived);
    upstream.answer = answerOf;
    const { attempts, fetch: watched } = recorded();
    const began_ms = performance.now();
    const second = call(watched);
    await until('the second call is refused', () => attempts.length > 0);
    release();
    expect(await second).toBe(1);
    expect(await first).toBe(1);
    expect(attempts).toEqual([
      [429, '1'],
      [200, null],
    ]);
    expect(performance.now() - began_ms).toBeGreaterThanOrEqual(990);
  });

  test('is told at most a minute, which it obeys, when a minute is full', async () => {
    await limit([{ requests_per_minute: 1 }]);
    expect(await call(fetch)).toBe(1);
    const { attempts, fetch: watched } = recorded();
    const failure = (await failureOf(call(watched, 0))) as APIError;
    expect(failure).toMatchObject({ status: 429 });
    const [[status, retry_after] = [0, null]] = attempts;
    expect(status).toBe(429);
    expect(Number(retry_after)).toBeWithin(55, 61);
  });

  test('does not repeat a call that never fits', async () => {
    await limit([{ tokens_per_minute: 1 }]);
    const { attempts, fetch: watched } = recorded();
    const failure = (await failureOf(call(watched))) as APIError;
    expect(failure).toMatchObject({ status: 429 });
    expect(failure.message).toContain('the limit of this API key is 1 tokens per minute');
    expect(attempts).toEqual([[429, null]]);
  });
});

describe('x-weir-warning is a list of RFC 9651', () => {
  const warningOf = async (model = 'gpt-4o') => {
    const client = new OpenAI({ baseURL: `${gateway.base_url}/v1`, apiKey: key.key });
    const body = { model, max_tokens: 10, messages: MESSAGES };
    const { response } = await client.chat.completions.create(body).withResponse();
    return parseList(response.headers.get('x-weir-warning') ?? '').map(([item, parameters]) => {
      expect(item).toBeInstanceOf(Token);
      return { ...Object.fromEntries(parameters), is: String(item) } as Record<string, unknown>;
    });
  };

  test('with a member for each soft limit and budget that the call exceeds', async () => {
    const budget = await gateway.manage<{ id: string }>('POST', '/budgets', {
      ...{ period: 'day', api_key_id: key.id, limit_amount: 0, when_reached: 'warn' },
    });
    await limit([
      { requests_per_minute: 1, when_reached: 'warn' },
      { model: 'gpt-4o', tokens_per_minute: 1, when_reached: 'warn' },
    ]);
    await warningOf('gpt-4o-mini');
    const found = await warningOf();
    expect(found).toHaveLength(3);
    expect(found).toContainEqual({
      ...{ is: 'budget_reached', budget_id: budget.id, period: 'day', owner: 'api_key' },
      frees_in_s: expect.any(Number),
    });
    expect(found).toContainEqual({
      ...{ is: 'limit_reached', limit: 'requests_per_minute', frees_in_s: expect.any(Number) },
    });
    // A call that alone is above the limit never fits.
    expect(found).toContainEqual({
      ...{ is: 'limit_reached', limit: 'tokens_per_minute', model: 'gpt-4o' },
    });
    for (const { frees_in_s = 1 } of found as { frees_in_s?: number }[]) {
      expect(Number.isSafeInteger(frees_in_s)).toBe(true);
      expect(frees_in_s).toBeGreaterThan(0);
    }
  });

  test('and says why a call did not move', async () => {
    await gateway.manage('POST', '/budgets', {
      ...{ period: 'week', api_key_id: key.id, limit_amount: 0 },
      when_reached: { move_to: 'gpt-4o' },
    });
    expect(await warningOf('gpt-4o-mini')).toMatchObject([
      { is: 'budget_reached', period: 'week', not_moved: 'not_cheaper' },
    ]);
  });
});
