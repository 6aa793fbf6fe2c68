/**
 * An int64 id such as 829836802793406551, which JavaScript's numbers round, leaves and returns with
 * all its digits: from every place of a body, on every pair of protocols, whole and streamed.
 */
import { afterAll, describe, expect, test } from 'bun:test';
import { frameOf } from '../../simulator/bedrock/frames.ts';
import { CLIENT_PROTOCOLS, type ClientProtocol } from '../../src/protocols/names.ts';
import { protocolFor, requestProtocolOf } from '../../src/upstreams/chat/protocols.ts';
import { openaiDirect } from '../../src/upstreams/direct/openai.ts';
import { callOf, readStream, startUpstream, streamed } from './upstream.ts';

const upstream = startUpstream();
afterAll(() => upstream.stop());

const BIG = '829836802793406551';
const MARK = '"829836802793406551"';
const count = (text: string) => text.split(BIG).length - 1;
/** Writes a value as JSON. The text MARK becomes an integer. */
const jsonOf = (value: unknown) => JSON.stringify(value).replaceAll(MARK, BIG);

const UPSTREAMS = ['openai', 'openai-responses', 'anthropic', 'bedrock', 'gemini'] as const;
const PAIRS = CLIENT_PROTOCOLS.flatMap((client) => UPSTREAMS.map((name) => ({ client, name })));
const isNative = ({ client, name }: (typeof PAIRS)[number]) => requestProtocolOf(name) === client;

const SCHEMA = {
  type: 'object',
  properties: { id: { type: 'integer', maximum: BIG }, kind: { type: 'string', enum: ['a'] } },
};
const ARGUMENTS = `{"id":${BIG}}`;

/** A request of each protocol that makes Weir edit it: tools, calls of tools, a search, ids. */
const REQUESTS: Record<ClientProtocol, Record<string, unknown>> = {
  openai: {
    ...{ model: 'm', max_tokens: 90, user: 'u' },
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: ARGUMENTS } }],
      },
      { role: 'tool', tool_call_id: 'c', content: ARGUMENTS },
    ],
    tools: [{ type: 'function', function: { name: 'f', parameters: SCHEMA } }],
  },
  responses: {
    ...{ model: 'm', max_output_tokens: 90, store: false },
    input: [
      { type: 'message', id: 'msg_1', role: 'user', content: 'Hi' },
      { type: 'function_call', id: 'fc_1', call_id: 'c', name: 'f', arguments: ARGUMENTS },
      { type: 'function_call_output', id: 'fo_1', call_id: 'c', output: ARGUMENTS },
    ],
    tools: [{ type: 'function', name: 'f', parameters: SCHEMA, strict: false }],
  },
  anthropic: {
    ...{ model: 'm', max_tokens: 90, metadata: { user_id: 'u' } },
    messages: [
      { role: 'user', content: 'Hi' },
      {
        role: 'assistant',
        content: [{ type: 'tool_use', id: 'c', name: 'f', input: { id: BIG } }],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c', content: ARGUMENTS }] },
    ],
    tools: [{ name: 'f', input_schema: SCHEMA }],
  },
  gemini: {
    contents: [
      { role: 'user', parts: [{ text: 'Hi' }] },
      { role: 'model', parts: [{ functionCall: { id: 'c', name: 'f', args: { id: BIG } } }] },
      {
        role: 'user',
        parts: [{ functionResponse: { id: 'c', name: 'f', response: { id: BIG } } }],
      },
    ],
    tools: [{ functionDeclarations: [{ name: 'f', parametersJsonSchema: SCHEMA }] }],
    generationConfig: { maxOutputTokens: 90 },
  },
};
/** A tool with which Weir limits the searches of a request. */
const SEARCHES: Partial<Record<ClientProtocol, object>> = {
  anthropic: { type: 'web_search_20250305', name: 'web_search', strict: true },
  responses: { type: 'web_search' },
};

const sse = (events: object[]) =>
  events.map((event) => {
    const { type } = event as { type?: string };
    return `${type ? `event: ${type}\n` : ''}data: ${jsonOf(event)}\n\n`;
  });
const message = {
  ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'm', stop_reason: 'tool_use' },
  usage: { input_tokens: 3, output_tokens: 2 },
};
const block = { type: 'tool_use', id: 'c', name: 'f', input: { id: BIG } };
const call = { type: 'function_call', id: 'fc_1', call_id: 'c', name: 'f', arguments: ARGUMENTS };
const response = {
  ...{ id: 'resp_1', object: 'response', model: 'm', status: 'completed', created_at: 1 },
  ...{ output: [call], usage: { input_tokens: 3, output_tokens: 2, total_tokens: 5 } },
};
const called = { id: 'c', type: 'function', function: { name: 'f', arguments: ARGUMENTS } };
const gemini = {
  candidates: [
    {
      content: { role: 'model', parts: [{ functionCall: { name: 'f', args: { id: BIG } } }] },
      ...{ finishReason: 'STOP', index: 0 },
    },
  ],
  usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 2, totalTokenCount: 5 },
};
const ANTHROPIC_EVENTS = [
  { type: 'message_start', message: { ...message, content: [], stop_reason: null } },
  { type: 'content_block_start', index: 0, content_block: { ...block, input: {} } },
  {
    ...{ type: 'content_block_delta', index: 0 },
    delta: { type: 'input_json_delta', partial_json: ARGUMENTS },
  },
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 2 } },
  { type: 'message_stop' },
];

/** An answer of each upstream that calls a tool with the integer: whole, and as a stream. */
const ANSWERS: Record<(typeof UPSTREAMS)[number], { whole: object; stream: () => Response }> = {
  openai: {
    whole: {
      ...{ id: 'x', object: 'chat.completion', model: 'm' },
      choices: [
        {
          ...{ index: 0, finish_reason: 'tool_calls' },
          message: { role: 'assistant', content: null, tool_calls: [called] },
        },
      ],
    },
    stream: () =>
      streamed([
        ...sse([
          { id: 'x', choices: [{ index: 0, delta: { tool_calls: [{ index: 0, ...called }] } }] },
          { id: 'x', choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] },
        ]),
        'data: [DONE]\n\n',
      ]),
  },
  'openai-responses': {
    whole: response,
    stream: () =>
      streamed(
        sse([
          { type: 'response.created', sequence_number: 0, response: { ...response, output: [] } },
          {
            ...{ type: 'response.output_item.added', sequence_number: 1, output_index: 0 },
            item: { ...call, arguments: '' },
          },
          {
            ...{ type: 'response.function_call_arguments.delta', sequence_number: 2 },
            ...{ item_id: 'fc_1', output_index: 0, delta: ARGUMENTS },
          },
          {
            ...{ type: 'response.output_item.done', sequence_number: 3, output_index: 0 },
            item: call,
          },
          { type: 'response.completed', sequence_number: 4, response },
        ]),
      ),
  },
  anthropic: {
    whole: { ...message, content: [block] },
    stream: () => streamed(sse(ANTHROPIC_EVENTS)),
  },
  bedrock: {
    whole: { ...message, content: [block] },
    stream: () =>
      streamed(
        ANTHROPIC_EVENTS.map((event) => {
          const bytes = Buffer.from(jsonOf({ ...event, x_id: BIG })).toString('base64');
          return frameOf({ 'event-type': 'chunk', 'message-type': 'event' }, { bytes });
        }),
      ),
  },
  gemini: { whole: gemini, stream: () => streamed(sse([gemini])) },
};

/** Returns copies of a value, each with a member or an item more at another place of it. */
function* grown(value: unknown): Generator<unknown> {
  if (Array.isArray(value)) {
    for (const [at, item] of value.entries())
      for (const each of grown(item)) yield value.with(at, each);
  } else if (typeof value === 'object' && value !== null) {
    yield { ...value, x_id: BIG, x_ids: [BIG, { id: BIG }] };
    for (const [name, member] of Object.entries(value))
      for (const each of grown(member)) yield { ...value, [name]: each };
  }
}

const answerWith = (text: string) => () =>
  new Response(text, { headers: { 'content-type': 'application/json' } });

describe.each(PAIRS.filter(isNative))(
  '$client on $name, in the same format',
  ({ client, name }) => {
    const protocol = protocolFor(client, name);
    const request = REQUESTS[client];
    const search = SEARCHES[client];
    const more = search ? { tools: [...(request['tools'] as object[]), search] } : {};

    test('a request keeps the integer at every place', async () => {
      for (const body of grown({ ...request, ...more })) {
        const text = jsonOf(body);
        upstream.answer = answerWith(jsonOf(ANSWERS[name].whole));
        // Lower limits, and a model that takes no strict tools, lead to the most edits.
        const changes = { max_output_tokens: 50, physical_model: 'anthropic.claude-opus-4-8' };
        await protocol.complete(callOf(upstream.url, text, changes));
        expect(count(upstream.asked.at(-1)?.text ?? '')).toBe(count(text));
      }
    });

    test('an answer keeps the integer at every place', async () => {
      for (const body of grown(ANSWERS[name].whole)) {
        const text = jsonOf(body);
        upstream.answer = answerWith(text);
        const { body_text } = await protocol.complete(callOf(upstream.url, jsonOf(request)));
        expect(count(body_text)).toBe(count(text));
      }
    });
  },
);

describe.each(PAIRS.filter((pair) => !isNative(pair)))('$client on $name', ({ client, name }) => {
  const protocol = protocolFor(client, name);

  test('a request keeps the integers of tools, their calls and their results', async () => {
    const text = jsonOf(REQUESTS[client]);
    upstream.answer = answerWith(jsonOf(ANSWERS[name].whole));
    await protocol.complete(callOf(upstream.url, text));
    expect(count(upstream.asked.at(-1)?.text ?? '')).toBe(count(text));
  });

  test('an answer keeps the integers of a call', async () => {
    upstream.answer = answerWith(jsonOf(ANSWERS[name].whole));
    const call = callOf(upstream.url, jsonOf(REQUESTS[client]));
    expect((await protocol.complete(call)).body_text).toContain(BIG);
  });
});

test.each(PAIRS)('$client on $name: a stream keeps the integers of a call', async (pair) => {
  upstream.answer = ANSWERS[pair.name].stream;
  const body = { ...REQUESTS[pair.client], stream: true };
  const call = callOf(upstream.url, jsonOf(body));
  const { text, error } = await readStream(protocolFor(pair.client, pair.name), call);
  expect(error).toBeUndefined();
  expect(text).toContain(BIG);
  // No other form of the integer, e.g. 829836802793406600 or 8.298368027934066e+17.
  expect(text.match(/8\.?2983680\d*/g)?.filter((each) => each !== BIG)).toEqual([]);
});

test('embeddings keep the integer in the request and in the answer', async () => {
  upstream.answer = answerWith(`{"data":[{"embedding":[1]}],"x_id":${BIG}}`);
  const call = callOf(upstream.url, `{"model":"m","input":"a","x_id":${BIG},"user":null}`);
  const own = { counted: () => 1, max_tokens: 10 };
  const { body_text } = await openaiDirect.embed(call, own);
  expect(body_text).toContain(BIG);
  expect(upstream.asked.at(-1)?.text).toContain(BIG);
});
