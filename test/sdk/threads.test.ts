/**
 * Conversations that the provider would store (`thread`). Weir stores no messages. Its refusal has the
 * details that Anthropic's package reads, so the package continues without a thread by itself
 * (@anthropic-ai/sdk 1.11.0, lib/internal/threads/ThreadState). The package drives Weir on the models
 * of three vendors.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import Anthropic from '@anthropic-ai/sdk';
import { failureOf } from '../support/failure-of.ts';
import { type RunningSimulator, startSimulator } from '../support/simulator.ts';
import { type RunningWeir, startWeir } from '../support/weir.ts';
import { BASES } from '../upstreams/translation/clients.ts';

setDefaultTimeout(60_000);

const MODELS = {
  'gpt-4o-mini': 'openai',
  'claude-haiku-4-5': 'anthropic',
  'gemini-2.5-flash': 'gemini',
} as const;

let simulator: RunningSimulator;
let weir: RunningWeir;
let client: Anthropic;
beforeAll(async () => {
  simulator = await startSimulator();
  const channels = Object.entries(MODELS).map(([model, protocol]) => ({
    ...{ id: protocol, protocol, base_url: simulator.url + BASES[protocol] },
    ...{ api_key: `sim-${protocol}`, models: { [model]: model } },
  }));
  weir = await startWeir({ shared_database: true, config: JSON.stringify({ channels }) });
  client = new Anthropic({ baseURL: weir.base_url, apiKey: weir.api_key, maxRetries: 0 });
});
afterAll(async () => {
  await weir.stop();
  await simulator.stop();
});

const turn = (content: string) => ({ role: 'user' as const, content });

test.each(Object.keys(MODELS))('the tool runner ends its task on %s', async (model) => {
  const called: string[] = [];
  const runner = client.beta.messages.toolRunner({
    ...{ model, max_tokens: 500, messages: [turn('Rain in Bern?')] },
    max_iterations: 4,
    tools: [
      {
        ...{ name: 'weather', description: 'The weather of a city.' },
        input_schema: { type: 'object', properties: { city: { type: 'string' } } },
        parse: (input: unknown) => input,
        run: (input: unknown) => {
          called.push(JSON.stringify(input));
          return 'It rains.';
        },
      },
    ],
  });
  const last = await runner.runUntilDone();
  expect(called.length).toBe(1);
  expect(last.stop_reason).toBe('end_turn');
  expect(JSON.stringify(last.content)).toContain('It rains.');
});

test.each(Object.keys(MODELS))(
  'the tool runner streams a task of two tools on %s',
  async (model) => {
    const called: string[] = [];
    const toolOf = (name: string, result: string) => ({
      ...{ name, description: 'Helps.', input_schema: { type: 'object' as const } },
      parse: (input: unknown) => input,
      run: (input: unknown) => {
        called.push(`${name} ${JSON.stringify(input)}`);
        return result;
      },
    });
    const runner = client.beta.messages.toolRunner({
      ...{ model, max_tokens: 500, stream: true, max_iterations: 5 },
      messages: [turn('Go. [[call locate {"city":"Bern"}]] [[call route {"legs":2}]]')],
      tools: [toolOf('locate', '46.9, 7.4'), toolOf('route', 'Along the river')],
    });
    let text = '';
    for await (const stream of runner) {
      stream.on('text', (delta) => {
        text += delta;
      });
      await stream.finalMessage();
    }
    expect(called).toEqual(['locate {"city":"Bern"}', 'route {"legs":2}']);
    expect(text).toContain('Along the river');
  },
);

test.each([
  ['a new thread', { type: 'create' as const }],
  ['a continued thread', { type: 'continue' as const, previous_message_id: 'msg_1' }],
])('%s is refused with the details that the package reads', async (_, thread) => {
  const model = 'claude-haiku-4-5';
  const body = { model, max_tokens: 50, messages: [turn('Hi')], thread };
  const error = await failureOf(client.messages.create(body));
  expect(error).toBeInstanceOf(Anthropic.ThreadUnsupportedRequestError);
  expect(error).toMatchObject({ status: 400, errorCode: 'thread_unsupported_request' });
  expect(error).toMatchObject({ error: { error: { param: 'thread' } } });
});

test('no message id of Weir leaves for an upstream', async () => {
  for (const model of Object.keys(MODELS)) {
    const body = { model, max_tokens: 50, messages: [turn('Hi [[sim record=1]]')] };
    const first = await client.messages.create({
      ...{ ...body, diagnostics: { previous_message_id: null } },
    });
    await client.messages.create({ ...body, diagnostics: { previous_message_id: first.id } });
    const { calls } = await simulator.books();
    const sent = JSON.stringify(calls.at(-1));
    expect(sent).not.toContain(first.id);
    if (model.startsWith('claude')) expect(sent).toContain('previous_message_id');
  }
});
