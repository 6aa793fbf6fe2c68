import { describe, expect, test } from 'bun:test';
import { MessageStream } from '../../../src/upstreams/chat/anthropic-stream.ts';
import { ChatStream } from '../../../src/upstreams/chat/openai-stream.ts';
import type { StreamEvent, UpstreamCall } from '../../../src/upstreams/contract.ts';
import { DeltaTemplates } from '../../../src/upstreams/stream/delta-template.ts';
import { fc } from '../../support/property.ts';

const call = {
  target: { channel_id: 'c', base_url: 'http://upstream', api_key: 'k', timeout_ms: 1 },
  physical_model: 'physical',
  public_model: 'public',
  answer_id: 'answer',
  body_text: '{}',
  body: {},
  mostAnswers: () => 1,
  model_context_window: 100_000,
  model_max_output_tokens: 1_000,
  headers: {},
  signal: new AbortController().signal,
} satisfies UpstreamCall;

interface Sent {
  event?: string;
  data: string;
}

const chunk = (delta: object, more: object = {}, rest: object = {}): Sent => ({
  data: JSON.stringify({
    id: 'theirs',
    created: 7,
    model: 'physical',
    choices: [{ index: 0, delta, finish_reason: null, ...more }],
    usage: null,
    ...rest,
  }),
});
const textDelta = (text: string): Sent => ({
  event: 'content_block_delta',
  data: JSON.stringify({
    type: 'content_block_delta',
    index: 0,
    delta: { type: 'text_delta', text },
  }),
});

interface EventReader {
  take(event: never): StreamEvent | undefined;
}

/** Reads the same events with and without templates. */
function readBothWays(events: Sent[], protocol: () => EventReader) {
  const plain = protocol();
  const inner = protocol();
  const templates = new DeltaTemplates({ take: (event) => inner.take(event as never) });
  return {
    plain: events.map((event) => plain.take(event as never)),
    templated: events.map((event) => parsed(templates.read(event as never))),
  };
}

/** Returns an event that matched a template as if it had been parsed. */
function parsed(event: StreamEvent | undefined): StreamEvent | undefined {
  if (!event?.template) return event;
  const { template, ...rest } = event;
  return { ...rest, value: JSON.parse(template.before + event.produced + template.after) };
}

/** Texts of a model. Some of them look like the JSON around them. */
const anyText = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom('"', '\\', '\n', '\u0001', 'content', 'physical', 'answer', '","x":"', 'usage'),
  fc.constantFrom('template probe', '', ' ', 'null}]', '{"model":"physical"}'),
);

describe('DeltaTemplates', () => {
  test('return the same events as the protocol itself for any OpenAI deltas', () => {
    const event = fc.oneof(
      { weight: 8, arbitrary: anyText.map((content) => chunk({ content })) },
      anyText.map((content) => chunk({ role: 'assistant', content })),
      anyText.map((content) => chunk({ content }, { index: 1 })),
      anyText.map((content) => chunk({ content }, { finish_reason: 'stop' })),
      anyText.map((content) => chunk({ content }, {}, { obfuscation: content })),
      anyText.map((content) => chunk({ content }, { logprobs: { content: [{ token: content }] } })),
      anyText.map((args) => chunk({ tool_calls: [{ index: 0, function: { arguments: args } }] })),
    );
    fc.assert(
      fc.property(fc.array(event, { maxLength: 12 }), (events) => {
        const { plain, templated } = readBothWays(events, () => new ChatStream(call));
        expect(templated).toEqual(plain);
      }),
      { numRuns: 2_000 },
    );
  });

  test('return the same events as the protocol itself for any Anthropic deltas', () => {
    const event = fc.oneof(
      { weight: 8, arbitrary: anyText.map(textDelta) },
      anyText.map((text) => ({ ...textDelta(text), event: 'another_name' })),
      fc.constant({
        event: 'message_delta',
        data: '{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":3}}',
      }),
    );
    fc.assert(
      fc.property(fc.array(event, { maxLength: 12 }), (events) => {
        const { plain, templated } = readBothWays(events, () => new MessageStream(call));
        expect(templated).toEqual(plain);
      }),
      { numRuns: 2_000 },
    );
  });

  test('call the protocol only until the first delta of a kind is learned', () => {
    let calls = 0;
    const protocol = new ChatStream(call);
    const templates = new DeltaTemplates({
      take(event) {
        calls += 1;
        return protocol.take(event);
      },
    });
    for (let n = 0; n < 100; n += 1) {
      const event = templates.read(chunk({ content: `word${n}` }) as never);
      expect(event).toMatchObject({ produced: `word${n}`, final: false });
    }
    // One event is the first delta. The other one tests the template with another text.
    expect(calls).toBe(2);
  });
});
