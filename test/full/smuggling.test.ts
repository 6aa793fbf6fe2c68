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
  // The first call takes longer, and the attempts wait for no late one.
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

/** A complete call that the upstream would see. */
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
  test('behind a request that is complete', async () => {
    const before = seen();
    const { statuses } = await sendRaw(gateway.base_url, [
      `GET /healthz HTTP/1.1\r\nHost: weir.test\r\n\r\n${hidden()}`,
    ]);
    expect(statuses).toEqual([200, 200]);
    expect(seen() - before).toBe(1);
  });

  test('behind a refused call that is complete', async () => {
    const before = seen();
    const { head } = call('outer call');
    const { statuses } = await sendRaw(gateway.base_url, [
      `${head}Content-Length: 1\r\n\r\n{${hidden()}`,
    ]);
    expect(statuses).toEqual([400, 200]);
    expect(seen() - before).toBe(1);
  });
});

test('at least the 93 attempts that were made', () => {
  expect(SMUGGLED.length).toBeGreaterThanOrEqual(93);
});

describe('a hidden call reaches nobody', () => {
  test.each(SMUGGLED.map((each) => [each.name, each] as const))('%s', async (_, each) => {
    const before = seen();
    const { text, statuses } = await attempt(each);
    expect({ hidden_calls: seen() - before, text }).toEqual({ hidden_calls: 0, text });
    expect(statuses.filter((status) => status === 200).length).toBeLessThanOrEqual(1);
    // 505 is the parser's own word for a request line that is none.
    expect(statuses.filter((status) => status >= 500 && status !== 505)).toEqual([]);
    expect(text).not.toMatch(/ at \S+ \(|\.ts:\d/);
    expect((await fetch(`${gateway.base_url}/healthz`)).status).toBe(200);
  });
});

test('none came late, and nothing was an error of the gateway', async () => {
  await Bun.sleep(1_000);
  // The first call and the two that were not hidden.
  expect(seen()).toBe(3);
  expect(gateway.errors).toEqual([]);
});
