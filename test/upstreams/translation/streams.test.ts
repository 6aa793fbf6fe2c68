/**
 * Sends difficult streams through every pair of protocols. The streams are cut anywhere, contain
 * comments and pings, or have very long arguments.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { chunkOf } from '../../../simulator/bedrock/frames.ts';
import type { ChatProtocol, ClientProtocol } from '../../../src/protocols/names.ts';
import { protocolFor } from '../../../src/upstreams/chat/protocols.ts';
import type { RequestProtocol } from '../../../src/upstreams/translation/translate.ts';
import { fc } from '../../support/property.ts';
import { callOf, startUpstream, streamed, type Upstream } from '../upstream.ts';
import { CLIENTS, contentOf, PAIRS, readStreamed } from './clients.ts';

setDefaultTimeout(60_000);

let upstream: Upstream;
beforeAll(() => {
  upstream = startUpstream();
});
afterAll(() => upstream.stop());

const TEXT = 'Grüße, 世界 👋🏽 — naïve';
const REASONING = 'Überlegung 🤔';

const sse = (events: (object | string)[], named = false) =>
  events.map((event) => {
    const data = typeof event === 'string' ? event : JSON.stringify(event);
    const name = named ? `event: ${(event as { type: string }).type}\n` : '';
    return `${name}data: ${data}\n\n`;
  });

/** The events of an answer: a text in deltas, then two calls with arguments in deltas. */
function eventsOf(form: RequestProtocol, args: string): string[] {
  const letters = [...TEXT];
  const pieces = args.match(/[\s\S]{1,5000}/gu) ?? [];
  if (form === 'openai') {
    const chunk = (delta: object, finish_reason: string | null = null) => ({
      ...{ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'physical-9' },
      choices: [{ index: 0, delta, finish_reason }],
    });
    const call = (index: number) => [
      chunk({
        tool_calls: [
          { index, id: `call_${index}`, type: 'function', function: { name: 'w', arguments: '' } },
        ],
      }),
      ...pieces.map((piece) => chunk({ tool_calls: [{ index, function: { arguments: piece } }] })),
    ];
    const usage = { prompt_tokens: 3, completion_tokens: 5, total_tokens: 8 };
    return sse([
      chunk({ role: 'assistant', content: '' }),
      ...letters.map((content) => chunk({ content })),
      ...[...call(0), ...call(1), chunk({}, 'tool_calls')],
      { ...chunk({}), choices: [], usage },
      '[DONE]',
    ]);
  }
  if (form === 'anthropic') {
    const delta = (index: number, each: object) => ({
      ...{ type: 'content_block_delta', index, delta: each },
    });
    const call = (index: number) => [
      {
        ...{ type: 'content_block_start', index },
        content_block: { type: 'tool_use', id: `toolu_${index}`, name: 'w', input: {} },
      },
      ...pieces.map((piece) => delta(index, { type: 'input_json_delta', partial_json: piece })),
      { type: 'content_block_stop', index },
    ];
    const message = {
      ...{ id: 'm', type: 'message', role: 'assistant', model: 'physical-9', content: [] },
      ...{ stop_reason: null, usage: { input_tokens: 3, output_tokens: 1 } },
    };
    return sse(
      [
        { type: 'message_start', message },
        {
          type: 'content_block_start',
          index: 0,
          content_block: { type: 'thinking', thinking: '', signature: '' },
        },
        ...[...REASONING].map((thinking) => delta(0, { type: 'thinking_delta', thinking })),
        delta(0, { type: 'signature_delta', signature: 'c2ln' }),
        { type: 'content_block_stop', index: 0 },
        { type: 'content_block_start', index: 1, content_block: { type: 'text', text: '' } },
        ...letters.map((text) => delta(1, { type: 'text_delta', text })),
        ...[{ type: 'content_block_stop', index: 1 }, ...call(2), ...call(3)],
        { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 5 } },
        { type: 'message_stop' },
      ],
      true,
    );
  }
  if (form === 'responses') {
    const response = { id: 'r', object: 'response', model: 'physical-9', status: 'in_progress' };
    const call = (index: number) => {
      const item = {
        type: 'function_call',
        id: `fc_${index}`,
        call_id: `call_${index}`,
        name: 'w',
      };
      const at = { item_id: item.id, output_index: index };
      const added = { ...item, arguments: '' };
      return [
        { type: 'response.output_item.added', output_index: index, item: added },
        ...pieces.map((delta) => ({
          type: 'response.function_call_arguments.delta',
          ...at,
          delta,
        })),
        { type: 'response.function_call_arguments.done', ...at, arguments: args },
        {
          type: 'response.output_item.done',
          output_index: index,
          item: { ...item, arguments: args },
        },
      ];
    };
    const at = { item_id: 'msg_0', output_index: 0, content_index: 0 };
    const part = { type: 'output_text', text: TEXT, annotations: [] };
    const message = { type: 'message', id: 'msg_0', role: 'assistant' };
    const output = [
      { ...message, content: [part] },
      ...[1, 2].map((index) => ({
        ...{ type: 'function_call', id: `fc_${index}`, call_id: `call_${index}` },
        ...{ name: 'w', arguments: args },
      })),
    ];
    const usage = { input_tokens: 3, output_tokens: 5, total_tokens: 8 };
    const events = [
      { type: 'response.created', response },
      { type: 'response.in_progress', response },
      { type: 'response.output_item.added', output_index: 0, item: { ...message, content: [] } },
      { type: 'response.content_part.added', ...at, part: { ...part, text: '' } },
      ...letters.map((delta) => ({ type: 'response.output_text.delta', ...at, delta })),
      { type: 'response.output_text.done', ...at, text: TEXT },
      { type: 'response.content_part.done', ...at, part },
      { type: 'response.output_item.done', output_index: 0, item: output[0] },
      ...[...call(1), ...call(2)],
      { type: 'response.completed', response: { ...response, status: 'completed', output, usage } },
    ];
    return sse(
      events.map((event, sequence_number) => ({ ...event, sequence_number })),
      true,
    );
  }
  const parts = (...each: object[]) => ({
    ...{ candidates: [{ content: { role: 'model', parts: each }, index: 0 }] },
    modelVersion: 'physical-9',
  });
  const call = { functionCall: { name: 'w', args: JSON.parse(args) } };
  const usageMetadata = { promptTokenCount: 3, candidatesTokenCount: 5, totalTokenCount: 8 };
  return sse([
    ...letters.map((text) => parts({ text })),
    parts(call),
    {
      ...parts(call),
      candidates: [{ content: { parts: [call] }, finishReason: 'STOP', index: 0 }],
      usageMetadata,
    },
  ]);
}

const FORMS: Record<ChatProtocol, RequestProtocol> = {
  ...{ openai: 'openai', 'openai-responses': 'responses', 'azure-openai': 'openai' },
  ...{ anthropic: 'anthropic', bedrock: 'anthropic', gemini: 'gemini', vertex: 'gemini' },
};
const ARGS = JSON.stringify({ city: 'Zürich 🏔', days: [1, 2] });

async function streamThrough(client: ClientProtocol, name: ChatProtocol, members: object = {}) {
  const request = {
    ...{ system: [], turns: [{ role: 'user', parts: [{ type: 'text', text: 'Hello' }] }] },
    ...{
      tools: [{ name: 'w', parameters: { type: 'object' } }],
      stop: [],
      stream: true,
      ...members,
    },
  };
  const body = { model: 'gpt-test', ...CLIENTS[client].write(request as never), stream: true };
  const call = callOf(upstream.url, body, { model_max_output_tokens: 32_000 });
  return readStreamed(client, await protocolFor(client, name).stream(call));
}

/** The bytes of events as an upstream sends them. Bedrock sends an AWS event stream. */
function bytesOf(name: ChatProtocol, events: readonly string[]): Uint8Array {
  if (name !== 'bedrock') return new TextEncoder().encode(events.join(''));
  const data = events.flatMap((each) => /^data: (.*)$/m.exec(each)?.[1] ?? []);
  return Buffer.concat(data.map((each) => chunkOf(JSON.parse(each))));
}

function cutAt(bytes: Uint8Array, at: readonly number[]): Uint8Array[] {
  const cuts = [...new Set(at.map((each) => each % bytes.length))].sort((a, b) => a - b);
  return [0, ...cuts].map((from, index) => bytes.slice(from, cuts[index] ?? bytes.length));
}

const expectContent = (form: RequestProtocol, parts: readonly object[]) => {
  const shown = parts.filter((part) => 'text' in part || 'call' in part);
  const call = { call: 'w', arguments: JSON.parse(ARGS) };
  expect(shown).toEqual([{ text: TEXT }, call, call]);
  if (form === 'anthropic') expect(parts.length).toBeLessThanOrEqual(4);
};

describe.each(PAIRS)('a client of %s on an upstream of %s', (client, name) => {
  const events = eventsOf(FORMS[name], ARGS);

  test('reads the same answer wherever the bytes are cut, also inside characters', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat({ max: 100_000 }), { maxLength: 40 }), async (cuts) => {
        upstream.answer = () =>
          streamed(cutAt(bytesOf(name, events), cuts).filter((each) => each.length > 0));
        const read = await streamThrough(client, name);
        expectContent(FORMS[name], contentOf(read.parts));
        expect(read.stop).toBe('calls');
        expect(read.metered).toMatchObject({ output_tokens: 5 });
      }),
      { numRuns: 15 },
    );
  });

  test('reads the same answer with comments and pings between the events', async () => {
    const ping =
      FORMS[name] === 'anthropic' ? 'event: ping\ndata: {"type":"ping"}\n\n' : ': ping\n\n';
    upstream.answer = () =>
      streamed([
        bytesOf(
          name,
          events.flatMap((each) => [each, ': waiting\n\n', ping]),
        ),
      ]);
    expectContent(FORMS[name], contentOf((await streamThrough(client, name)).parts));
  });

  test('reads complete arguments of a megabyte', async () => {
    const long = JSON.stringify({ text: `${'ö"\\ '.repeat(180_000)}` });
    expect(long.length).toBeGreaterThan(1_000_000);
    const bytes = bytesOf(name, eventsOf(FORMS[name], long));
    upstream.answer = () =>
      new Response(bytes, { headers: { 'content-type': 'text/event-stream' } });
    const { parts } = await streamThrough(client, name);
    const calls = parts.filter((part) => part.type === 'call');
    expect(calls).toHaveLength(2);
    for (const call of calls) {
      expect(JSON.parse('arguments' in call ? call.arguments : '')).toEqual(JSON.parse(long));
    }
  });
});

test.each(['openai', 'anthropic', 'responses'] as const)(
  'a client of %s without parallel calls reads one call from Gemini, which always allows several',
  async (client) => {
    upstream.answer = () => streamed(eventsOf('gemini', ARGS));
    const { parts } = await streamThrough(client, 'gemini', { parallel_calls: false });
    expect(parts.filter(({ type }) => type === 'call')).toHaveLength(1);
  },
);
