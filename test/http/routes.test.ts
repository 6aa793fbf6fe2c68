import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { startTestApp, type TestApp } from '../support/app.ts';
import { errorOf, nativeErrorOf } from '../support/envelope.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());
afterEach(() => {
  app.ready = true;
  app.answer = () => Response.json({ ok: true });
});

describe('GET /healthz', () => {
  test('200: while the process runs', async () => {
    const response = await fetch(`${app.base_url}/healthz`);
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ status: 'ok' });
  });
});

describe('GET /readyz', () => {
  test('200: while requests can be served', async () => {
    const response = await fetch(`${app.base_url}/readyz`);
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ status: 'ready' });
  });

  test('503: while requests cannot be served', async () => {
    app.ready = false;
    const error = await errorOf(await fetch(`${app.base_url}/readyz`), 503);
    expect(error).toMatchObject({ code: 'service_unavailable', retryable: true, retry_after: 1 });
  });
});

describe('every response', () => {
  test.each(['/healthz', '/v1/models', '/nowhere'])('from %s has a request id', async (path) => {
    const { headers } = await app.fetch(path);
    expect(headers.get('x-request-id')).toMatch(/^req_[0-9a-f]{32}$/);
    expect(headers.get('request-id')).toBe(headers.get('x-request-id'));
  });

  test('has another request id each time', async () => {
    const [one, two] = await Promise.all([app.fetch('/healthz'), app.fetch('/healthz')]);
    expect(one.headers.get('x-request-id')).not.toBe(two.headers.get('x-request-id'));
  });
});

describe('an unknown route', () => {
  test.each([
    ['GET', '/'],
    ['GET', '/v2/models'],
    ['POST', '/v1/chat'],
    ['PUT', '/v1/chat/completions/x'],
    ['GET', '/v1/management'],
    ['GET', '/v1/%E0%A4%A'],
    ['GET', '/v1/management/api-keys/a/b'],
  ])('404: %s %s', async (method, path) => {
    const error = await errorOf(await app.fetch(path, { method }), 404);
    expect(error).toMatchObject({ type: 'invalid_request_error', code: 'not_found', param: null });
  });

  test('404: below /v1/messages in the native envelope', async () => {
    const error = await nativeErrorOf(await app.fetch('/v1/messages/nowhere'), 404);
    expect(error.type).toBe('not_found_error');
  });

  test('404: the message quotes only the start of a very long path', async () => {
    const error = await errorOf(await app.fetch(`/${'x'.repeat(5_000)}`), 404);
    expect(error.message.length).toBeLessThan(300);
  });

  test('HEAD gives the status of GET without a body', async () => {
    for (const path of ['/healthz', '/v1/models', '/v1/models/gpt-4o', '/v1/management/balance']) {
      const authorization = path.includes('management')
        ? `Bearer ${app.credentials.management_token}`
        : `Bearer ${app.credentials.api_key}`;
      const response = await app.fetch(path, { method: 'HEAD', headers: { authorization } });
      expect({ path, status: response.status }).toEqual({ path, status: 200 });
      expect(await response.text()).toBe('');
    }
  });

  test('HEAD of an unknown path gives no body', async () => {
    const response = await app.fetch('/', { method: 'HEAD' });
    expect(response.status).toBe(404);
    expect(await response.text()).toBe('');
  });
});

describe('a known path with another method', () => {
  test.each([
    ['GET', '/v1/chat/completions', 'POST'],
    ['DELETE', '/v1/models', 'GET'],
    ['DELETE', '/v1/models/gpt-4o', 'GET, POST'],
    ['PUT', '/v1/management/api-keys', 'GET, POST'],
    ['PUT', '/v1/management/api-keys/key_1', 'GET, PATCH, DELETE'],
    ['POST', '/healthz', 'GET'],
  ])('405: %s %s allows %s', async (method, path, allow) => {
    const response = await app.fetch(path, { method });
    expect(response.headers.get('allow')).toBe(allow);
    expect((await errorOf(response, 405)).code).toBe('method_not_allowed');
  });

  test('405: GET /v1/messages in the native envelope', async () => {
    const response = await app.fetch('/v1/messages');
    expect((await nativeErrorOf(response, 405)).type).toBe('invalid_request_error');
  });
});

describe('an internal error', () => {
  const call = { model: 'gpt-4o', messages: [{ role: 'user', content: 'hi' }] };

  test('500: the response has no details, and the report has them', async () => {
    const defect = new Error('select secret from vault at /srv/me/x.ts:1');
    app.answer = () => Promise.reject(defect);
    const error = await errorOf(await app.post('/v1/chat/completions', call), 500);
    expect(error).toMatchObject({ type: 'api_error', code: 'internal_error', retryable: true });
    expect(app.reported).toContain(defect);
  });

  test('500: in the native envelope too', async () => {
    app.answer = () => Promise.reject(new TypeError('x is undefined'));
    const response = await app.post(
      '/v1/messages',
      { ...call, model: 'claude-haiku-4-5', max_tokens: 5 },
      { 'anthropic-version': '2023-06-01' },
    );
    expect((await nativeErrorOf(response, 500)).type).toBe('api_error');
  });

  test('500: also if a handler throws something other than an Error', async () => {
    app.answer = () => Promise.reject(undefined);
    await errorOf(await app.post('/v1/chat/completions', call), 500);
  });
});
