/**
 * The client's deadline before the first byte of the answer: the header `x-weir-timeout-ms`, or the
 * default of the API key. It bounds a call from its arrival, with all attempts.
 * `every-route.test.ts` tests it on each route.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { DeadlineInstallation, HEADER, NEVER, turn } from '../support/deadline-installation.ts';
import { errorOf, nativeErrorOf } from '../support/envelope.ts';
import type { KeyRecord } from '../support/managed-keys.ts';
import { until } from '../support/until.ts';

setDefaultTimeout(60_000);

let server: DeadlineInstallation;
beforeAll(async () => {
  server = await DeadlineInstallation.start();
});
afterAll(() => server.stop());

describe('the header', () => {
  test.each(['999', '3600001', 'abc', '', '1e4', '01000', '+2000', '-2000', '2000.5', '0x1000'])(
    '400: %p is refused by name',
    async (value) => {
      // The request is refused before its body is read.
      const response = await server.chat('no-such-model', 'Hello', value);
      const { param, message, hint, code } = await errorOf(response, 400);
      expect({ param, code }).toEqual({ param: HEADER, code: 'invalid_request_error' });
      expect(message).toContain('from 1000 to 3600000');
      expect(hint).toContain(HEADER);
    },
  );

  test('400: a repeated header is refused', async () => {
    const headers = new Headers();
    headers.append(HEADER, '2000');
    headers.append(HEADER, '2000');
    const response = await fetch(`${server.weir.base_url}/v1/chat/completions`, {
      method: 'POST',
      headers: [
        ['authorization', `Bearer ${server.weir.api_key}`],
        ['content-type', 'application/json'],
        ...headers,
      ],
      body: JSON.stringify({ model: 'gpt-4o-mini', ...turn('Hello') }),
    });
    expect((await errorOf(response, 400)).param).toBe(HEADER);
  });

  test.each(['1000', '3600000'])('200: %p is accepted', async (value) => {
    const response = await server.chat('gpt-4o-mini', 'Hello', value);
    expect(response.status).toBe(200);
    await response.arrayBuffer();
    expect(await server.linesOf(response)).toMatchObject([{ outcome: 'completed' }]);
  });

  test('400: the native envelope and Gemini’s envelope name it too', async () => {
    const headers = { [HEADER]: '1' };
    const native = await server.post('/v1/messages', turn('Hello'), { headers });
    expect((await nativeErrorOf(native, 400)).param).toBe(HEADER);
    const path = '/v1beta/models/gpt-4o-mini:generateContent';
    const google = await server.post(path, {}, { headers });
    const { error } = (await google.json()) as { error: { details: object[]; status: string } };
    expect([google.status, error.status]).toEqual([400, 'INVALID_ARGUMENT']);
    expect(error.details[0]).toMatchObject({ param: HEADER });
  });

  test('is ignored where no upstream is called', async () => {
    const headers = { [HEADER]: 'abc' };
    const count = await server.post(
      '/v1/messages/count_tokens',
      { model: 'gpt-4o', ...turn('Hi') },
      { headers },
    );
    expect(count.status).toBe(200);
    const authorization = `Bearer ${server.weir.api_key}`;
    const list = await fetch(`${server.weir.base_url}/v1/models`, {
      headers: { ...headers, authorization },
    });
    expect(list.status).toBe(200);
  });
});

describe('before the first byte', () => {
  test('504 in the OpenAI-style envelope', async () => {
    const error = await errorOf(
      await server.chat('gpt-4o-mini', `Hi [[sim ${NEVER}]]`, '1000'),
      504,
    );
    expect(error).toMatchObject({ type: 'timeout_error', code: 'timeout_error', retryable: true });
    expect(error.message).toContain(`1000 ms of ${HEADER}`);
  });

  test('504 in the native envelope', async () => {
    const body = { model: 'claude-haiku-4-5', max_tokens: 50, ...turn(`Hi [[sim ${NEVER}]]`) };
    const response = await server.post('/v1/messages', body, { headers: { [HEADER]: '1000' } });
    const { type, code } = await nativeErrorOf(response, 504);
    expect([type, code]).toEqual(['timeout_error', 'timeout_error']);
  });

  test('504: a slow body counts, because the time starts at the arrival', async () => {
    const started = performance.now();
    const endless = new ReadableStream({
      async pull(body) {
        await Bun.sleep(100);
        body.enqueue(new TextEncoder().encode(' '));
      },
    });
    const response = await fetch(`${server.weir.base_url}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${server.weir.api_key}`,
        'content-type': 'application/json',
        [HEADER]: '1000',
      },
      body: endless,
    });
    await errorOf(response, 504);
    expect(performance.now() - started).toBeLessThan(20_000);
  });

  test('504: a call stops waiting for money, and no upstream is called', async () => {
    const { key } = await server.manage<KeyRecord>('POST', '/api-keys', { limitAmount: 0.001 });
    // Until its answer, the first call holds at least 0.0009 of the 0.001 USD.
    const most = { max_tokens: 180 };
    const model = 'claude-haiku-4-5';
    const first = server.chat(model, 'Hi [[sim latency_ms=6000]]', undefined, most, key);
    await until('the first call runs', async () => (await server.running()) === 1);
    const started = performance.now();
    const second = await server.chat(model, 'Hi', '1000', most, key);
    await errorOf(second, 504);
    expect(performance.now() - started).toBeWithin(900, 5_000);
    expect(await server.linesOf(second)).toEqual([]);
    expect(await server.running()).toBe(1);
    expect((await first).status).toBe(200);
  });

  test('504: failover stops at the deadline, and calls no channel after it', async () => {
    const [first, second] = [await server.callsOf('first'), await server.callsOf('second')];
    // The first channel's own timeout ends its attempt. The second channel would be too late.
    const response = await server.chat('gpt-4o', `Hi [[sim ${NEVER}]]`, '2000');
    await errorOf(response, 504);
    await server.upstreamsStopped();
    expect(await server.callsOf('first')).toBe(first + 1);
    expect(await server.callsOf('second')).toBe(second + 1);
    expect(await server.linesOf(response)).toEqual([]);
  });

  test.each([false, true])(
    '504: both attempts of a hedged call stop; streamed: %p',
    async (stream) => {
      for (let call = 0; call < 20; call += 1) {
        await (await server.chat('gpt-4.1', `Usual ${call}`, undefined, { stream })).arrayBuffer();
      }
      const other = await server.callsOf('other');
      const response = await server.chat('gpt-4.1', `Hi [[sim ${NEVER}]]`, '1500', { stream });
      await errorOf(response, 504);
      expect(await server.callsOf('other')).toBe(other + 1);
      await server.upstreamsStopped();
      expect(await server.linesOf(response)).toEqual([]);
    },
  );

  test('P9: deadlines do not lower the health of a channel', async () => {
    const late = Array.from({ length: 12 }, () =>
      server.chat('claude-haiku-4-5', `Hi [[sim ${NEVER}]]`, '1000'),
    );
    for (const response of await Promise.all(late)) await errorOf(response, 504);
    const channels = await fetch(`${server.weir.base_url}/v1/operator/channels/haiku`, {
      headers: { authorization: `Bearer ${server.weir.operator_token}` },
    });
    expect(await channels.text()).toContain('"healthy"');
    const response = await server.chat('claude-haiku-4-5', 'Hello');
    expect(response.status).toBe(200);
    await response.arrayBuffer();
  });
});

describe('the default of an API key', () => {
  test.concurrent('applies without the header, and a change applies at once', async () => {
    const { id, key } = await server.manage<KeyRecord>('POST', '/api-keys', {
      default_timeout_ms: 1_000,
    });
    const late = () => server.chat('gpt-4o-mini', 'Hi [[sim latency_ms=2500]]', undefined, {}, key);
    const error = await errorOf(await late(), 504);
    expect(error.message).toContain('default_timeout_ms');
    expect(error.hint).toContain('default_timeout_ms');
    await server.manage('PATCH', `/api-keys/${id}`, { default_timeout_ms: 60_000 });
    expect((await late()).status).toBe(200);
    await server.manage('PATCH', `/api-keys/${id}`, { default_timeout_ms: 1_000 });
    await errorOf(await late(), 504);
    await server.manage('PATCH', `/api-keys/${id}`, { default_timeout_ms: null });
    expect((await late()).status).toBe(200);
  });

  test.concurrent('gives way to the header, both when it is longer and when it is shorter', async () => {
    const [short, long] = await Promise.all(
      [1_000, 60_000].map((default_timeout_ms) =>
        server.manage<KeyRecord>('POST', '/api-keys', { default_timeout_ms }),
      ),
    );
    const text = 'Hi [[sim latency_ms=2500]]';
    expect((await server.chat('gpt-4o-mini', text, '60000', {}, short?.key)).status).toBe(200);
    await errorOf(await server.chat('gpt-4o-mini', text, '1000', {}, long?.key), 504);
  });

  test.each([999, 3_600_001, 1_000.5, '5000', true, 0])(
    '400: %p is refused by name',
    async (value) => {
      const created = await server.manage<{ error: object }>('POST', '/api-keys', {
        default_timeout_ms: value,
      });
      expect(created.error).toMatchObject({ param: 'default_timeout_ms' });
    },
  );
});
