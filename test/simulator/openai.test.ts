import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import OpenAI from 'openai';
import { type RunningSimulator, startSimulator } from '../support/simulator.ts';
import { ACCOUNT, at, type Json } from './ask.ts';

let simulator: RunningSimulator;
let openai: OpenAI;

beforeAll(async () => {
  simulator = await startSimulator();
  openai = new OpenAI({
    apiKey: `sim-${ACCOUNT}`,
    baseURL: simulator.openai_url,
    maxRetries: 0,
  });
});

afterAll(() => simulator.stop());

const model = 'gpt-4o-2024-11-20';

const WEATHER = {
  type: 'function' as const,
  function: {
    name: 'weather',
    parameters: {
      type: 'object',
      properties: { city: { type: 'string' }, unit: { enum: ['c', 'f'] } },
      required: ['city', 'unit'],
    },
  },
};
const CLOCK = { type: 'function' as const, function: { name: 'clock' } };

function ask(text: string): OpenAI.ChatCompletionMessageParam[] {
  return [{ role: 'user', content: text }];
}

describe('OpenAI’s chat, through its SDK', () => {
  test('returns the same text for the same request, with exact token counts', async () => {
    const request = { model, messages: ask('What is a gateway?') };
    const [first, second] = [
      await openai.chat.completions.create(request),
      await openai.chat.completions.create(request),
    ];
    const text = first.choices[0]?.message.content ?? '';
    expect(second.choices[0]?.message.content).toBe(text);
    expect(first.id).toStartWith('chatcmpl-SIM');
    expect(first.id).not.toBe(second.id);
    expect(first.model).toBe(model);
    expect(first.choices[0]?.finish_reason).toBe('stop');
    expect(first.usage?.completion_tokens).toBe(encode(text).length);
    expect(first.usage?.completion_tokens).toBeWithin(5, 41);
    expect(first.usage?.prompt_tokens).toBe(3 + 3 + 1 + encode('What is a gateway?').length);
    expect(first.usage?.total_tokens).toBe((first.usage?.prompt_tokens ?? 0) + encode(text).length);
    expect(first._request_id).toStartWith('req_SIM');
  });

  test('returns another answer on another account', async () => {
    const request = { model, messages: ask('What is a gateway?') };
    const here = await openai.chat.completions.create(request);
    const there = await openai
      .withOptions({ apiKey: 'sim-elsewhere' })
      .chat.completions.create(request);
    expect(there.choices[0]?.message.content).not.toBe(here.choices[0]?.message.content);
  });

  test('streams the same text as without streaming', async () => {
    const request = { model, messages: ask('Tell me a story [[sim tokens=30]]') };
    const whole = await openai.chat.completions.create(request);
    const stream = openai.chat.completions.stream({
      ...request,
      stream_options: { include_usage: true },
    });
    const streamed = await stream.finalChatCompletion();
    expect(streamed.choices[0]?.message.content).toBe(whole.choices[0]?.message.content ?? '');
    expect(streamed.usage).toEqual(whole.usage);
  });

  test('calls a tool, then quotes the tool’s result', async () => {
    const asked: string[] = [];
    const runner = openai.chat.completions.runTools({
      model,
      messages: ask('How is the weather?'),
      tools: [
        {
          type: 'function',
          function: {
            name: 'weather',
            description: 'The weather of a city',
            parameters: WEATHER.function.parameters,
            parse: JSON.parse,
            function: (given: { city: string; unit: string }) => {
              asked.push(given.city, given.unit);
              return 'sunny, 21 degrees';
            },
          },
        },
      ],
    });
    expect(await runner.finalContent()).toStartWith('The tool says: sunny, 21 degrees\n');
    expect(asked).toEqual([expect.any(String), expect.stringMatching(/^[cf]$/)]);
  });

  test('streams tool calls in fragments that form the whole arguments', async () => {
    const stream = await openai.chat.completions.create({
      model,
      messages: ask('Weather and time? [[sim tools=2]]'),
      tools: [WEATHER, CLOCK],
      stream: true,
    });
    const calls: {
      id?: string | undefined;
      name?: string | undefined;
      json: string;
      fragments: number;
    }[] = [];
    let finish: string | null = null;
    for await (const chunk of stream) {
      for (const call of chunk.choices[0]?.delta.tool_calls ?? []) {
        calls[call.index] ??= { json: '', fragments: 0 };
        const known = calls[call.index];
        if (known === undefined) continue;
        known.id ??= call.id;
        known.name ??= call.function?.name;
        known.json += call.function?.arguments ?? '';
        known.fragments += 1;
      }
      finish = chunk.choices[0]?.finish_reason ?? finish;
    }
    expect(finish).toBe('tool_calls');
    expect(calls.map(({ name }) => name)).toEqual(['weather', 'clock']);
    expect(calls[0]?.fragments).toBeGreaterThan(3);
    expect(Object.keys(JSON.parse(calls[0]?.json ?? ''))).toEqual(['city', 'unit']);
    expect(calls.every(({ id }) => id?.startsWith('call_'))).toBe(true);
  });

  test('calls a forced tool, and never a forbidden one', async () => {
    const tools = [WEATHER, CLOCK];
    const messages = ask('Now?');
    const forced = await openai.chat.completions.create({
      model,
      messages,
      tools,
      tool_choice: { type: 'function', function: { name: 'clock' } },
    });
    expect(at(forced.choices[0]?.message.tool_calls?.[0], 'function.name')).toBe('clock');
    expect(forced.choices[0]?.finish_reason).toBe('stop');
    const none = await openai.chat.completions.create({
      model,
      messages,
      tools,
      tool_choice: 'none',
    });
    expect(none.choices[0]?.message.tool_calls).toBeUndefined();
    const single = await openai.chat.completions.create({
      model,
      messages: ask('Now? [[sim tools=2]]'),
      tools,
      parallel_tool_calls: false,
    });
    expect(single.choices[0]?.message.tool_calls).toHaveLength(1);
  });

  test('returns JSON that fits the schema', async () => {
    const schema = {
      type: 'object',
      properties: { name: { type: 'string' }, age: { type: 'integer', minimum: 18, maximum: 99 } },
      required: ['name', 'age'],
      additionalProperties: false,
    };
    const { choices } = await openai.chat.completions.create({
      model,
      messages: ask('Who?'),
      response_format: { type: 'json_schema', json_schema: { name: 'person', schema } },
    });
    const value = JSON.parse(choices[0]?.message.content ?? '');
    expect(value).toEqual({ name: expect.any(String), age: expect.any(Number) });
    expect(value.age).toBeWithin(18, 100);
    const object = await openai.chat.completions.create({
      model,
      messages: ask('JSON!'),
      response_format: { type: 'json_object' },
    });
    expect(JSON.parse(object.choices[0]?.message.content ?? '')).toBeObject();
  });

  test('cuts at max_tokens and at a stop sequence, and returns several choices', async () => {
    const messages = ask('Go on [[sim tokens=60]]');
    const whole = await openai.chat.completions.create({ model, messages });
    const text = whole.choices[0]?.message.content ?? '';
    const cut = await openai.chat.completions.create({ model, messages, max_completion_tokens: 9 });
    expect(cut.choices[0]?.finish_reason).toBe('length');
    expect(cut.usage?.completion_tokens).toBe(9);
    expect(text).toStartWith(cut.choices[0]?.message.content ?? '-');

    const stop = text.split(' ')[20] ?? '';
    const stopped = await openai.chat.completions.create({ model, messages, stop: ['@', stop] });
    expect(stopped.choices[0]?.finish_reason).toBe('stop');
    expect(stopped.choices[0]?.message.content).toBe(text.slice(0, text.indexOf(stop)));

    const many = await openai.chat.completions.create({ model, messages, n: 3 });
    expect(new Set(many.choices.map(({ message }) => message.content)).size).toBe(3);
    expect(many.usage?.completion_tokens).toBe(180);
    expect(many.choices[0]?.message.content).toBe(text);
  });

  test('accepts images, counts reasoning, and returns log probabilities', async () => {
    const request = (content: OpenAI.ChatCompletionContentPart[]) =>
      openai.chat.completions.create({
        model,
        messages: [{ role: 'user', content }],
        reasoning_effort: 'low',
        logprobs: true,
      });
    const text = { type: 'text' as const, text: 'What is this?' };
    const url = 'data:image/png;base64,iVBORw0KGgo=';
    const plain = await request([text]);
    const seen = await request([text, { type: 'image_url', image_url: { url } }]);
    expect(seen.usage?.prompt_tokens).toBe((plain.usage?.prompt_tokens ?? 0) + 85);
    const { reasoning_tokens } = seen.usage?.completion_tokens_details ?? {};
    expect(reasoning_tokens).toBe(16);
    const { message, logprobs } = seen.choices[0] ?? {};
    const tokens = logprobs?.content?.map(({ token }) => token) ?? [];
    expect(tokens.join('')).toBe(message?.content ?? '');
    expect(seen.usage?.completion_tokens).toBe(16 + tokens.length);
  });

  test('lists models and refuses those that are missing', async () => {
    const { data } = await openai.models.list();
    expect(data.map(({ id }) => id)).toContain('gpt-4o');
    expect(await openai.models.retrieve('anything')).toMatchObject({ id: 'anything' });
    const refusal = await openai.models.retrieve('missing-1').catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(OpenAI.NotFoundError);
    const wrong = await openai
      .withOptions({ apiKey: 'wrong' })
      .models.list()
      .catch((error: unknown) => error);
    expect(wrong).toBeInstanceOf(OpenAI.AuthenticationError);
  });

  test('the SDK raises its own error classes', async () => {
    const refused = (text: string, options: { apiKey?: string; model?: string } = {}) =>
      openai
        .withOptions({ apiKey: options.apiKey ?? `sim-${ACCOUNT}` })
        .chat.completions.create({ model: options.model ?? model, messages: ask(text) })
        .catch((error: unknown) => error);
    const cases: [unknown, new (...args: never[]) => Error, Json][] = [
      [
        await refused('x', { apiKey: 'sk-1' }),
        OpenAI.AuthenticationError,
        { code: 'invalid_api_key' },
      ],
      [
        await refused('x', { model: 'missing-1' }),
        OpenAI.NotFoundError,
        { code: 'model_not_found' },
      ],
      [await refused('[[sim status=403]]'), OpenAI.PermissionDeniedError, {}],
      [
        await refused('[[sim status=429 retry_after=3]]'),
        OpenAI.RateLimitError,
        { code: 'rate_limit_exceeded' },
      ],
      [
        await refused('[[sim status=429 quota=1]]'),
        OpenAI.RateLimitError,
        { code: 'insufficient_quota', type: 'insufficient_quota' },
      ],
      [await refused('[[sim status=500]]'), OpenAI.InternalServerError, { type: 'server_error' }],
      [await refused('[[sim status=503]]'), OpenAI.InternalServerError, { status: 503 }],
      [
        await refused('[[sim context_tokens=5]]'),
        OpenAI.BadRequestError,
        { code: 'context_length_exceeded', param: 'messages' },
      ],
    ];
    for (const [error, type, members] of cases) {
      expect(error).toBeInstanceOf(type);
      expect(error).toMatchObject(members);
    }
    const throttled = cases[3]?.[0];
    expect(throttled instanceof OpenAI.APIError && throttled.headers?.get('retry-after')).toBe('3');
  });
});
