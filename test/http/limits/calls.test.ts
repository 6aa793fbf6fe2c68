/** Limits of keys, through the public interface: what is refused, with which words, and what is given back. */
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
import { until } from '../../support/until.ts';
import { answerOf, USAGE } from '../../support/upstream-answers.ts';

setDefaultTimeout(60_000);

const body = (model: string, more: object = {}) => ({
  ...{ model, max_tokens: 10, messages: [{ role: 'user', content: 'hi' }], ...more },
});

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

let key = { id: '', key: '' };
beforeEach(async () => {
  key = await gateway.manage('POST', '/api-keys', { name: 'limited' });
});

const limit = (limits: object[]) =>
  gateway.manage<{ limits: object[] }>('PATCH', `/api-keys/${key.id}`, { limits });
const call = (model = 'gpt-4o-mini', more: object = {}) =>
  gateway.post('/v1/chat/completions', body(model, more), {
    headers: { authorization: `Bearer ${key.key}` },
  });
const statuses = async (calls: Promise<Response>[]) =>
  (await Promise.all(calls)).map(({ status }) => status);

/** Runs `work` while a call waits for its upstream. The call succeeds afterwards. */
async function whileRunning(more: object, work: () => Promise<void>): Promise<void> {
  const { upstream } = gateway;
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  let hasArrived = false;
  upstream.answer = async (asked) => {
    hasArrived = true;
    await released;
    return answerOf(asked);
  };
  const running = call('gpt-4o-mini', more);
  await until('the call is at the upstream', () => hasArrived);
  try {
    await work();
  } finally {
    release();
    upstream.answer = answerOf;
  }
  expect((await running).status).toBe(200);
}

describe('a key with limits', () => {
  test('429: more requests than the limit of its model; other models go on', async () => {
    const { limits } = await limit([{ model: 'gpt-4o-mini', requests_per_minute: 2 }]);
    expect(limits).toEqual([
      {
        ...{ model: 'gpt-4o-mini', requests_per_minute: 2 },
        ...{ tokens_per_minute: null, concurrent_calls: null, when_reached: 'refuse' },
      },
    ]);
    expect(await statuses([call(), call()])).toEqual([200, 200]);
    const refused = await call();
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(50);
    expect(await refused.json()).toMatchObject({
      error: {
        ...{ code: 'rate_limit_exceeded', retryable: true },
        message: 'The limit of this API key for gpt-4o-mini is reached: 2 requests per minute.',
      },
    });
    expect((await call('gpt-4o')).status).toBe(200);
  });

  test('429: more calls at the same time; a call that ended frees its place', async () => {
    await limit([{ concurrent_calls: 1 }]);
    for (let n = 0; n < 3; n += 1) expect((await call()).status).toBe(200);
    const stream = await call('gpt-4o-mini', { stream: true });
    await stream.text();
    expect((await call()).status).toBe(200);
    await whileRunning({}, async () => {
      const refused = await call();
      expect(refused.status).toBe(429);
      expect(await refused.json()).toMatchObject({
        error: { message: 'The limit of this API key is reached: 1 calls at the same time.' },
      });
    });
    expect((await call()).status).toBe(200);
  });

  test('tokens count with the most that the call may use, then with what it used', async () => {
    await limit([{ tokens_per_minute: 8_000 }]);
    const large = await call('gpt-4o-mini', { max_tokens: 8_000 });
    expect(large.status).toBe(429);
    expect(await large.json()).toMatchObject({
      error: { retryable: false, hint: expect.stringContaining('max_tokens') },
    });
    const half = { max_tokens: 6_200 };
    const used = USAGE.input + USAGE.output;
    expect(8_000 - 6_200).toBeGreaterThan(used);
    // At the same time, they may use more than the limit. One after the other, two fit.
    await whileRunning(half, async () => {
      expect((await call('gpt-4o-mini', half)).status).toBe(429);
    });
    expect((await call('gpt-4o-mini', half)).status).toBe(200);
    expect((await call('gpt-4o-mini', half)).status).toBe(429);
  });

  test('a call that gets no money takes nothing for long', async () => {
    await limit([{ concurrent_calls: 1 }]);
    await gateway.manage('PATCH', `/api-keys/${key.id}`, { limitAmount: 0 });
    for (let n = 0; n < 3; n += 1) {
      // On a very busy machine the ledger may answer too late, and then the client tries again.
      const refused = () => call().then(({ status }) => status !== 503 && status);
      expect(await until('the ledger answers', refused)).toBe(402);
    }
  });

  test('400: unknown models, two limits of a model, and values out of bounds', async () => {
    for (const [limits, param] of [
      [[{ model: 'no-such-model', requests_per_minute: 1 }], 'limits.0.model'],
      [[{ requests_per_minute: 1 }, { concurrent_calls: 1 }], 'limits.1.model'],
      [[{ requests_per_minute: 0 }], 'limits.0.requests_per_minute'],
      [[{ requests_per_minute: 1, per: 'day' }], 'limits.0.per'],
    ] as const) {
      await expect(limit(limits as never)).rejects.toThrow(`"param":"${param}"`);
    }
  });

  test('the audit log has each change, and without limits nothing is limited', async () => {
    await limit([{ requests_per_minute: 1 }]);
    await call();
    expect((await call()).status).toBe(429);
    expect(await limit([])).toMatchObject({ limits: [] });
    expect(await statuses([call(), call(), call()])).toEqual([200, 200, 200]);
    const rows = await gateway.database.sql<{ after: object }[]>`
      select after from audit_log where subject_id = ${key.id} and action = 'api_key.update' order by seq`;
    expect(rows.map(({ after }) => after)).toMatchObject([
      { limits: [{ model: null, requests_per_minute: 1 }] },
      { limits: [] },
    ]);
  });
});
