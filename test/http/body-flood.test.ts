/** A real Weir with a small budget of bodies: one key floods it, another key is served. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { until } from '../support/until.ts';
import { answerOf } from '../support/upstream-answers.ts';
import { type RunningWeir, startWeir } from '../support/weir.ts';
import { startUpstream } from '../upstreams/upstream.ts';

setDefaultTimeout(120_000);

const MB = 1024 * 1024;
const upstream = startUpstream();
/** Resolves when the upstream answers the large calls. */
let large_calls = Promise.withResolvers<void>();
let large_answer: (asked: Parameters<typeof upstream.answer>[0]) => Response | Promise<Response>;
let weir: RunningWeir;
let second_key: string;

beforeAll(async () => {
  upstream.answer = async (asked) => {
    if (asked.text.length < MB / 2) return answerOf(asked);
    await large_calls.promise;
    return large_answer(asked);
  };
  const channel = {
    ...{ id: 'main', protocol: 'openai', base_url: upstream.url, api_key: 'none' },
    ...{ models: { 'gpt-4o-mini': 'gpt-4o-mini' }, timeout_ms: 100_000 },
  };
  weir = await startWeir({
    ...{ shared_database: true, env: { WEIR_BODY_MEMORY_MB: '8' } },
    config: JSON.stringify({ channels: [channel], roles: { standard: 1_000_000 } }),
  });
  const created = await fetch(`${weir.base_url}/v1/management/api-keys`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${weir.management_token}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ name: 'second' }),
  });
  second_key = ((await created.json()) as { key: string }).key;
});
afterAll(async () => {
  large_calls.resolve();
  await weir?.stop();
  await upstream.stop();
});

function chat(key: string, chars: number, more: object = {}): Promise<Response> {
  return fetch(`${weir.base_url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'gpt-4o-mini',
      messages: [{ role: 'user', content: 'x'.repeat(chars) }],
      ...more,
    }),
  });
}

async function bytesInFlight(): Promise<number> {
  const text = await (await fetch(`${weir.base_url}/metrics`)).text();
  return Number(/^weir_body_bytes (\d+)$/m.exec(text)?.[1]);
}

test.each([
  ['whole answers', {}, answerOf],
  ['streams', { stream: true }, answerOf],
  ['failures', {}, () => new Response('down', { status: 500 })],
])('P20: a key that floods is refused, and another key is served: %s', async (_, more, answer) => {
  large_calls = Promise.withResolvers();
  large_answer = answer;
  const flood = Array.from({ length: 12 }, () => chat(weir.api_key, MB, more));
  // Half of the budget has room for three bodies that are a little larger than 1 MB.
  await until('the share of the key is used', async () => (await bytesInFlight()) > 3 * MB);
  let refused = 0;
  for (const call of flood) {
    call.then(({ status }) => {
      if (status === 503) refused += 1;
    });
  }
  await until('all other calls are refused', () => refused === 9);
  expect((await chat(second_key, 10)).status).toBe(200);
  expect((await chat(weir.api_key, 10)).status).toBe(200);
  const late = await chat(weir.api_key, MB);
  expect(late.status).toBe(503);
  expect(late.headers.get('retry-after')).toBe('5');
  expect(await late.json()).toMatchObject({
    error: {
      code: 'service_unavailable',
      retryable: true,
      retry_after: 5,
      hint: 'Wait until other requests of this key have ended, or send smaller bodies.',
    },
  });
  large_calls.resolve();
  for (const call of flood) await (await call).text();
  await until('all bytes are given back', async () => (await bytesInFlight()) === 0);
});

// A flood must not fill the log. So the log has one line for each, without a stack.
test('a refusal for lack of room is logged as a warning', () => {
  const lines = weir.output().match(/^\{.*"code":"service_unavailable".*$/gm) ?? [];
  expect(lines.length).toBeGreaterThan(9);
  for (const line of lines) {
    expect(JSON.parse(line)).toMatchObject({ level: 40 });
    expect(JSON.parse(line)).not.toHaveProperty('error');
  }
});

test('P20: an answer without room is refused, and its bytes are given back', async () => {
  large_calls = Promise.withResolvers();
  large_calls.resolve();
  large_answer = () => Response.json({ choices: [], padding: 'x'.repeat(3 * MB) });
  const response = await chat(weir.api_key, 1.5 * MB);
  expect(response.status).toBe(503);
  expect(await response.json()).toMatchObject({ error: { code: 'service_unavailable' } });
  await until('all bytes are given back', async () => (await bytesInFlight()) === 0);
});
