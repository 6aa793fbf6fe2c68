import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { MessageStream } from '../../../src/upstreams/chat/anthropic-stream.ts';
import { ChatStream } from '../../../src/upstreams/chat/openai-stream.ts';
import type { StreamEvent, UpstreamCall } from '../../../src/upstreams/contract.ts';
import { DeltaTemplates } from '../../../src/upstreams/stream/delta-template.ts';

const call = {
  target: { channel_id: 'c', base_url: 'http://upstream', api_key: 'k', timeout_ms: 1 },
  physical_model: 'physical',
  public_model: 'public',
  answer_id: 'answer',
  body_text: '{}',
  body: {},
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

interface Taker {
  take(event: never): StreamEvent | undefined;
}

/** The same events with templates and without. */
function bothWays(events: Sent[], dialect: () => Taker) {
  const plain = dialect();
  const inner = dialect();
  const templates = new DeltaTemplates({ take: (event) => inner.take(event as never) });
  return {
    plain: events.map((event) => plain.take(event as never)),
    templated: events.map((event) => templates.take(event as never)),
  };
}

/** Words of a model, and what is meant to be mistaken for the frame around them. */
const said = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom('"', '\\', '\n', '\u0001', 'content', 'physical', 'answer', '","x":"', 'usage'),
  fc.constantFrom('template probe', '', ' ', 'null}]', '{"model":"physical"}'),
);

describe('the deltas of a stream', () => {
  test('are the same through a template as read whole, whatever OpenAI’s say', () => {
    const event = fc.oneof(
      { weight: 8, arbitrary: said.map((content) => chunk({ content })) },
      said.map((content) => chunk({ role: 'assistant', content })),
      said.map((content) => chunk({ content }, { index: 1 })),
      said.map((content) => chunk({ content }, { finish_reason: 'stop' })),
      said.map((content) => chunk({ content }, {}, { obfuscation: content })),
      said.map((content) => chunk({ content }, { logprobs: { content: [{ token: content }] } })),
      said.map((args) => chunk({ tool_calls: [{ index: 0, function: { arguments: args } }] })),
    );
    fc.assert(
      fc.property(fc.array(event, { maxLength: 12 }), (events) => {
        const { plain, templated } = bothWays(events, () => new ChatStream(call));
        expect(templated).toEqual(plain);
      }),
      { numRuns: 2_000 },
    );
  });

  test('are the same through a template as read whole, whatever Anthropic’s say', () => {
    const event = fc.oneof(
      { weight: 8, arbitrary: said.map(textDelta) },
      said.map((text) => ({ ...textDelta(text), event: 'another_name' })),
      fc.constant({
        event: 'message_delta',
        data: '{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":3}}',
      }),
    );
    fc.assert(
      fc.property(fc.array(event, { maxLength: 12 }), (events) => {
        const { plain, templated } = bothWays(events, () => new MessageStream(call));
        expect(templated).toEqual(plain);
      }),
      { numRuns: 2_000 },
    );
  });

  test('are read whole only until one of their kind was understood', () => {
    let whole = 0;
    const dialect = new ChatStream(call);
    const templates = new DeltaTemplates({
      take(event) {
        whole += 1;
        return dialect.take(event);
      },
    });
    for (let n = 0; n < 100; n += 1) {
      const taken = templates.take(chunk({ content: `word${n}` }) as never);
      expect(taken).toMatchObject({ produced: `word${n}`, final: false });
    }
    // The first, and the proof that another one would come out the same.
    expect(whole).toBe(2);
  });
});
