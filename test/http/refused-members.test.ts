/**
 * All of Weir with an upstream that refuses `stream_options` in Mistral's words
 * (github.com/partITech/php-mistral/issues/76).
 */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type Gateway, startGateway } from '../support/gateway.ts';
import { streamed } from '../upstreams/upstream.ts';

let weir: Gateway;
beforeAll(async () => {
  weir = await startGateway();
  weir.upstream.answer = ({ text }) => {
    const detail = [{ type: 'extra_forbidden', loc: ['body', 'stream_options'] }];
    if ('stream_options' in JSON.parse(text)) return Response.json({ detail }, { status: 422 });
    const chunk = { choices: [{ index: 0, delta: { content: 'Hi' }, finish_reason: 'stop' }] };
    return streamed([`data: ${JSON.stringify(chunk)}\n\n`, 'data: [DONE]\n\n']);
  };
});
afterAll(() => weir.stop());

interface Channels {
  data: { protocol: string; dialect: string | null; models: { refused_members: string[] }[] }[];
}

test('the operator sees the dialect of a channel and what its upstream refused', async () => {
  const channels = async () => {
    const { data } = JSON.parse(await weir.operate('GET', '/channels')) as Channels;
    return data.filter(({ protocol }) => protocol === 'openai');
  };
  expect((await channels()).every(({ dialect }) => dialect === 'openai')).toBe(true);
  const messages = [{ role: 'user', content: 'Hello' }];
  for (const _ of [1, 2]) {
    const body = { model: 'gpt-4o-mini', messages, stream: true };
    const answer = await weir.post('/v1/chat/completions', body);
    expect(answer.status).toBe(200);
    expect(await answer.text()).toContain('"content":"Hi"');
  }
  expect(weir.upstream.asked).toHaveLength(3);
  const members = (await channels()).flatMap(({ models }) => models).map((m) => m.refused_members);
  expect(members.flat()).toEqual(['stream_options']);
});
