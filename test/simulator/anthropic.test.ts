import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import Anthropic from '@anthropic-ai/sdk';
import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import { type RunningSimulator, startSimulator } from '../support/simulator.ts';
import { ACCOUNT, at, eventsIn, type Json, message, user } from './ask.ts';

let simulator: RunningSimulator;
let anthropic: Anthropic;

beforeAll(async () => {
  simulator = await startSimulator();
  anthropic = new Anthropic({
    apiKey: `sim-${ACCOUNT}`,
    baseURL: simulator.anthropic_url,
    maxRetries: 0,
  });
});

afterAll(() => simulator.stop());

const model = 'claude-sonnet-5';
const max_tokens = 4000;

const WEATHER: Anthropic.Tool = {
  name: 'weather',
  input_schema: {
    type: 'object',
    properties: { city: { type: 'string' }, days: { type: 'integer', minimum: 1, maximum: 7 } },
    required: ['city', 'days'],
  },
};
const CLOCK: Anthropic.Tool = { name: 'clock', input_schema: { type: 'object' } };

function ask(content: string): Anthropic.MessageParam[] {
  return [{ role: 'user', content }];
}

function textOf({ content }: Anthropic.Message): string {
  return content.map((block) => (block.type === 'text' ? block.text : '')).join('');
}

describe('Anthropic’s messages, through its SDK', () => {
  test('returns the same text for the same request, whole and streamed', async () => {
    const request = { model, max_tokens, messages: ask('What is a gateway? [[sim tokens=30]]') };
    const whole = await anthropic.messages.create(request);
    const streamed = await anthropic.messages.stream(request).finalMessage();
    expect(whole.id).toStartWith('msg_SIM');
    expect(whole.model).toBe(model);
    expect(whole.stop_reason).toBe('end_turn');
    expect(whole.usage.output_tokens).toBe(30);
    expect(encode(textOf(whole)).length).toBe(30);
    expect(whole._request_id).toStartWith('req_SIM');
    expect(textOf(streamed)).toBe(textOf(whole));
    expect(streamed.usage).toMatchObject({
      input_tokens: whole.usage.input_tokens,
      output_tokens: 30,
    });
  });

  test('counts a prompt as count_tokens does, free of charge', async () => {
    const request = {
      model,
      system: 'You are terse.',
      tools: [WEATHER],
      messages: ask('Count this.'),
    };
    const before = await simulator.books();
    const { input_tokens } = await anthropic.messages.countTokens(request);
    expect(await simulator.books()).toEqual(before);
    const answer = await anthropic.messages.create({ ...request, max_tokens });
    expect(answer.usage.input_tokens).toBe(input_tokens);
  });

  test('calls tools, streamed and not, then answers with the result', async () => {
    const messages = ask('Weather and time? [[sim tools=2]]');
    const request = { model, max_tokens, tools: [WEATHER, CLOCK], messages };
    const whole = await anthropic.messages.create(request);
    const streamed = await anthropic.messages.stream(request).finalMessage();
    expect(whole.stop_reason).toBe('tool_use');
    expect<unknown>(streamed.content).toEqual(whole.content);
    expect(whole.content).toMatchObject([
      { type: 'tool_use', name: 'weather', input: { city: expect.any(String) } },
      { type: 'tool_use', name: 'clock', input: {} },
    ]);
    const results = whole.content.flatMap((block) =>
      block.type === 'tool_use'
        ? [
            {
              type: 'tool_result' as const,
              tool_use_id: block.id,
              content: `${block.name}: fine. `,
            },
          ]
        : [],
    );
    const after = await anthropic.messages.create({
      ...request,
      messages: [
        ...messages,
        { role: 'assistant', content: whole.content as Anthropic.ContentBlockParam[] },
        { role: 'user', content: results },
      ],
    });
    expect(textOf(after)).toStartWith('The tool says: weather: fine. clock: fine. \n');
    expect(after.stop_reason).toBe('end_turn');
  });

  test('follows tool_choice', async () => {
    const request = {
      model,
      max_tokens,
      tools: [WEATHER, CLOCK],
      messages: ask('[[sim tools=2]]'),
    };
    const names = async (tool_choice: Anthropic.ToolChoice) => {
      const { content } = await anthropic.messages.create({ ...request, tool_choice });
      return content.map((block) => (block.type === 'tool_use' ? block.name : block.type));
    };
    expect(await names({ type: 'tool', name: 'clock' })).toEqual(['clock', 'clock']);
    expect(await names({ type: 'any', disable_parallel_tool_use: true })).toEqual(['weather']);
    expect(await names({ type: 'none' })).toEqual(['text']);
  });

  test('returns, signs and counts thinking', async () => {
    const request = {
      model,
      max_tokens,
      thinking: { type: 'enabled' as const, budget_tokens: 1024 },
      messages: ask('Think! [[sim tokens=9 reasoning=12]]'),
    };
    const whole = await anthropic.messages.create(request);
    const streamed = await anthropic.messages.stream(request).finalMessage();
    expect(whole.content).toMatchObject([
      { type: 'thinking', thinking: expect.any(String), signature: expect.stringMatching(/==$/) },
      { type: 'text' },
    ]);
    expect<unknown>(streamed.content).toEqual(whole.content);
    expect(whole.usage.output_tokens).toBe(21);
    expect(whole.usage.output_tokens_details?.thinking_tokens).toBe(12);
    const hidden = await anthropic.messages.create({
      ...request,
      thinking: { type: 'adaptive', display: 'omitted' },
    });
    expect(hidden.content[0]).toMatchObject({ type: 'thinking', thinking: '' });
    expect(hidden.usage.output_tokens).toBe(21);
  });

  test.each(['claude-opus-4-7', 'claude-opus-4-8', 'claude-opus-5'])(
    'refuses a budget of thinking tokens for %s',
    async (id) => {
      // anthropics/claude-code issue 49219, microsoft/vscode issue 320605.
      const thinking = { type: 'enabled' as const, budget_tokens: 1_024 };
      const request = { model: id, max_tokens, messages: ask('Hello'), thinking };
      const refusal = await anthropic.messages.create(request).catch((error: Error) => error);
      expect(refusal).toBeInstanceOf(Anthropic.BadRequestError);
      expect((refusal as Error).message).toContain('is not supported for this model. Use ');
    },
  );

  test('returns JSON that fits the schema', async () => {
    const schema = { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] };
    const answer = await anthropic.messages.create({
      model,
      max_tokens,
      messages: ask('Well?'),
      output_config: { format: { type: 'json_schema', schema } },
    });
    expect(JSON.parse(textOf(answer))).toEqual({ ok: expect.any(Boolean) });
  });

  test('cuts at max_tokens and at a stop sequence, with the right stop_reason', async () => {
    const messages = ask('Go on [[sim tokens=60]]');
    const whole = textOf(await anthropic.messages.create({ model, max_tokens, messages }));
    const cut = await anthropic.messages.create({ model, max_tokens: 9, messages });
    expect(cut.stop_reason).toBe('max_tokens');
    expect(cut.usage.output_tokens).toBe(9);
    expect(whole).toStartWith(textOf(cut));
    const stop = whole.split(' ')[20] ?? '';
    const stopped = await anthropic.messages.create({
      model,
      max_tokens,
      messages,
      stop_sequences: [stop],
    });
    expect(stopped).toMatchObject({ stop_reason: 'stop_sequence', stop_sequence: stop });
    expect(textOf(stopped)).toBe(whole.slice(0, whole.indexOf(stop)));
  });

  test('accepts images', async () => {
    const source = { type: 'base64' as const, media_type: 'image/png' as const, data: 'iVBORw0K' };
    const text = { type: 'text' as const, text: 'What is this?' };
    const count = (content: Anthropic.ContentBlockParam[]) =>
      anthropic.messages.countTokens({ model, messages: [{ role: 'user', content }] });
    const plain = await count([text]);
    const seen = await count([{ type: 'image', source }, text]);
    expect(seen.input_tokens).toBe(plain.input_tokens + 85);
  });

  test('lists models, also in pages', async () => {
    const listed: Anthropic.ModelInfo[] = [];
    for await (const each of anthropic.models.list({ limit: 2 })) listed.push(each);
    const ids = listed.map(({ id }) => id);
    expect(ids).toEqual((await anthropic.models.list()).data.map(({ id }) => id));
    expect(ids.length).toBeGreaterThan(2);
    expect(ids).toContain(model);
    expect(listed[0]).toMatchObject({ type: 'model', lifecycle: 'active', capabilities: null });
    const refusal = await anthropic
      .withOptions({ apiKey: 'wrong' })
      .models.list()
      .catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(Anthropic.AuthenticationError);
    expect(await anthropic.models.retrieve('anything')).toMatchObject({ id: 'anything' });
  });

  test('the SDK raises its own error classes', async () => {
    const refused = (text: string, options: { apiKey?: string; model?: string } = {}) =>
      anthropic
        .withOptions({ apiKey: options.apiKey ?? `sim-${ACCOUNT}` })
        .messages.create({ model: options.model ?? model, max_tokens, messages: ask(text) })
        .catch((error: unknown) => error);
    const cases: [unknown, new (...args: never[]) => Error, string][] = [
      [
        await refused('x', { apiKey: 'sk-1' }),
        Anthropic.AuthenticationError,
        'authentication_error',
      ],
      [await refused('x', { model: 'missing-1' }), Anthropic.NotFoundError, 'not_found_error'],
      [await refused('[[sim status=403]]'), Anthropic.PermissionDeniedError, 'permission_error'],
      [await refused('[[sim status=429]]'), Anthropic.RateLimitError, 'rate_limit_error'],
      [
        await refused('[[sim status=429 quota=1]]'),
        Anthropic.BadRequestError,
        'invalid_request_error',
      ],
      [await refused('[[sim status=500]]'), Anthropic.InternalServerError, 'api_error'],
      [await refused('[[sim status=529]]'), Anthropic.APIError, 'overloaded_error'],
      [
        await refused('[[sim context_tokens=5]]'),
        Anthropic.BadRequestError,
        'invalid_request_error',
      ],
    ];
    for (const [error, type, name] of cases) {
      expect(error).toBeInstanceOf(type);
      expect(at(error, 'error.error.type')).toBe(name);
      expect(at(error, 'error.request_id')).toStartWith('req_SIM');
    }
    expect(String(cases[7]?.[0])).toMatch(/prompt is too long: \d+ tokens > 5 maximum/);
  });
});

describe('Anthropic’s protocol', () => {
  test('events come in the documented order, each with its name', async () => {
    const response = await message(simulator, {
      stream: true,
      thinking: { type: 'adaptive' },
      messages: user('Hi [[sim tokens=2 reasoning=1]]'),
    });
    expect(response.headers.get('content-type')).toStartWith('text/event-stream');
    const text = await response.text();
    const events = eventsIn(text);
    expect(events.map(({ type, index, delta }) => [type, index, at(delta, 'type')])).toEqual([
      ['message_start', undefined, undefined],
      ['content_block_start', 0, undefined],
      ['ping', undefined, undefined],
      ['content_block_delta', 0, 'thinking_delta'],
      ['content_block_delta', 0, 'signature_delta'],
      ['content_block_stop', 0, undefined],
      ['content_block_start', 1, undefined],
      ['content_block_delta', 1, 'text_delta'],
      ['content_block_delta', 1, 'text_delta'],
      ['content_block_stop', 1, undefined],
      ['message_delta', undefined, undefined],
      ['message_stop', undefined, undefined],
    ]);
    expect(text.match(/^event: \S+$/gm)?.map((line) => line.slice(7))).toEqual(
      events.map(({ type }) => String(type)),
    );
    expect(events[0]).toMatchObject({
      message: { content: [], stop_reason: null, usage: { output_tokens: 1 } },
    });
    expect(events[10]).toMatchObject({
      delta: { stop_reason: 'end_turn' },
      usage: { output_tokens: 3 },
    });
  });

  test('the headers name the organization and the request', async () => {
    const { headers } = await message(simulator, { messages: user('Hi') });
    expect(headers.get('request-id')).toStartWith('req_SIM');
    expect(headers.get('anthropic-organization-id')).toBeString();
  });

  const tool_use = { type: 'tool_use', id: 'toolu_1', name: 'f', input: {} };
  const tool_result = { type: 'tool_result', tool_use_id: 'toolu_1', content: 'x' };
  const REFUSALS: [string, Json, string][] = [
    ['an unknown parameter', { foo: 1 }, 'foo: Extra inputs are not permitted'],
    ['no maximum', { max_tokens: undefined }, 'max_tokens: Field required'],
    ['a maximum of 0', { max_tokens: 0 }, 'max_tokens: Input should be greater than or equal to 1'],
    ['no messages', { messages: undefined }, 'messages: Field required'],
    ['empty messages', { messages: [] }, 'messages: at least one message is required'],
    ['messages that are none', { messages: 'hi' }, 'messages: Input should be a valid list'],
    [
      'a temperature of 2',
      { temperature: 2 },
      'temperature: Input should be less than or equal to 1',
    ],
    [
      'a system turn',
      { messages: [{ role: 'system', content: 'x' }] },
      "role 'system' is not supported",
    ],
    ['an unknown role', { messages: [{ role: 'tool', content: 'x' }] }, 'Unexpected role "tool"'],
    ['an empty text', { messages: user('') }, 'text content blocks must be non-empty'],
    [
      'an unknown block',
      { messages: [{ role: 'user', content: [{ type: 'smell' }] }] },
      "Input tag 'smell'",
    ],
    [
      'too small a budget',
      { thinking: { type: 'enabled', budget_tokens: 9 } },
      'greater than or equal to 1024',
    ],
    [
      'a budget above the maximum',
      { thinking: { type: 'enabled', budget_tokens: 1024 } },
      '`max_tokens` must be greater',
    ],
    [
      'a tool without a schema',
      { tools: [{ name: 'f' }] },
      'tools.0.custom.input_schema: Field required',
    ],
    [
      'an unknown tool choice',
      { tools: [], tool_choice: { type: 'tool', name: 'g' } },
      "Tool 'g' not found",
    ],
    [
      'a result of no tool',
      { messages: [{ role: 'user', content: [tool_result] }] },
      'unexpected `tool_use_id`',
    ],
    [
      'a tool use without a result',
      { messages: [{ role: 'assistant', content: [tool_use] }, ...user('so?')] },
      '`tool_use` ids were found without `tool_result` blocks',
    ],
    [
      'a directive with a typo',
      { messages: user('[[sim tokns=3]]') },
      "unknown directive 'tokns=3'",
    ],
  ];

  test.each(REFUSALS)('refuses %s', async (_name, body, words) => {
    const response = await message(simulator, { messages: user('Hi'), ...body });
    expect(response.status).toBe(400);
    const answer = (await response.json()) as Json;
    expect(answer).toMatchObject({ type: 'error', error: { type: 'invalid_request_error' } });
    expect(at(answer, 'error.message')).toContain(words);
    expect(answer.request_id).toBe(response.headers.get('request-id'));
  });

  test('the version header is required, and the newest version refuses sampling parameters', async () => {
    const post = (headers: Record<string, string>, more: Json = {}) =>
      fetch(`${simulator.anthropic_url}/v1/messages?beta=true`, {
        method: 'POST',
        headers: { 'x-api-key': `sim-${ACCOUNT}`, 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ model, max_tokens, messages: user('Hi'), ...more }),
      });
    const sampled = { temperature: 0.5, top_p: 0.9 };
    expect((await post({})).status).toBe(400);
    expect((await post({ 'anthropic-version': 'yesterday' })).status).toBe(400);
    expect((await post({ 'anthropic-version': '2023-06-01' }, sampled)).status).toBe(200);
    expect((await post({ 'anthropic-version': '2026-10-21' }, sampled)).status).toBe(400);
    expect((await post({ 'anthropic-version': '2026-10-21' })).status).toBe(200);
    const bearer = { authorization: `Bearer sim-${ACCOUNT}`, 'anthropic-version': '2023-06-01' };
    expect((await post({ ...bearer, 'x-api-key': 'sk-ant-1' })).status).toBe(401);
    expect((await post({ ...bearer, 'x-api-key': '' })).status).toBe(200);
  });
});
