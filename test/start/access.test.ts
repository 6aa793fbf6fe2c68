/** The settings of access reach the routes, and an upstream's surplus bytes reach the log. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { newCredential } from '../../db/secrets.ts';
import { errorOf } from '../support/envelope.ts';
import { type Gateway, startGateway } from '../support/gateway.ts';
import { until } from '../support/until.ts';
import { post } from '../upstreams/transport/http1/post.ts';
import { answerOf, startTcpUpstream } from '../upstreams/transport/tcp-upstream.ts';

const METRICS_TOKEN = 'metrics-token-of-a-test';
let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway({
    log_level: 'warn',
    env: {
      WEIR_WRONG_KEYS_PER_MINUTE: '2',
      WEIR_TRUSTED_PROXIES: '127.0.0.0/8,::1',
      WEIR_METRICS_TOKEN: METRICS_TOKEN,
    },
  });
});
afterAll(() => gateway.stop());

const send = (path: string, credential: string, client: string) =>
  fetch(gateway.base_url + path, {
    headers: { authorization: `Bearer ${credential}`, 'x-forwarded-for': client },
  });

test('wrong keys are limited for each client behind a trusted proxy, and counted', async () => {
  const statuses: number[] = [];
  for (let count = 0; count < 4; count += 1) {
    const response = await send('/v1/models', newCredential('sk'), '198.51.100.1');
    statuses.push(response.status);
  }
  expect(statuses).toEqual([401, 401, 429, 429]);
  expect((await send('/v1/models', gateway.api_key, '198.51.100.2')).status).toBe(200);
  expect((await send('/v1/models', gateway.api_key, '198.51.100.1')).status).toBe(200);
  await errorOf(await send('/metrics', 'metrics', '198.51.100.3'), 401);
  const metrics = await send('/metrics', METRICS_TOKEN, '198.51.100.3');
  expect(await metrics.text()).toContain('\nweir_wrong_keys_refused_total 2\n');
});

test('an upstream that sends surplus bytes is logged by its host, without the bytes', async () => {
  const upstream = startTcpUpstream();
  upstream.respond = ({ socket }) => socket.write(`${answerOf('ok')}surplus`);
  const headers = { authorization: 'Bearer secret-of-a-channel' };
  for (let call = 0; call < 3; call += 1) {
    await (await post(upstream.url, headers, '{}').response).text();
  }
  await until('it is logged', () => gateway.errors.length > 0);
  upstream.stop();
  const [line = ''] = gateway.errors;
  expect(gateway.errors).toHaveLength(1);
  expect(JSON.parse(line)).toMatchObject({ level: 40, host: new URL(upstream.url).host });
  expect(line).not.toMatch(/secret-of|surplus/);
});
