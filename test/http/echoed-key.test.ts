/** An upstream that quotes the channel's key: neither log, operator nor client see it. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { type Gateway, startGateway } from '../support/gateway.ts';
import type { Asked } from '../upstreams/upstream.ts';

setDefaultTimeout(120_000);

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway({ log_level: 'debug' });
});
afterAll(() => gateway.stop());

const SECRETS = ['openai', 'anthropic'].flatMap((name) => {
  const secret = `canary-secret-${name}`;
  return [secret, Buffer.from(secret).toString('base64').slice(0, 16)];
});

function echo(asked: Asked, status: number): Response {
  const credentials = ['authorization', 'x-api-key'].flatMap(
    (name) => asked.headers.get(name) ?? [],
  );
  const said = credentials.flatMap((each) => [
    each,
    Buffer.from(each.slice(-20)).toString('base64'),
  ]);
  const error = { message: `not ${said.join(' ')}`, type: said[0], code: said[0], param: said[0] };
  const text = JSON.stringify({ type: 'error', error });
  if (status !== 200) return new Response(text, { status, headers: { 'x-said': String(said) } });
  const headers = { 'content-type': 'text/event-stream' };
  return new Response(`event: error\ndata: ${text}\n\n`, { headers });
}

const CALLS = [
  { path: '/v1/chat/completions', model: 'gpt-4o-mini' },
  { path: '/v1/messages', model: 'gpt-4o', max_tokens: 9 },
  { path: '/v1/messages', model: 'claude-haiku-4-5', max_tokens: 9 },
  { path: '/v1/chat/completions', model: 'claude-haiku-4-5' },
];

test('an echoed key is in no answer, in no log line and in no view of the operator', async () => {
  const shown: string[] = [];
  for (const status of [500, 200, 429, 400, 404, 403, 401]) {
    gateway.upstream.answer = (asked) => echo(asked, status);
    for (const { path, ...call } of CALLS) {
      for (const stream of [false, true]) {
        const messages = [{ role: 'user', content: 'Hello' }];
        const response = await gateway.post(path, { ...call, stream, messages });
        shown.push(JSON.stringify([...response.headers]), await response.text());
      }
    }
    for (const id of ['canary-channel-openai', 'canary-channel-anthropic']) {
      shown.push(await gateway.operate('POST', `/channels/${id}/enable`));
      shown.push(await gateway.operate('POST', `/channels/${id}/test`));
      shown.push(await gateway.operate('GET', `/channels/${id}`));
    }
  }
  const views = shown.filter((text) => text.includes('last_failure'));
  expect(views.filter((text) => text.includes('***')).length).toBeGreaterThan(5);
  expect(gateway.errors.filter((line) => line.includes('***')).length).toBeGreaterThan(5);
  for (const text of [...shown, ...gateway.errors]) {
    for (const secret of SECRETS) {
      expect([text, text.includes(secret)]).toEqual([text, false]);
    }
  }
});
