/**
 * Upstreams that report usage that no tokenizer can produce. The test goes through every client
 * protocol × upstream protocol × usage field of the vendors' types × impossible value, whole and
 * streamed. The report counts as none, and the client sees Weir's own figures.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { anthropicUsage } from '../../src/protocols/anthropic-usage.ts';
import { geminiUsage } from '../../src/protocols/gemini-usage.ts';
import { CLIENT_PROTOCOLS, type ClientProtocol } from '../../src/protocols/names.ts';
import { openaiUsage } from '../../src/protocols/openai-usage.ts';
import { responsesUsage } from '../../src/protocols/responses-usage.ts';
import type { UsageReport } from '../../src/protocols/token-usage.ts';
import { protocolFor } from '../../src/upstreams/chat/protocols.ts';
import { callOf, startUpstream, streamed, type Upstream } from './upstream.ts';

setDefaultTimeout(120_000);

let upstream: Upstream;
beforeAll(() => {
  upstream = startUpstream();
});
afterAll(() => upstream.stop());

type Json = Record<string, unknown>;

/** Values that are no count of tokens, as JSON. The last is above every context window. */
const NONSENSE = ['-5000000', '0.5', '1e300', '"12"', 'true', '{}', '[1]', '9007199254740993'];

/** Weir's own figures. They must be in every answer. */
const OWN = {
  ...{ input_tokens: 317, cached_input_tokens: 0, cache_write_tokens: 0 },
  output_tokens: 223,
};

interface Upstreams {
  readonly channel: 'openai' | 'anthropic' | 'openai-responses' | 'gemini';
  /** Valid usage of 90 input tokens and 40 output tokens. */
  readonly usage: Json;
  /** Returns the fields that change if the answer has `tokens` output tokens. */
  readonly withOutput: (tokens: number) => Json;
  /** The vendor's declarations that list the fields of the usage: file, and their names. */
  readonly types: readonly [file: string, ...declarations: string[]];
  /** The path of the fields of each declaration. */
  readonly paths: readonly (readonly string[])[];
  /** Reports that are impossible only in their relations. */
  readonly relations: readonly Json[];
  readonly whole: (usage: unknown) => object;
  readonly stream: (usage: unknown) => readonly (object | string)[];
}

const chunk = (delta: object, finish_reason: string | null, more: object = {}) => ({
  ...{ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'physical-9' },
  ...{ choices: [{ index: 0, delta, finish_reason }], ...more },
});
const response = (status: string, more: object) => ({
  ...{ id: 'resp_x', object: 'response', created_at: 1, model: 'physical-9', status },
  ...{ output: [item], ...more },
});
const item = {
  ...{ id: 'msg_x', type: 'message', role: 'assistant', status: 'completed' },
  content: [{ type: 'output_text', text: 'Hello', annotations: [] }],
};
const gemini = (more: object) => ({
  modelVersion: 'physical-9',
  candidates: [{ index: 0, content: { role: 'model', parts: [{ text: 'Hello' }] }, ...more }],
});

const UPSTREAMS: readonly Upstreams[] = [
  {
    channel: 'openai',
    usage: {
      ...{ prompt_tokens: 90, completion_tokens: 40, total_tokens: 130 },
      prompt_tokens_details: { cached_tokens: 10 },
      completion_tokens_details: { reasoning_tokens: 4 },
    },
    withOutput: (tokens) => ({ completion_tokens: tokens, total_tokens: 90 + tokens }),
    types: [
      'openai/resources/completions.d.ts',
      ...['CompletionUsage', 'CompletionTokensDetails', 'PromptTokensDetails'],
    ],
    paths: [[], ['completion_tokens_details'], ['prompt_tokens_details']],
    relations: [
      { prompt_tokens_details: { cached_tokens: 91 } },
      { prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 31 } },
      { prompt_tokens_details: { audio_tokens: 91 } },
      { completion_tokens_details: { reasoning_tokens: 41 } },
      { prompt_tokens: 1_000_001 },
    ],
    whole: (usage) => ({
      ...{ id: 'c', object: 'chat.completion', created: 1, model: 'physical-9', usage },
      choices: [
        { index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' },
      ],
    }),
    stream: (usage) => [
      chunk({ role: 'assistant', content: 'Hello' }, null),
      chunk({}, 'stop'),
      { ...chunk({}, null), choices: [], usage },
      '[DONE]',
    ],
  },
  {
    channel: 'anthropic',
    usage: {
      ...{ input_tokens: 80, cache_read_input_tokens: 10, cache_creation_input_tokens: 0 },
      ...{ output_tokens: 40, cache_creation: {}, server_tool_use: {} },
      output_tokens_details: { thinking_tokens: 4 },
    },
    withOutput: (tokens) => ({ output_tokens: tokens }),
    types: [
      '@anthropic-ai/sdk/resources/messages/messages.d.ts',
      ...['MessageDeltaUsage', 'CacheCreation', 'ServerToolUsage', 'OutputTokensDetails'],
    ],
    paths: [[], ['cache_creation'], ['server_tool_use'], ['output_tokens_details']],
    relations: [
      { cache_creation: { ephemeral_1h_input_tokens: 7 } },
      { output_tokens_details: { thinking_tokens: 41 } },
      { input_tokens: 1_000_001 },
    ],
    whole: (usage) => ({
      ...{ id: 'msg_x', type: 'message', role: 'assistant', model: 'physical-9', usage },
      ...{ content: [{ type: 'text', text: 'Hello' }], stop_reason: 'end_turn' },
    }),
    stream: (usage) => [
      {
        type: 'message_start',
        message: {
          ...{ id: 'msg_x', type: 'message', role: 'assistant', model: 'physical-9', usage },
          ...{ content: [], stop_reason: null },
        },
      },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage },
      { type: 'message_stop' },
    ],
  },
  {
    channel: 'openai-responses',
    usage: {
      ...{ input_tokens: 90, output_tokens: 40, total_tokens: 130 },
      input_tokens_details: { cached_tokens: 10, cache_write_tokens_details: {} },
      output_tokens_details: { reasoning_tokens: 4 },
    },
    withOutput: (tokens) => ({ output_tokens: tokens, total_tokens: 90 + tokens }),
    types: [
      'openai/resources/responses/responses.d.ts',
      ...['ResponseUsage', 'InputTokensDetails', 'CacheWriteTokensDetails', 'OutputTokensDetails'],
    ],
    paths: [
      [],
      ['input_tokens_details'],
      ['input_tokens_details', 'cache_write_tokens_details'],
      ['output_tokens_details'],
    ],
    relations: [
      { input_tokens_details: { cached_tokens: 91 } },
      { output_tokens_details: { reasoning_tokens: 41 } },
      { input_tokens: 1_000_001 },
    ],
    whole: (usage) => response('completed', { usage }),
    stream: (usage) => [
      { type: 'response.created', response: response('in_progress', { output: [], usage: null }) },
      { type: 'response.output_item.added', output_index: 0, item: { ...item, content: [] } },
      {
        ...{ type: 'response.content_part.added', item_id: 'msg_x', output_index: 0 },
        ...{ content_index: 0, part: { type: 'output_text', text: '' } },
      },
      { type: 'response.output_text.delta', item_id: 'msg_x', delta: 'Hello' },
      { type: 'response.output_item.done', output_index: 0, item },
      { type: 'response.completed', response: response('completed', { usage }) },
    ],
  },
  {
    channel: 'gemini',
    usage: {
      ...{ promptTokenCount: 90, cachedContentTokenCount: 10, candidatesTokenCount: 36 },
      ...{ thoughtsTokenCount: 4, totalTokenCount: 130 },
      promptTokensDetails: [{ modality: 'TEXT', tokenCount: 90 }],
    },
    withOutput: (tokens) => ({ candidatesTokenCount: tokens - 4, totalTokenCount: 90 + tokens }),
    types: ['@google/genai/dist/genai.d.ts', 'GenerateContentResponseUsageMetadata'],
    paths: [[]],
    relations: [
      { cachedContentTokenCount: 91 },
      { promptTokensDetails: [{ modality: 'AUDIO', tokenCount: 91 }] },
      { promptTokensDetails: [{ modality: 'AUDIO', tokenCount: -1 }] },
      { promptTokenCount: 1_000_001 },
    ],
    whole: (usage) => ({ ...gemini({ finishReason: 'STOP' }), usageMetadata: usage }),
    stream: (usage) => [
      { ...gemini({}), usageMetadata: usage },
      { ...gemini({ finishReason: 'STOP' }), usageMetadata: usage },
    ],
  },
];

/** Returns the names of the fields with a number in a vendor's declaration. */
function countsIn(file: string, declaration: string): string[] {
  const text = readFileSync(`node_modules/${file}`, 'utf8');
  const head = new RegExp(`(interface|class) ${declaration} \\{`).exec(text);
  if (!head) throw new Error(`${file} has no ${declaration}`);
  const block = text.slice(head.index, text.indexOf('}', head.index));
  return [...block.matchAll(/^\s+(\w+)\??: number/gm)].map(([, name]) => String(name));
}

/** Returns the usage with this JSON at a path. */
function withValue(usage: Json, path: readonly string[], json: string): Json {
  const copy = structuredClone(usage);
  let at = copy as Record<string, unknown>;
  for (const name of path.slice(0, -1)) {
    at[name] ??= {};
    at = at[name] as Record<string, unknown>;
  }
  at[path.at(-1) ?? ''] = JSON.parse(json);
  return copy;
}

function cases({ usage, types: [file, ...declarations], paths, relations, withOutput }: Upstreams) {
  const fields = declarations.flatMap((declaration, at) =>
    countsIn(file, declaration).map((name) => [...(paths[at] ?? []), name]),
  );
  expect(fields.length).toBeGreaterThan(5);
  return [
    ...fields
      .flatMap((path) =>
        NONSENSE.map((value) => ({ name: `${path.join('.')} = ${value}`, path, value })),
      )
      .map(({ name, path, value }) => ({ name, usage: withValue(usage, path, value) })),
    ...[...relations, withOutput(10_001)].map((more) => ({
      name: JSON.stringify(more),
      usage: { ...usage, ...more },
    })),
    { name: 'a text', usage: 'many' },
    { name: 'a number', usage: 7 },
  ];
}

/** A request of at most 50 output tokens in each client protocol. The model produces at most 1,000. */
const BODIES: Record<ClientProtocol, Json> = {
  openai: {
    ...{ model: 'gpt-test', max_tokens: 50, stream_options: { include_usage: true } },
    messages: [{ role: 'user', content: 'Hi' }],
  },
  anthropic: { model: 'gpt-test', max_tokens: 50, messages: [{ role: 'user', content: 'Hi' }] },
  responses: { model: 'gpt-test', max_output_tokens: 50, input: 'Hi' },
  gemini: {
    contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
    generationConfig: { maxOutputTokens: 50 },
  },
};

/** Reads the usage that a client of the protocol sees, in a whole answer or in one event. */
const READERS: Record<ClientProtocol, (answer: Json, before: unknown) => unknown> = {
  openai: ({ usage }, before) => usage ?? before,
  anthropic: ({ usage, message }, before) => usage ?? (message as Json)?.['usage'] ?? before,
  responses: ({ usage, response: inner }, before) => usage ?? (inner as Json)?.['usage'] ?? before,
  gemini: ({ usageMetadata }, before) => usageMetadata ?? before,
};
const USAGES: Record<ClientProtocol, (usage: unknown) => UsageReport> = {
  openai: openaiUsage,
  anthropic: (usage) => anthropicUsage(usage, null),
  responses: responsesUsage,
  gemini: geminiUsage,
};

const sse = (events: readonly (object | string)[]) =>
  events.map((each) => {
    const name = typeof each === 'object' && 'type' in each ? `event: ${each.type}\n` : '';
    return `${name}data: ${typeof each === 'string' ? each : JSON.stringify(each)}\n\n`;
  });

const PAIRS = CLIENT_PROTOCOLS.flatMap((client) =>
  UPSTREAMS.map((each) => [client, each.channel, each] as const),
);

describe.each(PAIRS)('P12: a client of %s, and an upstream of %s', (client, channel, form) => {
  const protocol = protocolFor(client, channel);
  const all = cases(form);

  test('the valid report is used as it is', async () => {
    upstream.answer = () => Response.json(form.whole(form.usage));
    const answer = await protocol.complete(callOf(upstream.url, BODIES[client]));
    expect(answer.usage).toMatchObject({
      ...{ input_tokens: 80, cached_input_tokens: 10, output_tokens: 40 },
    });
    expect([answer.withUsage, answer.has_impossible_usage]).toEqual([undefined, undefined]);
  });

  test('P17: a report above the limit of the request is used', async () => {
    // The model may ignore the limit, and the provider bills what it produced.
    upstream.answer = () => Response.json(form.whole({ ...form.usage, ...form.withOutput(9_999) }));
    const answer = await protocol.complete(callOf(upstream.url, BODIES[client]));
    expect(answer.usage?.output_tokens).toBe(9_999);
  });

  test(`${all.length} impossible reports in a whole answer`, async () => {
    for (const { name, usage } of all) {
      upstream.answer = () => Response.json(form.whole(usage));
      const answer = await protocol.complete(callOf(upstream.url, BODIES[client]));
      const { usage: used, has_impossible_usage } = answer;
      expect({ name, used, has_impossible_usage }).toEqual({
        ...{ name, used: null, has_impossible_usage: true },
      });
      const shown = JSON.parse(answer.withUsage?.(OWN) ?? '{}') as Json;
      const seen = USAGES[client](READERS[client](shown, null));
      expect({ name, seen }).toMatchObject({ name, seen: OWN });
      expect(answer.produced()).toBe('Hello');
    }
  });

  test(`${all.length} impossible reports in a stream`, async () => {
    for (const { name, usage } of all) {
      upstream.answer = () => streamed([sse(form.stream(usage)).join('')]);
      const body = { ...BODIES[client], stream: true };
      const stream = await protocol.stream(callOf(upstream.url, body));
      let text = '';
      for await (const batch of stream.events) {
        for (const event of batch) text += event.withUsage ? event.withUsage(OWN) : event.text;
      }
      expect({ name, used: stream.usage() }).toEqual({ name, used: null });
      expect(stream.hasImpossibleUsage()).toBe(true);
      const events = [...text.matchAll(/^data: (\{.*)$/gm)].map(
        ([, json]) => JSON.parse(String(json)) as Json,
      );
      for (const event of events) {
        const seen = USAGES[client](READERS[client](event, null));
        if (client === 'anthropic' && seen !== null && seen !== 'impossible') continue;
        expect({ name, event, seen: seen ?? OWN }).toMatchObject({ seen: OWN });
      }
      const last = events.reduce<unknown>((before, event) => READERS[client](event, before), null);
      expect({ name, last: USAGES[client](last) }).toMatchObject({ name, last: OWN });
    }
  });
});
