/** A model on a Bedrock channel and on an Anthropic channel: each call goes where it can be served. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type RunningWeir, startWeir } from '../support/weir.ts';
import { startUpstream } from '../upstreams/upstream.ts';

const upstream = startUpstream();
upstream.answer = () =>
  Response.json({
    ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'c', stop_reason: 'end_turn' },
    ...{ content: [{ type: 'text', text: 'Hi' }], usage: { input_tokens: 3, output_tokens: 1 } },
  });
let weir: RunningWeir;
beforeAll(async () => {
  const channel = (id: string, protocol: string, models: object, priority: number) => ({
    ...{ id, protocol, base_url: upstream.url, api_key: 'key', models, priority },
  });
  const opus = { 'claude-opus-4-8': 'us.anthropic.claude-opus-4-8' };
  const haiku = { 'claude-haiku-4-5': 'anthropic.claude-haiku-4-5' };
  const channels = [
    channel('aws', 'bedrock', { ...opus, ...haiku }, 0),
    channel('direct', 'anthropic', opus, 1),
  ];
  weir = await startWeir({ shared_database: true, config: JSON.stringify({ channels }) });
});
afterAll(async () => {
  await weir.stop();
  await upstream.stop();
});

const source = { type: 'url', url: 'https://pictures.example.com/cat.png' };
const IMAGE = { messages: [{ role: 'user', content: [{ type: 'image', source }] }] };
const SCHEMA = {
  messages: [{ role: 'user', content: 'Hi' }],
  output_config: { format: { type: 'json_schema', schema: { type: 'object' } } },
};

async function send(model: string, body: object): Promise<{ status: number; text: string }> {
  upstream.asked.length = 0;
  const headers = {
    'x-api-key': weir.api_key,
    'content-type': 'application/json',
    'anthropic-version': '2023-06-01',
  };
  const text = JSON.stringify({ model, max_tokens: 10, ...body });
  const init = { method: 'POST', headers, body: text };
  const answer = await fetch(`${weir.base_url}/v1/messages`, init);
  return { status: answer.status, text: await answer.text() };
}

const paths = () => upstream.asked.map(({ path }) => path);

test('a plain call goes to Bedrock, which has the lower priority number', async () => {
  const { status } = await send('claude-opus-4-8', { messages: SCHEMA.messages });
  expect(status).toBe(200);
  expect(paths()).toEqual(['/model/us.anthropic.claude-opus-4-8/invoke']);
});

test.each([
  ['an image by URL', IMAGE],
  ['a JSON schema', SCHEMA],
])('%s goes to the other channel', async (_, body) => {
  expect((await send('claude-opus-4-8', body)).status).toBe(200);
  expect(paths()).toEqual(['/v1/messages']);
});

test('an image by URL is refused by its name if there is no other channel', async () => {
  const { status, text } = await send('claude-haiku-4-5', IMAGE);
  expect(status).toBe(400);
  expect(text).toContain('messages.0.content.0.source: files by URL');
  expect(paths()).toEqual([]);
});
