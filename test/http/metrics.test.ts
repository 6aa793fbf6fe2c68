import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { startTestApp, type TestApp } from '../support/app.ts';
import { errorOf } from '../support/envelope.ts';

const METRICS_TOKEN = 'metrics-token-of-a-test';
let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ metrics_token: METRICS_TOKEN });
});
afterAll(() => app.stop());

const read = (headers: Record<string, string>, base_url = app.base_url) =>
  fetch(`${base_url}/metrics`, { headers });
const forwarded = { 'x-forwarded-for': '203.0.113.9' };

describe('GET /metrics', () => {
  test('200: needs no token from this machine', async () => {
    const response = await read({});
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toStartWith('text/plain; version=0.0.4');
  });

  test('401: through a proxy without a token; the hint names the tokens', async () => {
    for (const name of ['forwarded', 'via', 'x-forwarded-for', 'x-real-ip']) {
      const error = await errorOf(await read({ [name]: '127.0.0.1' }), 401);
      expect(error).toMatchObject({ type: 'invalid_request_error', code: 'invalid_api_key' });
      expect(error.hint).toContain('metrics token');
    }
  });

  test('200: through a proxy with the operator token or the metrics token', async () => {
    for (const token of [app.credentials.operator_token, METRICS_TOKEN]) {
      const response = await read({ ...forwarded, authorization: `Bearer ${token}` });
      expect(response.status).toBe(200);
    }
  });

  test('401: with any other credential', async () => {
    const { api_key, management_token } = app.credentials;
    const wrong = [api_key, management_token, 'op-unknown', `${METRICS_TOKEN}x`, 'metrics'];
    for (const token of wrong) {
      await errorOf(await read({ ...forwarded, authorization: `Bearer ${token}` }), 401);
    }
    const elsewhere = await read({ ...forwarded, 'x-api-key': METRICS_TOKEN });
    await errorOf(elsewhere, 401);
  });

  test('401: with the metrics token if none is configured, and the token opens no other route', async () => {
    const authorization = `Bearer ${METRICS_TOKEN}`;
    const plain = await startTestApp();
    try {
      await errorOf(await read({ ...forwarded, authorization }, plain.base_url), 401);
      await errorOf(await read({ ...forwarded, authorization: 'Bearer ' }, plain.base_url), 401);
    } finally {
      await plain.stop();
    }
    for (const path of ['/v1/models', '/v1/management/balance', '/v1/operator/channels']) {
      await errorOf(await fetch(app.base_url + path, { headers: { authorization } }), 401);
    }
  });
});
