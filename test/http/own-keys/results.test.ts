/** The results that an own account names: they are fetched from public addresses only (SSRF). */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { allowGuardedHosts } from '../../../src/upstreams/transport/http1/guarded-connection.ts';
import { type Gateway, startGateway } from '../../support/gateway.ts';
import { until } from '../../support/until.ts';
import { startUpstream, type Upstream } from '../../upstreams/upstream.ts';

setDefaultTimeout(120_000);

/** The smallest PNG file. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

let gateway: Gateway;
let own: Upstream;
beforeAll(async () => {
  gateway = await startGateway();
  own = startUpstream();
  allowGuardedHosts(new Set([new URL(own.url).host]));
  own.answer = () => Response.json({ data: [{ id: 'gpt-image-2' }] });
  await gateway.manage('POST', '/upstream-keys', {
    ...{ protocol: 'openai-images', base_url: own.url, api_key: 'canary-secret-images' },
    models: { 'gpt-image-2': 'gpt-image-2' },
  });
});
afterAll(async () => {
  await gateway.stop();
  await own.stop();
  allowGuardedHosts(new Set());
});

/** Makes an image whose result is at `url`, and returns the status of its task. */
async function statusOf(url: string): Promise<string> {
  own.answer = ({ path }) =>
    path.endsWith('.png')
      ? new Response(PNG, { headers: { 'content-type': 'image/png' } })
      : Response.json({ created: 1, data: [{ url }] });
  const body = { model: 'gpt-image-2', prompt: 'a fox', async: true };
  const created = await gateway.post('/v1/images/generations', body);
  const text = await created.text();
  expect([created.status, text]).toEqual([200, expect.any(String)]);
  const [, id] = /(weir_[0-9a-f]{32})/.exec(text) ?? [];
  return until('the task has ended', async () => {
    const task = await gateway.manage<{ status: string }>('GET', `/tasks/${id}`);
    return ['completed', 'failed'].includes(task.status) && task.status;
  });
}

test('a result at the account’s own host is stored, if the operator allowed the host', async () => {
  expect(await statusOf(`${own.url}/film.png`)).toBe('completed');
});

test('a result on the host of a channel of the operator is not fetched', async () => {
  gateway.upstream.asked.length = 0;
  gateway.upstream.answer = () => new Response(PNG, { headers: { 'content-type': 'image/png' } });
  expect(await statusOf(`${gateway.upstream.url}/inside.png`)).toBe('failed');
  expect(gateway.upstream.asked).toEqual([]);
});
