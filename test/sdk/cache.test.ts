/**
 * Two identical calls by each SDK, streamed or not: the second one is answered from the cache, with the
 * same tool call under another id, and a third turn with its result works and is cached too.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import OpenAI from 'openai';
import { type CachedWeir, startCachedWeir } from '../support/cached-weir.ts';

setDefaultTimeout(60_000);

let world: CachedWeir;
beforeAll(async () => {
  world = await startCachedWeir();
});
afterAll(() => world.stop());

/** What an SDK made of one answer. */
interface Turn {
  cache: string | null;
  /** The id of the answer and of the tool call. */
  ids: (string | undefined)[];
  call: { name: string | undefined; input: unknown };
  usage: unknown;
  /** Sends the result of the tool, as the SDK's users do, and returns the text and the cache's state. */
  answer(): Promise<{ cache: string | null; text: string }>;
}

type Ask = (model: string, prompt: string, stream: boolean) => Promise<Turn>;

const PARAMETERS = {
  type: 'object' as const,
  properties: { city: { type: 'string' } },
  required: ['city'],
};
const NAME = 'weather';
const RESULT = 'It rains in Weimar.';

const cacheOf = ({ headers }: { headers: Headers }) => headers.get('x-weir-cache');

const chat: Ask = async (model, content, stream) => {
  const client = new OpenAI({ baseURL: `${world.weir.base_url}/v1`, apiKey: world.weir.api_key });
  const tools = [{ type: 'function' as const, function: { name: NAME, parameters: PARAMETERS } }];
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content }];
  const send = async (stream: boolean) => {
    if (!stream) {
      const { data, response } = await client.chat.completions
        .create({ model, messages, tools })
        .withResponse();
      return { data, cache: cacheOf(response) };
    }
    let cache: string | null = null;
    const watched = new OpenAI({
      baseURL: `${world.weir.base_url}/v1`,
      apiKey: world.weir.api_key,
      fetch: async (url, init) => {
        const response = await fetch(url as string, init as RequestInit);
        cache = cacheOf(response);
        return response;
      },
    });
    const runner = watched.chat.completions.stream({
      ...{ model, messages, tools },
      stream_options: { include_usage: true },
    });
    return { data: await runner.finalChatCompletion(), cache };
  };
  const { data, cache } = await send(stream);
  const message = data.choices[0]?.message;
  const [call] = message?.tool_calls ?? [];
  if (!message || call?.type !== 'function') throw new Error('no tool was called');
  return {
    cache,
    ids: [data.id, call.id],
    call: { name: call.function.name, input: JSON.parse(call.function.arguments) },
    usage: [data.usage?.prompt_tokens, data.usage?.completion_tokens],
    async answer() {
      messages.push(message, { role: 'tool', tool_call_id: call.id, content: RESULT });
      const next = await send(stream);
      return { cache: next.cache, text: next.data.choices[0]?.message.content ?? '' };
    },
  };
};

const messages: Ask = async (model, content, stream) => {
  const client = new Anthropic({ baseURL: world.weir.base_url, apiKey: world.weir.api_key });
  const tools = [{ name: NAME, input_schema: PARAMETERS }];
  const turns: Anthropic.MessageParam[] = [{ role: 'user', content }];
  const send = async () => {
    const body = { model, max_tokens: 300, messages: turns, tools };
    if (!stream) {
      const { data, response } = await client.messages.create(body).withResponse();
      return { data, cache: cacheOf(response) };
    }
    const runner = client.messages.stream(body);
    const { response } = await runner.withResponse();
    return { data: await runner.finalMessage(), cache: cacheOf(response) };
  };
  const { data, cache } = await send();
  const call = data.content.find(({ type }) => type === 'tool_use');
  if (call?.type !== 'tool_use') throw new Error('no tool was called');
  return {
    cache,
    ids: [data.id, call.id],
    call: { name: call.name, input: call.input },
    usage: [data.usage.input_tokens, data.usage.output_tokens],
    async answer() {
      turns.push(
        { role: 'assistant', content: data.content },
        {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: call.id, content: RESULT }],
        },
      );
      const next = await send();
      const text = next.data.content.map((block) => (block.type === 'text' ? block.text : ''));
      return { cache: next.cache, text: text.join('') };
    },
  };
};

const responses: Ask = async (model, input, stream) => {
  const client = new OpenAI({ baseURL: `${world.weir.base_url}/v1`, apiKey: world.weir.api_key });
  const tools = [{ type: 'function' as const, name: NAME, parameters: PARAMETERS, strict: false }];
  type Body = OpenAI.Responses.ResponseCreateParamsNonStreaming;
  const send = async (body: Pick<Body, 'input' | 'previous_response_id'>) => {
    const whole = { model, tools, ...body };
    if (!stream) {
      const { data, response } = await client.responses.create(whole).withResponse();
      return { data, cache: cacheOf(response) };
    }
    let cache: string | null = null;
    const watched = new OpenAI({
      baseURL: `${world.weir.base_url}/v1`,
      apiKey: world.weir.api_key,
      fetch: async (url, init) => {
        const response = await fetch(url as string, init as RequestInit);
        cache = cacheOf(response);
        return response;
      },
    });
    const data = await watched.responses.stream(whole).finalResponse();
    return { data, cache };
  };
  const { data, cache } = await send({ input });
  const call = data.output.find(({ type }) => type === 'function_call');
  if (call?.type !== 'function_call') throw new Error('no tool was called');
  return {
    cache,
    ids: [data.id, call.call_id, call.id],
    call: { name: call.name, input: JSON.parse(call.arguments) },
    usage: [data.usage?.input_tokens, data.usage?.output_tokens],
    async answer() {
      // The answer from the cache is stored under its own id.
      const next = await send({
        previous_response_id: data.id,
        input: [{ type: 'function_call_output', call_id: call.call_id, output: RESULT }],
      });
      return { cache: next.cache, text: next.data.output_text };
    },
  };
};

const google: Ask = async (model, text, stream) => {
  const client = new GoogleGenAI({
    apiKey: world.weir.api_key,
    httpOptions: { baseUrl: world.weir.base_url },
  });
  const config = {
    tools: [{ functionDeclarations: [{ name: NAME, parametersJsonSchema: PARAMETERS }] }],
  };
  const contents: object[] = [{ role: 'user', parts: [{ text }] }];
  const send = async () => {
    if (!stream) {
      const answer = await client.models.generateContent({ model, contents, config });
      const cache = answer.sdkHttpResponse?.headers?.['x-weir-cache'] ?? null;
      return { parts: answer.candidates?.[0]?.content?.parts ?? [], last: answer, cache };
    }
    const parts = [];
    let last: Awaited<ReturnType<typeof client.models.generateContent>> | undefined;
    let cache: string | null = null;
    for await (const chunk of await client.models.generateContentStream({
      ...{ model, contents, config },
    })) {
      parts.push(...(chunk.candidates?.[0]?.content?.parts ?? []));
      last = chunk;
      cache = chunk.sdkHttpResponse?.headers?.['x-weir-cache'] ?? cache;
    }
    return { parts, last, cache };
  };
  const { parts, last, cache } = await send();
  const call = parts.find(({ functionCall }) => functionCall)?.functionCall;
  if (!call) throw new Error('no function was called');
  return {
    cache,
    ids: [last?.responseId, ...(call.id === undefined ? [] : [call.id])],
    call: { name: call.name, input: call.args },
    usage: [last?.usageMetadata?.promptTokenCount, last?.usageMetadata?.candidatesTokenCount],
    async answer() {
      const response = { id: call.id, name: NAME, response: { output: RESULT } };
      contents.push(
        { role: 'model', parts },
        { role: 'user', parts: [{ functionResponse: response }] },
      );
      const next = await send();
      return { cache: next.cache, text: next.parts.map((part) => part.text ?? '').join('') };
    },
  };
};

const SDKS: [name: string, model: string, ask: Ask][] = [
  ['openai, chat', 'gpt-4o', chat],
  ['openai, chat, a translated model', 'claude-haiku-4-5', chat],
  ['openai, responses', 'gpt-4o', responses],
  ['openai, responses, a translated model', 'claude-haiku-4-5', responses],
  ['@anthropic-ai/sdk', 'claude-haiku-4-5', messages],
  ['@anthropic-ai/sdk, a translated model', 'gpt-4o', messages],
  ['@google/genai', 'gemini-2.5-flash', google],
  ['@google/genai, a translated model', 'gpt-4o', google],
];

describe.each(SDKS)('%s', (name, model, ask) => {
  test.each([
    [false, false],
    [false, true],
    [true, false],
    [true, true],
  ])('first streamed: %p, second streamed: %p', async (first, second) => {
    const prompt = `How is the weather? ${name} ${first} ${second}`;
    const original = await ask(model, prompt, first);
    expect(original.cache).toBe('miss');
    const replay = await ask(model, prompt, second);
    expect(replay.cache).toBe('hit');
    expect(replay.call).toEqual(original.call);
    expect(replay.usage).toEqual(original.usage);
    expect(original.ids.filter((id) => replay.ids.includes(id))).toEqual([]);
    const next = await replay.answer();
    expect(next).toMatchObject({ cache: 'miss' });
    expect(next.text.length).toBeGreaterThan(0);
    const again = await ask(model, prompt, second);
    expect(again.ids.filter((id) => replay.ids.includes(id))).toEqual([]);
    // The same turns with other ids are the same request.
    expect(await again.answer()).toEqual({ cache: 'hit', text: next.text });
  });
});

/** Both SDKs read the id of a request from a header, and show it to their users as `_request_id`. */
test.each<[string, (content: string) => Promise<{ id: string; _request_id?: string | null }>]>([
  [
    'chat.completions of OpenAI',
    (content) => openai().chat.completions.create({ model: 'gpt-4o', ...saying(content) }),
  ],
  [
    'responses of OpenAI',
    (content) => openai().responses.create({ model: 'gpt-4o', input: content }),
  ],
  [
    'messages of Anthropic',
    (content) => anthropic().messages.create({ ...fewTokens, ...saying(content) }),
  ],
])('%s: each answer has the id of its own request', async (name, ask) => {
  const content = `Whose id is this, ${name}? [[sim tokens=3]]`;
  const first = await ask(content);
  const hits = await Promise.all(Array.from({ length: 8 }, () => ask(content)));
  const answers = [first, ...hits];
  // In Weir, the id of an answer has the digits of its request's id.
  for (const { id, _request_id } of answers) {
    expect(_request_id).toBe(`req_${id.slice(id.search(/[-_]/) + 1)}`);
  }
  expect(new Set(answers.map(({ _request_id }) => _request_id)).size).toBe(answers.length);
});

const fewTokens = { model: 'claude-haiku-4-5', max_tokens: 20 };
const saying = (content: string) => ({ messages: [{ role: 'user' as const, content }] });
const openai = () =>
  new OpenAI({ baseURL: `${world.weir.base_url}/v1`, apiKey: world.weir.api_key });
const anthropic = () => new Anthropic({ baseURL: world.weir.base_url, apiKey: world.weir.api_key });
