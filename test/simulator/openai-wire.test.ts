import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type RunningSimulator, startSimulator } from '../support/simulator.ts';
import { ACCOUNT, at, chat, eventsIn, type Json, user } from './ask.ts';

let simulator: RunningSimulator;

beforeAll(async () => {
  simulator = await startSimulator();
});

afterAll(() => simulator.stop());

describe('OpenAI’s protocol', () => {
  test('chunks come in the documented order', async () => {
    const response = await chat(simulator, {
      messages: user('Hi [[sim tokens=4]]'),
      stream: true,
      stream_options: { include_usage: true },
    });
    expect(response.headers.get('content-type')).toStartWith('text/event-stream');
    const chunks = eventsIn(await response.text());
    expect(new Set(chunks.slice(0, -1).map((chunk) => chunk.id)).size).toBe(1);
    expect(at(chunks[0], 'choices.0.delta')).toMatchObject({ role: 'assistant', content: '' });
    expect(chunks.slice(1, 5).map((chunk) => at(chunk, 'choices.0.finish_reason'))).toEqual([
      null,
      null,
      null,
      null,
    ]);
    expect(at(chunks[5], 'choices.0')).toMatchObject({ delta: {}, finish_reason: 'stop' });
    expect(chunks[6]).toMatchObject({ choices: [], usage: { completion_tokens: 4 } });
    expect(chunks.slice(0, 6).map(({ usage }) => usage)).toEqual(Array(6).fill(null));
    expect(chunks[7]).toEqual({ done: true });
    expect(chunks).toHaveLength(8);
  });

  test('choices are streamed in parallel, each with its index', async () => {
    const body = { messages: user('Hi [[sim tokens=6]]'), n: 2 };
    const whole = await (await chat(simulator, body)).json();
    const chunks = eventsIn(await (await chat(simulator, { ...body, stream: true })).text());
    const indexes = chunks.slice(2, -3).map((chunk) => at(chunk, 'choices.0.index'));
    expect(indexes).toEqual([1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0]);
    for (const index of [0, 1]) {
      const text = chunks
        .filter((chunk) => at(chunk, 'choices.0.index') === index)
        .map((chunk) => at(chunk, 'choices.0.delta.content') ?? '');
      expect(text.join('')).toBe(String(at(whole, `choices.${index}.message.content`)));
    }
  });

  test('a custom tool is called with plain text', async () => {
    const body = {
      messages: user('Run it'),
      tools: [{ type: 'custom', custom: { name: 'shell' } }],
    };
    const whole = await (await chat(simulator, body)).json();
    const call = at(whole, 'choices.0.message.tool_calls.0');
    expect(call).toMatchObject({ type: 'custom', custom: { name: 'shell' } });
    const chunks = eventsIn(await (await chat(simulator, { ...body, stream: true })).text());
    const input = chunks.map(
      (chunk) => at(chunk, 'choices.0.delta.tool_calls.0.custom.input') ?? '',
    );
    expect(input.join('')).toBe(String(at(call, 'custom.input')));
  });

  test('a tool call that max_tokens cuts has finish_reason length', async () => {
    const parameters = { type: 'object', properties: { text: { type: 'string' } } };
    const tools = [{ type: 'function', function: { name: 'write', parameters } }];
    const answer = await (
      await chat(simulator, { messages: user('Hi'), tools, max_tokens: 5 })
    ).json();
    expect(at(answer, 'choices.0.finish_reason')).toBe('length');
    expect(at(answer, 'usage.completion_tokens')).toBe(5);
  });

  test('a stream has no usage without include_usage', async () => {
    const response = await chat(simulator, { messages: user('Hi'), stream: true });
    const text = await response.text();
    expect(text).not.toContain('usage');
    expect(text).toEndWith('data: [DONE]\n\n');
  });

  test('the headers name the provider, its organization and its request', async () => {
    const { headers } = await chat(simulator, { messages: user('Hi') });
    expect(headers.get('x-request-id')).toStartWith('req_SIM');
    expect(headers.get('openai-organization')).toBe('sim-org');
    expect(headers.get('openai-processing-ms')).toMatch(/^\d+$/);
  });

  const tool_call = { id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } };
  const REFUSALS: [string, Json, Json][] = [
    ['an unknown parameter', { foo: 1 }, { param: 'foo', code: 'unknown_parameter' }],
    [
      'no messages',
      { messages: undefined },
      { param: 'messages', code: 'missing_required_parameter' },
    ],
    ['no model', { model: undefined }, { param: 'model', code: 'missing_required_parameter' }],
    ['empty messages', { messages: [] }, { param: 'messages', code: 'empty_array' }],
    ['messages that are none', { messages: 'hi' }, { param: 'messages', code: 'invalid_type' }],
    [
      'a temperature in words',
      { temperature: 'hot' },
      { param: 'temperature', code: 'invalid_type' },
    ],
    ['a temperature of 3', { temperature: 3 }, { code: 'decimal_above_max_value' }],
    ['a broken n', { n: 1.5 }, { param: 'n', code: 'invalid_type' }],
    ['no choices', { n: 0 }, { param: 'n', code: 'integer_below_min_value' }],
    ['five stops', { stop: ['a', 'b', 'c', 'd', 'e'] }, { code: 'array_above_max_length' }],
    ['an unknown effort', { reasoning_effort: 'huge' }, { code: 'invalid_value' }],
    [
      'an unknown role',
      { messages: [{ role: 'robot', content: 'x' }] },
      { param: 'messages[0].role' },
    ],
    ['no content', { messages: [{ role: 'user' }] }, { param: 'messages[0].content' }],
    [
      'an unknown part',
      { messages: [{ role: 'user', content: [{ type: 'smell' }] }] },
      { param: 'messages[0].content[0].type', code: 'invalid_value' },
    ],
    [
      'a tool without a name',
      { tools: [{ type: 'function', function: {} }] },
      { param: 'tools[0].function.name' },
    ],
    ['a tool choice without tools', { tool_choice: 'auto' }, { param: 'tool_choice' }],
    [
      'an answer of no tool call',
      { messages: [{ role: 'tool', tool_call_id: 'call_1', content: 'x' }] },
      { param: 'messages[0].role' },
    ],
    [
      'a tool call without an answer',
      { messages: [{ role: 'assistant', tool_calls: [tool_call] }, ...user('so?')] },
      { param: 'messages.[1].role' },
    ],
    ['an unknown response format', { response_format: { type: 'xml' } }, { code: 'invalid_value' }],
    [
      'a directive with a typo',
      { messages: user('[[sim tokns=3]]') },
      { type: 'invalid_request_error' },
    ],
  ];

  test.each(REFUSALS)('refuses %s', async (_name, body, error) => {
    const response = await chat(simulator, { messages: user('Hi'), ...body });
    expect(response.status).toBe(400);
    const answer = (await response.json()) as { error: Json };
    expect(Object.keys(answer.error).sort()).toEqual(['code', 'message', 'param', 'type']);
    expect(answer.error).toMatchObject({ type: 'invalid_request_error', ...error });
  });

  test('refuses an unknown parameter with the API’s message', async () => {
    const response = await chat(simulator, { messages: user('Hi'), foo: 1 });
    expect(await response.json()).toEqual({
      error: {
        message: "Unknown parameter: 'foo'.",
        type: 'invalid_request_error',
        param: 'foo',
        code: 'unknown_parameter',
      },
    });
  });

  test('refuses a missing key, another provider’s key, broken JSON and unknown paths', async () => {
    const url = `${simulator.openai_url}/chat/completions`;
    const post = (headers: Record<string, string>, body: string) =>
      fetch(url, { method: 'POST', headers, body });
    const json = { 'content-type': 'application/json' };
    const key = { authorization: `Bearer sim-${ACCOUNT}` };
    expect((await post(json, '{}')).status).toBe(401);
    expect((await post({ ...json, authorization: 'Bearer sim-' }, '{}')).status).toBe(401);
    expect((await post({ ...json, ...key }, '{"model":')).status).toBe(400);
    expect((await post({ ...key, 'content-type': 'text/plain' }, '{}')).status).toBe(400);
    expect((await post({ ...json, ...key }, '[]')).status).toBe(400);
    expect((await fetch(`${simulator.openai_url}/nothing`, { headers: key })).status).toBe(404);
    expect((await fetch(`${simulator.url}/elsewhere`)).status).toBe(404);
  });
});
