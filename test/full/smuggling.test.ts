/**
 * Request smuggling: each attempt hides a second, authorized call inside a request whose length two
 * readers could understand differently. The upstream must never see the hidden call.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { type Gateway, startGateway } from '../support/gateway.ts';
import { sendRaw } from './support/raw-http.ts';
import { SMUGGLED, type Smuggling } from './support/smuggled.ts';

setDefaultTimeout(60_000);

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway();
  // The first call is slow. An attempt waits less for its answer, so the first call is made here.
  await sendRaw(gateway.base_url, [hidden()], 2_000);
});
afterAll(() => gateway.stop());

const MARKER = 'hidden-call';

function call(words: string): { head: string; body: string } {
  const messages = [{ role: 'user', content: words }];
  const body = JSON.stringify({ model: 'gpt-4o-mini', max_tokens: 5, messages });
  const head =
    'POST /v1/chat/completions HTTP/1.1\r\nHost: weir.test\r\n' +
    `Authorization: Bearer ${gateway.api_key}\r\nContent-Type: application/json\r\n`;
  return { head, body };
}

/** Returns a complete call. If Weir reads it as a call, the upstream sees it. */
function hidden(): string {
  const { head, body } = call(MARKER);
  return `${head}Content-Length: ${body.length}\r\n\r\n${body}`;
}

const seen = () => gateway.upstream.asked.filter(({ text }) => text.includes(MARKER)).length;

async function attempt({ write }: Smuggling) {
  const { head, body } = call('outer call');
  const pieces = write({ head, body, hidden: hidden() });
  return sendRaw(gateway.base_url, typeof pieces === 'string' ? [pieces] : pieces);
}

describe('the upstream sees a call that is not hidden', () => {
  test('behind a complete request', async () => {
    const before = seen();
    const { statuses } = await sendRaw(gateway.base_url, [
      `GET /healthz HTTP/1.1\r\nHost: weir.test\r\n\r\n${hidden()}`,
    ]);
    expect(statuses).toEqual([200, 200]);
    expect(seen() - before).toBe(1);
  });

  test('behind a complete call that is refused', async () => {
    const before = seen();
    const { head } = call('outer call');
    const { statuses } = await sendRaw(gateway.base_url, [
      `${head}Content-Length: 1\r\n\r\n{${hidden()}`,
    ]);
    expect(statuses).toEqual([400, 200]);
    expect(seen() - before).toBe(1);
  });
});

test('the list has at least 93 attempts', () => {
  expect(SMUGGLED.length).toBeGreaterThanOrEqual(93);
});

describe('a hidden call does not reach the upstream', () => {
  test.each(SMUGGLED.map((each) => [each.name, each] as const))('%s', async (_, each) => {
    const before = seen();
    const { text, statuses } = await attempt(each);
    expect({ hidden_calls: seen() - before, text }).toEqual({ hidden_calls: 0, text });
    expect(statuses.filter((status) => status === 200).length).toBeLessThanOrEqual(1);
    // The HTTP parser itself answers 505 if the request line is invalid.
    expect(statuses.filter((status) => status >= 500 && status !== 505)).toEqual([]);
    expect(text).not.toMatch(/ at \S+ \(|\.ts:\d/);
    expect((await fetch(`${gateway.base_url}/healthz`)).status).toBe(200);
  });
});

test('no hidden call arrives late, and the gateway reports no error', async () => {
  await Bun.sleep(1_000);
  // These are the first call and the two calls that were not hidden.
  expect(seen()).toBe(3);
  expect(gateway.errors).toEqual([]);
});
