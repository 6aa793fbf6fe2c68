/**
 * Calls `/v1/responses` through the official package, on an upstream with the same protocol. The
 * client must get everything that the upstream sends.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { type RunningSimulator, startSimulator } from '../support/simulator.ts';
import { type RunningWeir, startWeir } from '../support/weir.ts';

setDefaultTimeout(60_000);

let simulator: RunningSimulator;
let weir: RunningWeir;
let client: OpenAI;
beforeAll(async () => {
  simulator = await startSimulator();
  const channels = [
    {
      ...{ id: 'main', protocol: 'openai-responses', api_key: 'sim-main' },
      ...{ base_url: simulator.openai_url, models: { 'gpt-5': 'gpt-5-physical' } },
    },
  ];
  weir = await startWeir({ shared_database: true, config: JSON.stringify({ channels }) });
  client = new OpenAI({ baseURL: `${weir.base_url}/v1`, apiKey: weir.api_key, maxRetries: 0 });
});
afterAll(async () => {
  await weir.stop();
  await simulator.stop();
});

test('tools that the provider runs keep all their events, whole or streamed', async () => {
  const request = {
    model: 'gpt-5',
    input: 'What is new? [[sim tokens=12]]',
    tools: [{ type: 'web_search' as const }],
  };
  const whole = await client.responses.create(request);
  expect(whole).toMatchObject({ model: 'gpt-5', status: 'completed', tools: request.tools });
  expect(whole.output.map(({ type }) => type)).toEqual(['web_search_call', 'message']);
  expect(whole.usage?.output_tokens).toBe(12);
  const types: string[] = [];
  let last: OpenAI.Responses.Response | undefined;
  for await (const event of await client.responses.create({ ...request, stream: true })) {
    types.push(event.type);
    if (event.type === 'response.completed') last = event.response;
  }
  expect(types).toContain('response.web_search_call.searching');
  expect(last).toMatchObject({ model: 'gpt-5', output: [{ type: 'web_search_call' }, {}] });
  expect(last?.id).toStartWith('resp_');
  // Weir stores both responses; the upstream stores neither.
  for (const id of [whole.id, last?.id ?? '']) {
    expect((await client.responses.retrieve(id)).output.length).toBe(2);
  }
  expect(JSON.stringify([whole, last])).not.toContain('physical');
});

test('a conversation continues with encrypted reasoning, tool calls and their results', async () => {
  const tools = [
    {
      ...{ type: 'function' as const, name: 'weather', strict: false },
      parameters: { type: 'object', properties: { city: { type: 'string' } } },
    },
  ];
  const first = await client.responses.create({ model: 'gpt-5', input: 'Rain in Bern?', tools });
  const [call] = first.output;
  if (call?.type !== 'function_call') throw new Error('no call');
  const next = await client.responses.create({
    ...{ model: 'gpt-5', tools, previous_response_id: first.id },
    input: [{ type: 'function_call_output', call_id: call.call_id, output: 'It rains.' }],
  });
  expect(next.output_text).toContain('It rains.');
  const sealed = {
    ...{
      type: 'reasoning' as const,
      id: 'rs_1',
      summary: [],
      encrypted_content: 'gAAAAABoc2VhbA==',
    },
  };
  const third = await client.responses.create({
    ...{ model: 'gpt-5', previous_response_id: next.id },
    input: [sealed, { role: 'user', content: 'Thanks [[sim record=1]]' }],
  });
  expect(third.output_text.length).toBeGreaterThan(0);
  const { calls } = await simulator.books();
  const sent = JSON.stringify(calls.at(-1));
  expect(sent).toContain('gAAAAABoc2VhbA==');
  expect(sent).not.toContain('rs_1');
});

test('background: true and an unknown previous response are refused', async () => {
  const failure = await client.responses
    .create({ model: 'gpt-5', input: 'Hi', background: true })
    .catch((error: unknown) => error);
  expect(failure).toMatchObject({ status: 400, param: 'background' });
});

test('the upstream serves clients of chat and of messages as well, streamed or not', async () => {
  const messages = [{ role: 'user' as const, content: 'Hello [[sim tokens=9]]' }];
  const chat = await client.chat.completions.create({ model: 'gpt-5', messages });
  expect(chat.usage?.completion_tokens).toBe(9);
  const anthropic = new Anthropic({ baseURL: weir.base_url, apiKey: weir.api_key });
  const question = { model: 'gpt-5', max_tokens: 50, messages };
  const reply = await anthropic.messages.stream(question).finalMessage();
  expect(reply.content).toEqual([
    { type: 'text', text: chat.choices[0]?.message.content ?? '', citations: null },
  ] as never);
});

test('a broken answer is an error, and so is a request that is too long', async () => {
  const input = 'Hello [[sim tokens=30 chunk_ms=10 truncate_after=12]]';
  const read = async () => {
    for await (const _ of await client.responses.create({ model: 'gpt-5', input, stream: true }));
  };
  expect(await read().catch((error: unknown) => error)).toBeInstanceOf(OpenAI.APIError);
  const refused = await client.responses
    .create({ model: 'gpt-5', input: 'Hello [[sim context_tokens=1]]' })
    .catch((error: unknown) => error);
  expect(refused).toMatchObject({ status: 400, code: 'context_length_exceeded' });
});
