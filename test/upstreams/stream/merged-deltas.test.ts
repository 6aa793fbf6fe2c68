/** The cache keeps several deltas as one. Both make the same answer, or a stored answer would be another one. */
import { expect, test } from 'bun:test';
import { OutgoingEvents } from '../../../src/inference/streaming/outgoing-events.ts';
import type { ClientProtocol } from '../../../src/protocols/names.ts';
import { MessageStream } from '../../../src/upstreams/chat/anthropic-stream.ts';
import { ContentStream } from '../../../src/upstreams/chat/gemini.ts';
import { ChatStream } from '../../../src/upstreams/chat/openai-stream.ts';
import type { StreamEvent } from '../../../src/upstreams/contract.ts';
import { REPLAYS } from '../../../src/upstreams/replay/protocols.ts';
import { eventsIn, namedEvent, plainEvent } from '../../../src/upstreams/replay/replay.ts';
import { EventBatches, type StreamProtocol } from '../../../src/upstreams/stream/event-batches.ts';
import { anyText } from '../../support/arbitrary-json.ts';
import { fc } from '../../support/property.ts';
import { callOf } from '../upstream.ts';

/** What a model says, in the pieces of its stream. */
interface Said {
  readonly thoughts: string[];
  readonly texts: string[];
  readonly inputs: string[];
  /** The name of the tool. Some providers repeat it: then no piece of it may be added. */
  readonly names: string[];
}

interface Provider {
  readonly reader: () => StreamProtocol;
  /** Writes the events as the provider sends them. */
  readonly write: (said: Said) => string[];
}

const chunk = (delta: object, finish_reason: string | null = null) =>
  plainEvent({
    ...{ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 7, model: 'm' },
    choices: [{ index: 0, delta, logprobs: null, finish_reason }],
  });
const content = (part: object, more: object = {}) =>
  plainEvent({
    candidates: [{ content: { role: 'model', parts: [part] }, index: 0, ...more }],
    usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 4, totalTokenCount: 7 },
    ...{ modelVersion: 'm', responseId: 'r1' },
  });
const block = (index: number, content_block: object, deltas: readonly object[]) => [
  namedEvent('content_block_start', { index, content_block }),
  ...deltas.map((delta) => namedEvent('content_block_delta', { index, delta })),
  namedEvent('content_block_stop', { index }),
];

const PROVIDERS: Partial<Record<ClientProtocol, Provider>> = {
  openai: {
    reader: () => new ChatStream(callOf('', {})),
    write: ({ thoughts, texts, inputs, names }) => [
      chunk({ role: 'assistant', content: '' }),
      ...thoughts.map((reasoning_content) => chunk({ reasoning_content })),
      ...texts.map((content) => chunk({ content })),
      chunk({
        tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: { name: 'go' } }],
      }),
      ...names.map((name) => chunk({ tool_calls: [{ index: 0, function: { name } }] })),
      ...inputs.map((part) => chunk({ tool_calls: [{ index: 0, function: { arguments: part } }] })),
      chunk({}, 'tool_calls'),
      plainEvent({
        id: 'chatcmpl-1',
        choices: [],
        usage: { prompt_tokens: 3, completion_tokens: 4 },
      }),
      'data: [DONE]\n\n',
    ],
  },
  anthropic: {
    reader: () => new MessageStream(callOf('', {})),
    write: ({ thoughts, texts, inputs }) => [
      namedEvent('message_start', {
        message: {
          ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [] },
          usage: { input_tokens: 3, output_tokens: 1 },
        },
      }),
      ...block(
        0,
        { type: 'thinking', thinking: '', signature: '' },
        thoughts.map((thinking) => ({ type: 'thinking_delta', thinking })),
      ),
      ...block(
        1,
        { type: 'text', text: '' },
        texts.map((text) => ({ type: 'text_delta', text })),
      ),
      ...block(
        2,
        { type: 'tool_use', id: 'toolu_1', name: 'go', input: {} },
        ['{"x":"', ...inputs.map((part) => JSON.stringify(part).slice(1, -1)), '"}'].map(
          (partial_json) => ({ type: 'input_json_delta', partial_json }),
        ),
      ),
      namedEvent('message_delta', {
        delta: { stop_reason: 'tool_use', stop_sequence: null },
        usage: { output_tokens: 4 },
      }),
      namedEvent('message_stop', {}),
    ],
  },
  gemini: {
    reader: () => new ContentStream(callOf('', {})),
    write: ({ thoughts, texts, names }) => [
      ...thoughts.map((text) => content({ text, thought: true })),
      ...texts.map((text) => content({ text })),
      ...names.map((name) => content({ functionCall: { name, args: {} } })),
      content({ text: '' }, { finishReason: 'STOP' }),
    ],
  },
};

const pieces = fc.array(
  fc.oneof(
    anyText.map((text) => text.toWellFormed()),
    fc.constantFrom('word', ' ', 'two words'),
  ),
  { maxLength: 8 },
);
const names = fc.array(fc.constantFrom('go', 'look'), { maxLength: 4 });
const anySaid = fc.record({ thoughts: pieces, texts: pieces, inputs: pieces, names });

test.each(Object.entries(PROVIDERS))(
  'merged deltas of %s make the same answer',
  (name, { reader, write }) => {
    const { assemble } = REPLAYS[name as ClientProtocol];
    let shorter = 0;
    fc.assert(
      fc.property(anySaid, fc.nat({ max: 12 }), (said, cut) => {
        const events = write(said);
        const batches = new EventBatches(reader());
        const sent: StreamEvent[] = [];
        for (const part of [events.slice(0, cut), events.slice(cut)]) {
          const { batch, error } = batches.feed(new TextEncoder().encode(part.join('')));
          if (error) throw error;
          sent.push(...batch);
        }
        const answerOf = (text: (event: StreamEvent) => string) =>
          assemble(eventsIn(sent.map(text).join('')));
        const answer = answerOf(({ text }) => text);
        expect(answer).toBeDefined();
        const shortOf = (event: StreamEvent) => {
          const outgoing = new OutgoingEvents();
          outgoing.add(event.text, event);
          return outgoing.shortForm(event.text).join('');
        };
        expect(answerOf(shortOf)).toEqual(answer);
        const whole = new OutgoingEvents();
        for (const event of sent) whole.add(event.text, event);
        const short = whole.shortForm(`${whole.text}: more`).join('');
        expect(short).toEndWith(': more');
        expect(assemble(eventsIn(short.slice(0, -': more'.length)))).toEqual(answer);
        if (short.length < sent.map(shortOf).join('').length) shorter += 1;
      }),
      { numRuns: 1_000 },
    );
    expect(shorter).toBeGreaterThan(0);
  },
);
