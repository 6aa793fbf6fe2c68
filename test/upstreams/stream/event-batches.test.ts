import { describe, expect, test } from 'bun:test';
import { createParser } from 'eventsource-parser';
import { ChatStream } from '../../../src/upstreams/chat/openai-stream.ts';
import type { StreamEvent } from '../../../src/upstreams/contract.ts';
import { EventBatches, type StreamProtocol } from '../../../src/upstreams/stream/event-batches.ts';
import { fc } from '../../support/property.ts';
import { callOf } from '../upstream.ts';

/** The bytes of a text, cut at these positions. */
function cutAt(text: string, positions: number[]): Uint8Array[] {
  const bytes = new TextEncoder().encode(text);
  const within = positions.map((at) => at % (bytes.length + 1)).sort((a, b) => a - b);
  const cuts = [0, ...within, bytes.length];
  return cuts.slice(1).map((to, index) => bytes.slice(cuts[index], to));
}

function batchesOf(dialect: StreamProtocol, pieces: Uint8Array[]): StreamEvent[] {
  const events = new EventBatches(dialect);
  const results = pieces.map((piece) => events.feed(piece));
  const all = [...results, events.end()];
  expect(all.map(({ error }) => error).filter(Boolean)).toEqual([]);
  return all.flatMap(({ batch }) => batch);
}

describe('EventBatches', () => {
  const line = fc.oneof(
    fc.constantFrom(
      'data: a',
      'data:b',
      'data:  c',
      'data: ',
      'data',
      'event: e',
      'event: ',
      'event:f',
    ),
    fc.constantFrom(
      'id: 1',
      ': comment',
      'retry: 5',
      '',
      '',
      '',
      '\ufeff',
      'data: é',
      'data: "\ufeff',
    ),
    fc.string(),
  );
  const stream = fc.array(fc.tuple(line, fc.constantFrom('\n', '\n', '\n', '\r\n', '\r')), {
    maxLength: 40,
  });

  test('returns the events of the eventsource-parser library wherever the bytes are cut', () => {
    fc.assert(
      fc.property(stream, fc.array(fc.nat(), { maxLength: 6 }), (lines, positions) => {
        const text = lines.flat().join('');
        const actual: string[] = [];
        const dialect: StreamProtocol = {
          take: ({ event, data }) => {
            actual.push(JSON.stringify([event, data]));
            return undefined;
          },
          hasEnded: () => false,
          atEnd: () => [],
        };
        const expected: string[] = [];
        const parser = createParser({
          onEvent: ({ event, data }) => expected.push(JSON.stringify([event, data])),
        });
        parser.feed(`${text}\n\n`);
        batchesOf(dialect, cutAt(text, positions));
        expect(actual).toEqual(expected);
      }),
      {
        numRuns: 5_000,
        examples: [
          ['data: a', '', '\ufeffdata: x', ''],
          ['event: ', 'data: a', ''],
        ].map(
          (lines) =>
            [lines.map((each) => [each, '\n'] as [string, string]), []] as [
              [string, string][],
              number[],
            ],
        ),
      },
    );
  });

  const frame = (delta: object, more: object = {}) =>
    `data: ${JSON.stringify({
      ...{ id: 'theirs', object: 'chat.completion.chunk', created: 7, model: 'physical-9' },
      choices: [{ index: 0, delta, finish_reason: null, ...more }],
    })}`;
  const anyText = fc.oneof(
    fc.string(),
    fc.constantFrom('word', ' word', '"', '\\', '\n', 'data: {', '"}}]}', 'é', '\ud83d\ude00', ''),
  );
  const event = fc.oneof(
    { weight: 8, arbitrary: anyText.map((content) => frame({ content })) },
    { weight: 1, arbitrary: anyText.map((reasoning_content) => frame({ reasoning_content })) },
    { weight: 1, arbitrary: fc.constant(': keep-alive') },
    { weight: 1, arbitrary: anyText.map((content) => frame({ content, tool_calls: [] })) },
  );
  const ending = [frame({}, { finish_reason: 'stop' }), 'data: [DONE]'];

  test('returns the same text with and without merging deltas', () => {
    const blank = fc.constantFrom('\n\n', '\n\n', '\n\n', '\r\n\r\n', '\n\n\n');
    fc.assert(
      fc.property(
        fc.array(fc.tuple(event, blank), { maxLength: 30 }),
        fc.array(fc.nat(), { maxLength: 5 }),
        (events, positions) => {
          const text = [...events.flat(), ...ending.map((each) => `${each}\n\n`)].join('');
          const call = callOf('http://upstream', { stream: true });
          const merged = batchesOf(new ChatStream(call), cutAt(text, positions));
          const dialect = new ChatStream(call);
          const single: StreamEvent[] = [];
          const parser = createParser({
            onEvent: (message) => {
              const event = dialect.take(message);
              if (event) single.push(event);
            },
          });
          parser.feed(text);
          for (const part of ['text', 'produced'] as const) {
            expect(merged.map((event) => event[part]).join('')).toBe(
              single.map((event) => event[part]).join(''),
            );
          }
          expect(merged.filter(({ final }) => final)).toEqual(single.filter(({ final }) => final));
        },
      ),
      { numRuns: 2_000 },
    );
  });

  test('merges the deltas of a read into one event after the first delta was learned', () => {
    const words = Array.from({ length: 100 }, (_, n) => `${frame({ content: `word${n}` })}\n\n`);
    const call = callOf('http://upstream', { stream: true });
    const [first, rest, ...others] = batchesOf(new ChatStream(call), [
      ...cutAt(words.join(''), []),
      ...cutAt(ending.map((each) => `${each}\n\n`).join(''), []),
    ]);
    expect([first?.produced, rest?.produced.slice(0, 10), others.length]).toEqual([
      ...['word0', 'word1word2'],
      2,
    ]);
  });
});
