/** The parts of a call's time, as the page of a request draws them. */
import { expect, test } from 'bun:test';
import { spansOf } from '../../web/pages/usage/request/spans.ts';

const shown = (timeline: Parameters<typeof spansOf>[0]) =>
  spansOf(timeline).map(({ name, from_ms, until_ms }) => [name, from_ms, until_ms]);

test('a stream is followed from its arrival to its charge', () => {
  expect(
    shown([
      { stage: 'arrived', at_ms: 0 },
      { stage: 'authenticated', at_ms: 0.2 },
      { stage: 'reserved', at_ms: 1 },
      { stage: 'attempt_1', at_ms: 1.5 },
      { stage: 'first_token', at_ms: 80 },
      { stage: 'ended', at_ms: 400 },
      { stage: 'settled', at_ms: 402 },
    ]),
  ).toEqual([
    ['Authenticate', 0, 0.2],
    ['Reserve money', 0.2, 1],
    ['Choose a channel', 1, 1.5],
    ['Attempt 1', 1.5, 400],
    ['First token', 1.5, 80],
    ['Answer', 80, 400],
    ['Settle', 400, 402],
  ]);
});

test('an attempt that failed ends where it failed, with its reason', () => {
  const spans = spansOf([
    { stage: 'arrived', at_ms: 0 },
    { stage: 'authenticated', at_ms: 1 },
    { stage: 'reserved', at_ms: 2 },
    { stage: 'attempt_1', at_ms: 3, until_ms: 30, result: 'server' },
    { stage: 'attempt_2', at_ms: 31, until_ms: null, result: null },
    { stage: 'ended', at_ms: 90 },
  ]);
  expect(spans.slice(3)).toEqual([
    { name: 'Attempt 1', from_ms: 3, until_ms: 30, kind: 'attempt', failure: 'server' },
    { name: 'Attempt 2', from_ms: 31, until_ms: 90, kind: 'attempt', failure: undefined },
  ]);
});

test('a call that was refused at the door has only its end', () => {
  expect(
    shown([
      { stage: 'arrived', at_ms: 0 },
      { stage: 'authenticated', at_ms: 0.3 },
      { stage: 'ended', at_ms: 2 },
    ]),
  ).toEqual([
    ['Authenticate', 0, 0.3],
    ['Answer', 0.3, 2],
  ]);
});
