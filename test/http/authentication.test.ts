import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { hashCredential, newCredential, newId, shownPrefix } from '../../db/secrets.ts';
import { KEY_TTL_MS } from '../../src/inference/keys/key-cache.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { errorOf, nativeErrorOf } from '../support/envelope.ts';
import { freePort } from '../support/ports.ts';

let app: TestApp;
let skipped_ms = 0;
beforeAll(async () => {
  app = await startTestApp({ now: () => Date.now() + skipped_ms });
});
afterAll(() => app.stop());

interface NewKey {
  status?: string;
  expires_at?: Date;
}

/** Inserts a key of the first organization straight into the database. */
async function addKey(key: NewKey = {}): Promise<{ id: string; secret: string }> {
  const [id, secret] = [newId('key'), newCredential('sk')];
  await app.database.sql`insert into api_key ${app.database.sql({
    id,
    organization_id: app.organization_id,
    name: 'test',
    key_hash: hashCredential(secret),
    key_prefix: shownPrefix(secret),
    status: key.status ?? 'active',
    expires_at: key.expires_at ?? null,
  })}`;
  return { id, secret };
}

const listModels = (authorization: string) =>
  fetch(`${app.base_url}/v1/models`, { headers: { authorization } });

describe('an inference route', () => {
  test('200: accepts the key as a Bearer token; the scheme is case-insensitive', async () => {
    const { api_key } = app.credentials;
    for (const scheme of ['Bearer', 'bearer', 'BEARER']) {
      expect((await listModels(`${scheme} ${api_key}`)).status).toBe(200);
    }
  });

  test('401: without a key; the hint names the header to send', async () => {
    const error = await errorOf(await fetch(`${app.base_url}/v1/models`), 401);
    expect(error).toMatchObject({ type: 'invalid_request_error', code: 'invalid_api_key' });
    expect(error.hint).toContain('Bearer sk-');
  });

  test.each([
    ['an unknown key', `Bearer sk-${'x'.repeat(43)}`],
    ['a key of another kind', 'Bearer pk-something'],
    ['an empty key', 'Bearer '],
    ['another scheme', 'Basic c2stOng='],
    ['a very long key', `Bearer sk-${'x'.repeat(8_000)}`],
  ])('401: with %s', async (_what, authorization) => {
    const error = await errorOf(await listModels(authorization), 401);
    expect(error.code).toBe('invalid_api_key');
  });

  test.each(['management_token', 'operator_token'] as const)('401: with a %s', async (token) => {
    const error = await errorOf(await listModels(`Bearer ${app.credentials[token]}`), 401);
    expect(error.code).toBe('invalid_api_key');
    expect(error.hint).toContain('sk-');
  });

  test('401: a wrong key is refused before the request is validated', async () => {
    const response = await app.post('/v1/chat/completions', 'nonsense', {
      authorization: 'Bearer sk-unknown',
    });
    await errorOf(response, 401);
  });

  test('401: a revoked key is expired_api_key', async () => {
    const { secret } = await addKey({ status: 'revoked' });
    expect((await errorOf(await listModels(`Bearer ${secret}`), 401)).code).toBe('expired_api_key');
  });

  test.each(['inactive', 'suspended'])(
    '403: an %s key; the hint says what to do',
    async (status) => {
      const { secret } = await addKey({ status });
      const error = await errorOf(await listModels(`Bearer ${secret}`), 403);
      expect(error).toMatchObject({ type: 'access_denied', code: 'access_denied' });
      expect(error.message).toContain(status);
      expect(error.hint).toContain('active');
    },
  );

  test('401: a key is refused after its expiry time, although its row did not change', async () => {
    const { secret } = await addKey({ expires_at: new Date(Date.now() + 10_000) });
    expect((await listModels(`Bearer ${secret}`)).status).toBe(200);
    skipped_ms = 10_000;
    const error = await errorOf(await listModels(`Bearer ${secret}`), 401);
    skipped_ms = 0;
    expect(error).toMatchObject({ code: 'expired_api_key' });
    expect(error.message).toContain('expired');
  });
});

describe('x-api-key', () => {
  const body = {
    model: 'claude-haiku-4-5',
    max_tokens: 5,
    messages: [{ role: 'user', content: 'x' }],
  };
  const send = (path: string, headers: Record<string, string>) =>
    fetch(app.base_url + path, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'anthropic-version': '2023-06-01',
        ...headers,
      },
      body: JSON.stringify(body),
    });

  test('200: is accepted on the native route', async () => {
    const { api_key } = app.credentials;
    expect((await send('/v1/messages', { 'x-api-key': api_key })).status).toBe(200);
  });

  test('401: a wrong key is refused in the native envelope', async () => {
    const error = await nativeErrorOf(await send('/v1/messages', { 'x-api-key': 'sk-no' }), 401);
    expect(error.type).toBe('authentication_error');
  });

  test('401: is not accepted on OpenAI-style routes', async () => {
    const { api_key } = app.credentials;
    await errorOf(await send('/v1/chat/completions', { 'x-api-key': api_key }), 401);
  });

  test('401: is not accepted for management', async () => {
    const response = await fetch(`${app.base_url}/v1/management/balance`, {
      headers: { 'x-api-key': app.credentials.management_token },
    });
    await errorOf(response, 401);
  });
});

describe('a management route', () => {
  const balance = (authorization: string) =>
    fetch(`${app.base_url}/v1/management/balance`, { headers: { authorization } });

  test('200: accepts a management token', async () => {
    expect((await balance(`Bearer ${app.credentials.management_token}`)).status).toBe(200);
  });

  test.each(['api_key', 'operator_token'] as const)('401: with an %s', async (credential) => {
    const error = await errorOf(await balance(`Bearer ${app.credentials[credential]}`), 401);
    expect(error.code).toBe('invalid_api_key');
    expect(error.hint).toContain('mt-');
  });

  test('401: without a token', async () => {
    await errorOf(await fetch(`${app.base_url}/v1/management/api-keys`), 401);
  });

  test('401: a revoked token', async () => {
    const secret = newCredential('mt');
    const { sql } = app.database;
    await sql`insert into access_token ${sql({
      id: newId('token'),
      kind: 'management',
      organization_id: app.organization_id,
      token_hash: hashCredential(secret),
      token_prefix: shownPrefix(secret),
    })}`;
    expect((await balance(`Bearer ${secret}`)).status).toBe(200);
    await sql`update access_token set revoked_at = now() where token_hash = ${hashCredential(secret)}`;
    await errorOf(await balance(`Bearer ${secret}`), 401);
  });
});

describe('the key cache', () => {
  test('a change through the management routes applies from its response on', async () => {
    const { id, secret } = await addKey();
    expect((await listModels(`Bearer ${secret}`)).status).toBe(200);
    await app.manage('PATCH', `/api-keys/${id}`, { status: 'suspended' });
    await errorOf(await listModels(`Bearer ${secret}`), 403);
    await app.manage('PATCH', `/api-keys/${id}`, { status: 'active' });
    expect((await listModels(`Bearer ${secret}`)).status).toBe(200);
  });

  test('a change whose message was lost applies after the time to live', async () => {
    const { id, secret } = await addKey();
    expect((await listModels(`Bearer ${secret}`)).status).toBe(200);
    await app.database.sql`update api_key set status = 'suspended' where id = ${id}`;
    expect((await listModels(`Bearer ${secret}`)).status).toBe(200);
    skipped_ms = KEY_TTL_MS + 1;
    await errorOf(await listModels(`Bearer ${secret}`), 403);
    skipped_ms = 0;
  });

  test('a key that was used before its creation is found soon after it', async () => {
    const secret = newCredential('sk');
    await errorOf(await listModels(`Bearer ${secret}`), 401);
    const { id } = await addKey();
    await app.database
      .sql`update api_key set key_hash = ${hashCredential(secret)} where id = ${id}`;
    skipped_ms = 2_001;
    expect((await listModels(`Bearer ${secret}`)).status).toBe(200);
    skipped_ms = 0;
  });
});

describe('without its database', () => {
  test('503: with the time to wait before the next request', async () => {
    const nowhere = `postgres://weir@127.0.0.1:${await freePort()}/weir`;
    const lost = await startTestApp({ requests_go_to: nowhere });
    try {
      const error = await errorOf(await lost.fetch('/v1/models'), 503);
      expect(error).toMatchObject({ code: 'service_unavailable', retryable: true });
      expect(error.retry_after).toBeGreaterThan(0);
      await errorOf(await lost.manage('GET', '/balance'), 503);
      await errorOf(await lost.manage('POST', '/api-keys', {}), 503);
      expect(lost.reported).toHaveLength(3);
    } finally {
      await lost.stop();
    }
  });
});
