/**
 * P5: an upstream may refuse with any status, standard or not. The client gets one of Weir's
 * errors. The error contains nothing of the upstream.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { findMoneyFaults } from '../support/money-faults.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';
import { refusal, UPSTREAM_HEADERS } from '../support/upstream-answers.ts';
import { type RunningWeir, startWeir } from '../support/weir.ts';
import { startUpstream, type Upstream } from '../upstreams/upstream.ts';

setDefaultTimeout(120_000);

const CHANNELS = {
  openai: { model: 'gpt-4o-mini', physical: 'canary-model-openai' },
  anthropic: { model: 'claude-haiku-4-5', physical: 'canary-model-anthropic' },
  gemini: { model: 'gemini-2.5-flash', physical: 'canary-model-gemini' },
} as const;
type Protocol = keyof typeof CHANNELS;

let upstream: Upstream;
let database: TestDatabase;
let weir: RunningWeir;
beforeAll(async () => {
  upstream = startUpstream();
  database = await createTestDatabase();
  const channels = Object.entries(CHANNELS).map(([protocol, { model, physical }]) => ({
    ...{ id: `canary-channel-${protocol}`, protocol, base_url: `${upstream.url}/canary-path` },
    ...{ api_key: `canary-secret-${protocol}`, models: { [model]: physical } },
  }));
  weir = await startWeir({
    config: JSON.stringify({ channels, roles: { standard: 1_000_000 } }),
    env: { DATABASE_URL: database.url },
  });
});
afterAll(async () => {
  await weir.stop();
  await upstream.stop();
  await database.drop();
});

/** Registered statuses, and statuses that providers and proxies invented. */
const STATUSES = [
  ...[300, 301, 302, 303, 304, 305, 307, 308],
  ...[400, 401, 402, 403, 404, 405, 406, 407, 408, 409, 410, 411, 412, 413, 414, 415, 416, 417],
  ...[418, 421, 422, 423, 424, 425, 426, 428, 429, 431, 444, 450, 451, 456, 460, 495, 498, 499],
  ...[500, 501, 502, 503, 504, 505, 506, 507, 508, 510, 511, 520, 521, 522, 524, 525, 526, 529],
  ...[530, 555, 598, 599],
];

const turn = { messages: [{ role: 'user', content: 'hello' }] };
const ASKS: [what: string, path: string, body: (protocol: Protocol) => object][] = [
  ['chat', '/v1/chat/completions', (p) => ({ model: CHANNELS[p].model, ...turn })],
  [
    'a chat stream',
    '/v1/chat/completions',
    (p) => ({ model: CHANNELS[p].model, stream: true, ...turn }),
  ],
  ['messages', '/v1/messages', (p) => ({ model: CHANNELS[p].model, max_tokens: 9, ...turn })],
  ['responses', '/v1/responses', (p) => ({ model: CHANNELS[p].model, input: 'hello' })],
];

/**
 * Makes a channel healthy again. Each refusal counts against the channel, and an unhealthy channel
 * would get no further calls.
 */
async function mend(protocol: Protocol): Promise<void> {
  const path = `/v1/operator/channels/canary-channel-${protocol}/enable`;
  const headers = { authorization: `Bearer ${weir.operator_token}` };
  const { status } = await fetch(weir.base_url + path, { method: 'POST', headers });
  expect(status).toBe(200);
}

test('the list has at least 51 statuses', () => {
  expect(new Set(STATUSES).size).toBeGreaterThanOrEqual(51);
});

describe.each(Object.keys(CHANNELS) as Protocol[])('an upstream (protocol %s)', (protocol) => {
  const secrets = {
    physical: CHANNELS[protocol].physical,
    secret: `canary-secret-${protocol}`,
  };

  test.each(STATUSES)('the answer to status %d shows nothing of the upstream', async (status) => {
    const location = { location: 'https://canary-host.internal/elsewhere' };
    upstream.answer = () =>
      status === 304
        ? new Response(null, { status, headers: location })
        : refusal(secrets, status, {}, status < 400 ? location : {});
    for (const [what, path, body] of ASKS) {
      await mend(protocol);
      const response = await fetch(weir.base_url + path, {
        method: 'POST',
        headers: {
          ...{ authorization: `Bearer ${weir.api_key}`, 'content-type': 'application/json' },
          'anthropic-version': '2023-06-01',
        },
        body: JSON.stringify(body(protocol)),
        redirect: 'manual',
      });
      const text = await response.text();
      const headers = JSON.stringify([...response.headers]);
      const seen = { what, status: response.status, leak: /canary/i.test(headers + text), text };
      expect(seen).toEqual({ ...seen, leak: false });
      for (const name of UPSTREAM_HEADERS) expect(response.headers.get(name)).toBeNull();
      expect(response.headers.get('x-request-id')).toMatch(/^req_[0-9a-f]{32}$/);
      // A refusal of the client's request stays a client error. Every other status becomes one of
      // Weir's own upstream errors.
      expect([400, 413, 415, 429, 502, 503, 504]).toContain(response.status);
      const { error } = JSON.parse(text) as { error: { message: string; type: string } };
      expect(error.message).toBeString();
      expect(error.type).toBeString();
      if (status >= 500 || status < 400) expect(response.status).toBeGreaterThanOrEqual(429);
    }
  });
});

test('P12: a call that the upstream refused is not charged', async () => {
  const { sql } = database;
  const [row] = await sql<{ lines: number }[]>`select count(*)::int4 as lines from usage_line`;
  expect(row?.lines).toBe(0);
  expect(await findMoneyFaults(sql)).toEqual([]);
});
