/** What impossible usage of an upstream does to the charge, to the client and to the operator. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { type Gateway, startGateway } from '../support/gateway.ts';
import { until } from '../support/until.ts';
import { answerOf } from '../support/upstream-answers.ts';

setDefaultTimeout(60_000);

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway();
  gateway.upstream.answer = async (asked) => {
    const answer = answerOf(asked);
    const text = (await answer.text()).replace(/"(\w*tokens)":\d+/g, '"$1":-5000000');
    return new Response(text, { headers: answer.headers });
  };
});
afterAll(() => gateway.stop());

interface Line {
  charged_nano_usd: number;
  estimated: boolean;
  input_tokens: number;
  output_tokens: number;
}

async function lineOf(response: Response): Promise<Line> {
  const id = (response.headers.get('x-request-id') ?? '').replace('req_', '');
  let line: Line | undefined;
  await until('the call is charged', async () => {
    const rows = await gateway.database.sql<Line[]>`
      select charged_nano_usd, estimated, input_tokens, output_tokens from usage_line
      where replace(request_id::text, '-', '') = ${id.replaceAll('-', '')}`;
    line = rows[0];
    return line !== undefined;
  });
  return line as Line;
}

const messages = [{ role: 'user', content: 'How much is this?' }];
const CALLS: [path: string, body: { model: string; [member: string]: unknown }][] = [
  ['/v1/chat/completions', { model: 'gpt-4o-mini', messages }],
  ['/v1/messages', { model: 'claude-haiku-4-5', max_tokens: 100, messages }],
  ['/v1/chat/completions', { model: 'claude-haiku-4-5', messages }],
  ['/v1/messages', { model: 'gpt-4o-mini', max_tokens: 100, messages }],
  ['/v1/responses', { model: 'gpt-4o-mini', input: 'How much is this?' }],
];

describe.each(CALLS)('P12: %s with impossible usage', (path, body) => {
  test.each([false, true])('stream: %p', async (stream) => {
    const options = path.includes('chat') ? { stream_options: { include_usage: true } } : {};
    const response = await gateway.post(path, { ...body, stream, ...(stream ? options : {}) });
    const text = await response.text();
    expect({ status: response.status, text }).toMatchObject({ status: 200 });
    expect(text).not.toContain('5000000');
    const line = await lineOf(response);
    expect(line).toMatchObject({ estimated: true });
    expect(line.charged_nano_usd).toBeGreaterThan(0);
    expect(line.input_tokens).toBeGreaterThan(5);
    expect(text).toMatch(new RegExp(`_tokens":${line.input_tokens}\\b`));
    expect(text).toMatch(new RegExp(`_tokens":${line.output_tokens}\\b`));
  });
});
