/**
 * LangChain (@langchain/core 1.4.0) through its packages of OpenAI, in both formats, and of Anthropic,
 * on models of three vendors. LangChain's own count of tokens is the bill.
 *
 * The count of a stream of Anthropic's format is not compared: LangChain reads the input tokens of the
 * first event, which only Claude knows then, and adds the output tokens of the first and the last event.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { ChatAnthropic } from '@langchain/anthropic';
import type { BaseChatModel } from '@langchain/core/language_models/chat_models';
import {
  type AIMessage,
  type AIMessageChunk,
  type BaseMessage,
  HumanMessage,
  ToolMessage,
} from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { ChatOpenAI, OpenAIEmbeddings } from '@langchain/openai';
import { z } from 'zod';
import {
  expectSameBill,
  MODEL_NAMES,
  newKey,
  type Stand,
  startStand,
} from '../clients/support/stand.ts';
import { type RunningWeir, startWeir } from '../support/weir.ts';

setDefaultTimeout(60_000);

let stand: Stand;
let weir: RunningWeir;
beforeAll(async () => {
  [stand, weir] = await Promise.all([startStand(), startWeir({ shared_database: true })]);
});
afterAll(async () => {
  await stand.stop();
  await weir.stop();
});

function through({ base_url }: RunningWeir, model: string, apiKey: string) {
  const configuration = { baseURL: `${base_url}/v1` };
  const openai = { model, apiKey, configuration, maxRetries: 0 };
  return {
    chat: new ChatOpenAI(openai),
    responses: new ChatOpenAI({ ...openai, useResponsesApi: true }),
    anthropic: new ChatAnthropic({
      ...{ model, apiKey, anthropicApiUrl: base_url, maxRetries: 0, maxTokens: 1_000 },
    }),
  };
}

type Reply = AIMessage | AIMessageChunk;

/** A model, alone or with tools. */
type Runner = Pick<BaseChatModel, 'invoke' | 'stream'>;

/** Asks for one reply, and puts its chunks together if it is streamed. */
async function ask(chat: Runner, messages: BaseMessage[], isStreamed: boolean): Promise<Reply> {
  if (!isStreamed) return chat.invoke(messages);
  let all: AIMessageChunk | undefined;
  for await (const chunk of await chat.stream(messages)) all = all?.concat(chunk) ?? chunk;
  if (!all) throw new Error('the stream is empty');
  return all;
}

const USAGE = z.object({ input_tokens: z.number(), output_tokens: z.number() });
const schema = z.object({ age: z.number(), name: z.string() });
const TASK =
  'The way? [[sim tokens=20]] [[call locate {"city":"Bern"}]] [[call route {"from":"Bern","legs":2}]]';

const TOOLS = [
  tool(() => '46.9, 7.4', {
    ...{ name: 'locate', description: 'Where a city is', schema: z.object({ city: z.string() }) },
  }),
  tool(() => 'Along the river', {
    ...{ name: 'route', description: 'The way from a city' },
    schema: z.object({ from: z.string(), legs: z.number() }),
  }),
];

/** Text, and a task of two tools over three turns. Returns all replies. */
async function talk(chat: BaseChatModel, isStreamed: boolean): Promise<Reply[]> {
  const hello = await ask(chat, [new HumanMessage('Hello [[sim tokens=12]]')], isStreamed);
  expect(hello.text.split(' ').length).toBeGreaterThan(5);
  const runner = chat.bindTools?.(TOOLS) as Runner;
  const history: BaseMessage[] = [new HumanMessage(TASK)];
  const replies = [hello];
  for (const expected of [{ city: 'Bern' }, { from: 'Bern', legs: 2 }]) {
    const reply = await ask(runner, history, isStreamed);
    const [call] = reply.tool_calls ?? [];
    expect(call?.args).toEqual(expected);
    const content = call?.name === 'locate' ? '46.9, 7.4' : 'Along the river';
    history.push(reply, new ToolMessage({ content, tool_call_id: call?.id ?? '' }));
    replies.push(reply);
  }
  const last = await ask(runner, history, isStreamed);
  expect(last.text).toContain('Along the river');
  return [...replies, last];
}

test.each(MODEL_NAMES)('text, streams, objects and tools on %s', async (name) => {
  const { id, key } = await newKey(stand);
  const count = { input: 0, output: 0 };
  for (const [client, chat] of Object.entries(through(stand.weir, name, key))) {
    const replies = await talk(chat, false);
    if (client !== 'anthropic') replies.push(...(await talk(chat, true)));
    for (const method of ['jsonSchema', 'functionCalling'] as const) {
      const person = chat.withStructuredOutput(schema, { method, includeRaw: true });
      const { raw, parsed } = await person.invoke('Someone');
      expect([client, method, typeof parsed?.age]).toEqual([client, method, 'number']);
      replies.push(raw as AIMessage);
    }
    for (const { usage_metadata } of replies) {
      const used = USAGE.parse(usage_metadata);
      count.input += used.input_tokens;
      count.output += used.output_tokens;
    }
  }
  await expectSameBill(stand, id, name, count);
});

test.each(['gpt-4o', 'claude-haiku-4-5', 'gemini-2.5-flash'])(
  'streams of %s in Anthropic’s format',
  async (name) => {
    expect(await talk(through(weir, name, weir.api_key).anthropic, true)).toHaveLength(4);
  },
);

test.each([
  ['text-embedding-3-small', 1_536],
  ['gemini-embedding-001', 3_072],
])('embeddings of %s have %i numbers', async (model, length) => {
  const configuration = { baseURL: `${weir.base_url}/v1` };
  const embeddings = new OpenAIEmbeddings({ model, apiKey: weir.api_key, configuration });
  const vectors = await embeddings.embedDocuments(['One', 'Two']);
  expect(vectors.map((vector) => vector.length)).toEqual([length, length]);
  expect(await embeddings.embedQuery('One')).toHaveLength(length);
});
