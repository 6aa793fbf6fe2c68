/**
 * Two identical calls by the AI SDK and by LangChain, streamed or not: the second one is answered from the
 * cache, with the same tool call under another id, and a third turn with its result works.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogle } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { ChatAnthropic } from '@langchain/anthropic';
import type { BaseChatModel } from '@langchain/core/language_models/chat_models';
import {
  type AIMessageChunk,
  type BaseMessage,
  HumanMessage,
  ToolMessage,
} from '@langchain/core/messages';
import { tool as langchainTool } from '@langchain/core/tools';
import { ChatOpenAI } from '@langchain/openai';
import { generateText, type LanguageModel, type ModelMessage, streamText, tool } from 'ai';
import { z } from 'zod';
import { type CachedWeir, startCachedWeir } from '../support/cached-weir.ts';

setDefaultTimeout(60_000);

// It warns that it does not know the models of other vendors.
globalThis.AI_SDK_LOG_WARNINGS = false;

let world: CachedWeir;
beforeAll(async () => {
  world = await startCachedWeir();
});
afterAll(() => world.stop());

const NAME = 'weather';
const RESULT = 'It rains in Weimar.';
const inputSchema = z.object({ city: z.string() });
const USAGE = z.object({ output_tokens: z.number() });

/** What a framework made of one answer. */
interface Turn {
  cache: string | null;
  /** The id of the tool call, and that of the answer if the framework shows it. */
  ids: (string | undefined)[];
  call: { name: string | undefined; input: unknown };
  usage: unknown;
  /** Sends the result of the tool and returns the text and the cache's state. */
  answer(): Promise<{ cache: string | null; text: string }>;
}
type Ask = (prompt: string, stream: boolean) => Promise<Turn>;

/** A `fetch` that notes what the cache did for its latest call. */
function watched() {
  const seen: { cache: string | null } = { cache: null };
  const send = async (url: unknown, init: unknown) => {
    const response = await fetch(url as string, init as RequestInit);
    seen.cache = response.headers.get('x-weir-cache');
    return response;
  };
  return { seen, fetch: send as typeof fetch };
}

/** A model through a package of the AI SDK. */
function aiSdk(
  open: (options: { baseURL: string; apiKey: string; fetch: typeof fetch }) => LanguageModel,
  path = '/v1',
): Ask {
  return async (prompt, stream) => {
    const { seen, fetch } = watched();
    const { base_url, api_key } = world.weir;
    const model = open({ baseURL: base_url + path, apiKey: api_key, fetch });
    const messages: ModelMessage[] = [{ role: 'user', content: prompt }];
    const tools = { weather: tool({ inputSchema, execute: async () => RESULT }) };
    const send = async () => {
      const given = { model, messages, tools, maxRetries: 0 };
      const result = stream ? streamText(given) : await generateText(given);
      const [text, calls, usage, response] = await Promise.all([
        ...[result.text, result.toolCalls, result.usage, result.response],
      ] as const);
      return { text, calls, usage, response, cache: seen.cache };
    };
    const { calls, usage, response, cache } = await send();
    const [call] = calls;
    if (!call) throw new Error('no tool was called');
    return {
      cache,
      ids: [call.toolCallId, response.id],
      call: { name: call.toolName, input: call.input },
      usage: [usage.inputTokens, usage.outputTokens],
      async answer() {
        // The SDK has run the tool, and put its result after the call.
        messages.push(...response.messages);
        const next = await send();
        return { cache: next.cache, text: next.text };
      },
    };
  };
}

/** A model through a package of LangChain. */
function langchain(open: (fetch: typeof globalThis.fetch) => BaseChatModel): Ask {
  const weather = langchainTool(() => RESULT, {
    ...{ name: NAME, description: 'The weather of a city', schema: inputSchema },
  });
  return async (prompt, stream) => {
    const { seen, fetch } = watched();
    const chat = open(fetch).bindTools?.([weather]);
    if (!chat) throw new Error('the model takes no tools');
    const history: BaseMessage[] = [new HumanMessage(prompt)];
    const send = async () => {
      let reply: AIMessageChunk | undefined;
      if (stream) {
        for await (const chunk of await chat.stream(history)) {
          reply = (reply?.concat(chunk as AIMessageChunk) ?? chunk) as AIMessageChunk;
        }
      } else reply = (await chat.invoke(history)) as AIMessageChunk;
      if (!reply) throw new Error('the stream is empty');
      return { reply, cache: seen.cache };
    };
    const { reply, cache } = await send();
    const [call] = reply.tool_calls ?? [];
    if (!call) throw new Error('no tool was called');
    return {
      cache,
      ids: [call.id, reply.id],
      call: { name: call.name, input: call.args },
      usage: USAGE.parse(reply.usage_metadata),
      async answer() {
        history.push(reply, new ToolMessage({ content: RESULT, tool_call_id: call.id ?? '' }));
        const next = await send();
        return { cache: next.cache, text: next.reply.text };
      },
    };
  };
}

const openai = (fetch: typeof globalThis.fetch, more: object = {}) =>
  new ChatOpenAI({
    ...{ model: 'gpt-4o', apiKey: world.weir.api_key, maxRetries: 0 },
    configuration: { baseURL: `${world.weir.base_url}/v1`, fetch },
    ...more,
  });

const FRAMEWORKS: [name: string, ask: Ask][] = [
  ['AI SDK, OpenAI chat', aiSdk((options) => createOpenAI(options).chat('gpt-4o'))],
  ['AI SDK, OpenAI responses', aiSdk((options) => createOpenAI(options).responses('gpt-4o'))],
  ['AI SDK, Anthropic', aiSdk((options) => createAnthropic(options)('claude-haiku-4-5'))],
  ['AI SDK, Google', aiSdk((options) => createGoogle(options)('gemini-2.5-flash'), '/v1beta')],
  [
    'AI SDK, compatible',
    aiSdk((options) =>
      createOpenAICompatible({ name: 'weir', includeUsage: true, ...options })('gpt-4o'),
    ),
  ],
  ['LangChain, OpenAI chat', langchain((fetch) => openai(fetch))],
  ['LangChain, OpenAI responses', langchain((fetch) => openai(fetch, { useResponsesApi: true }))],
  [
    'LangChain, Anthropic',
    langchain(
      (fetch) =>
        new ChatAnthropic({
          ...{ model: 'claude-haiku-4-5', apiKey: world.weir.api_key, maxTokens: 1_000 },
          ...{ anthropicApiUrl: world.weir.base_url, maxRetries: 0, clientOptions: { fetch } },
        }),
    ),
  ],
];

describe.each(FRAMEWORKS)('%s', (name, ask) => {
  test.each([
    [false, false],
    [false, true],
    [true, false],
    [true, true],
  ])('first streamed: %p, second streamed: %p', async (first, second) => {
    const prompt = `How is the weather? ${name} ${first} ${second}`;
    const original = await ask(prompt, first);
    expect(original.cache).toBe('miss');
    const replay = await ask(prompt, second);
    expect(replay.cache).toBe('hit');
    expect(replay.call).toEqual(original.call);
    // LangChain adds the output tokens of the first and the last event of such a stream.
    if (name !== 'LangChain, Anthropic') expect(replay.usage).toEqual(original.usage);
    const known = (ids: Turn['ids']) => ids.filter((id) => id !== undefined);
    expect(known(replay.ids).length).toBeGreaterThan(0);
    expect(known(original.ids).filter((id) => replay.ids.includes(id))).toEqual([]);
    const next = await replay.answer();
    expect(next.cache).toBe('miss');
    expect(next.text.length).toBeGreaterThan(0);
  });
});
