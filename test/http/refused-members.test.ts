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
    const refused = ['stream_options', 'max_completion_tokens'].find(
      (each) => each in JSON.parse(text),
    );
    const detail = [{ type: 'extra_forbidden', loc: ['body', refused] }];
    if (refused) return Response.json({ detail }, { status: 422 });
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

test('the operator sees a member that Weir renamed, and that the upstream refused', async () => {
  // A client of messages names its limit `max_tokens`; Weir sends OpenAI's name for it.
  weir.upstream.asked.length = 0;
  const messages = [{ role: 'user', content: 'Hello' }];
  const ask = () =>
    weir.post('/v1/messages', { model: 'gpt-4o-mini', max_tokens: 9, messages, stream: true });
  for (const _ of [1, 2]) expect(await (await ask()).text()).toContain('Hi');
  const sent = weir.upstream.asked.map(({ text }) => Object.keys(JSON.parse(text)));
  expect(sent.map((names) => names.includes('max_completion_tokens'))).toEqual([
    true,
    false,
    false,
  ]);
  expect(sent.map((names) => names.includes('max_tokens'))).toEqual([false, true, true]);
  const { data } = JSON.parse(await weir.operate('GET', '/channels')) as Channels;
  const members = data.flatMap(({ models }) => models).flatMap((each) => each.refused_members);
  expect(members.toSorted()).toEqual(['max_completion_tokens', 'stream_options']);
});
