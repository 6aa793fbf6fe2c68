/**
 * The token of Kling is a JWT with the claims of vercel/ai (packages/klingai/src/klingai-auth.test.ts) and of
 * kling-api@1.0.0 (dist/auth.js). The package jose verifies it. A key without a secret is itself the token.
 */
import { afterAll, expect, test } from 'bun:test';
import { jwtVerify } from 'jose';
import { klingProtocol } from '../../../src/upstreams/generation/kling.ts';

let authorization = '';
const server = Bun.serve({
  ...{ port: 0, hostname: '127.0.0.1' },
  fetch(request) {
    authorization = request.headers.get('authorization') ?? '';
    return Response.json({ code: 0, data: { task_id: '1', task_status: 'submitted' } });
  },
});
afterAll(() => server.stop(true));

async function tokenFor(api_key: string): Promise<string> {
  const base_url = server.url.origin;
  const target = { ...{ channel_id: 'test', base_url, api_key, timeout_ms: 10_000 } };
  const call = { target, physical_model: 'kling-v3', signal: new AbortController().signal };
  await klingProtocol.poll?.(call, { id: '1', path: '/v1/videos/text2video' });
  expect(authorization).toStartWith('Bearer ');
  return authorization.slice('Bearer '.length);
}

test('a pair of keys gives a signed token for half an hour', async () => {
  const secret = new TextEncoder().encode('the-secret-key');
  const token = await tokenFor('access-key:the-secret-key');
  const { payload, protectedHeader } = await jwtVerify(token, secret, { algorithms: ['HS256'] });
  expect(protectedHeader).toEqual({ alg: 'HS256', typ: 'JWT' });
  const { iss, exp = 0, nbf = 0, ...rest } = payload;
  expect({ iss, rest }).toEqual({ iss: 'access-key', rest: {} });
  const now = Date.now() / 1_000;
  expect(Math.abs(exp - now - 1_800)).toBeLessThan(5);
  expect(Math.abs(nbf - (now - 5))).toBeLessThan(5);
  const wrong = new TextEncoder().encode('another-key');
  expect(await jwtVerify(token, wrong).catch(({ code }) => code)).toBe(
    'ERR_JWS_SIGNATURE_VERIFICATION_FAILED',
  );
});

test('a single key is the token', async () => {
  expect(await tokenFor('api-key')).toBe('api-key');
});
