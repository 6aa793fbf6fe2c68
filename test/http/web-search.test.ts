/** Web searches that the provider runs are bounded, reserved, and charged by the report. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { type Gateway, startGateway } from '../support/gateway.ts';
import { until } from '../support/until.ts';

setDefaultTimeout(60_000);

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

/** A cent for each search (OpenAI and Anthropic: 10 USD for 1,000 searches). */
const NANO_PER_SEARCH = 10_000_000;

async function chargeOf(response: Response): Promise<number> {
  const id = (response.headers.get('x-request-id') ?? '').replace('req_', '').replaceAll('-', '');
  let charged = 0;
  await until('the call is charged', async () => {
    const [row] = await gateway.database.sql<{ charged: number }[]>`
      select charged_nano_usd as charged from usage_line
      where replace(request_id::text, '-', '') = ${id}`;
    charged = row?.charged ?? 0;
    return row !== undefined;
  });
  return charged;
}

const message = (more: object) => ({
  ...{ id: 'msg_x', type: 'message', role: 'assistant', model: 'm', stop_reason: 'end_turn' },
  content: [
    { type: 'server_tool_use', id: 's1', name: 'web_search', input: { query: 'weather' } },
    { type: 'server_tool_use', id: 's2', name: 'web_search', input: { query: 'rain' } },
    { type: 'text', text: 'It rains.' },
  ],
  ...more,
});
const body = (more: object = {}) => ({
  ...{ model: 'claude-haiku-4-5', max_tokens: 100 },
  messages: [{ role: 'user', content: 'Does it rain?' }],
  tools: [{ type: 'web_search_20250305', name: 'web_search', ...more }],
});

describe('a message with web search', () => {
  test('is charged by the reported searches', async () => {
    const usage = { input_tokens: 100, output_tokens: 10 };
    const reported = { ...usage, server_tool_use: { web_search_requests: 3 } };
    gateway.upstream.answer = () => Response.json(message({ usage: reported }));
    const response = await gateway.post('/v1/messages', body({ max_uses: 5 }));
    expect(response.status).toBe(200);
    expect(await chargeOf(response)).toBe(3 * NANO_PER_SEARCH + 100 * 1_000 + 10 * 5_000);
  });

  test('has a bound, also if the client sends none', async () => {
    gateway.upstream.answer = () => Response.json(message({ usage: {} }));
    await gateway.post('/v1/messages', body());
    const sent = JSON.parse(gateway.upstream.asked.at(-1)?.text ?? '{}');
    expect(sent.tools).toEqual([{ type: 'web_search_20250305', name: 'web_search', max_uses: 10 }]);
  });

  test('is charged by the searches in the answer if none are reported', async () => {
    gateway.upstream.answer = () => Response.json(message({}));
    const response = await gateway.post('/v1/messages', body());
    expect(await chargeOf(response)).toBeGreaterThan(2 * NANO_PER_SEARCH);
    expect(await chargeOf(response)).toBeLessThan(3 * NANO_PER_SEARCH);
  });
});

test.each([
  ['/v1/chat/completions', { service_tier: 'priority' }, 'service_tier'],
  ['/v1/chat/completions', { web_search_options: {} }, 'web_search_options'],
  ['/v1/messages', { speed: 'fast' }, 'speed'],
  ['/v1/messages', { tools: [{ type: 'code_execution_20250825' }] }, 'tools.0.type'],
])('%s refuses %j by name, and asks no upstream', async (path, more, param) => {
  const before = gateway.upstream.asked.length;
  const response = await gateway.post(path, { ...body(), tools: undefined, ...more });
  const answer = await response.text();
  expect({ status: response.status, answer }).toMatchObject({ status: 400 });
  expect(answer).toContain(param);
  expect(gateway.upstream.asked.length).toBe(before);
});
