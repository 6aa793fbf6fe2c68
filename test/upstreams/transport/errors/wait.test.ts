/** The wait in the words of an error is read in every form that providers write. */
import { expect, test } from 'bun:test';
import { readWaitMs } from '../../../../src/upstreams/transport/errors/wait.ts';
import { fc } from '../../../support/property.ts';

const waitIn = (message: string) =>
  readWaitMs(new Headers(), {
    ...{ message, words: message, codes: [], param: null },
    ...{ retry_after_ms: undefined, details: undefined },
  });

const UNITS = [
  { ms: 1, names: ['ms', ' ms', ' milliseconds'] },
  { ms: 1_000, names: ['s', ' s', ' sec', ' second', ' seconds'] },
  { ms: 60_000, names: ['m', ' min', ' minute', ' minutes'] },
  { ms: 3_600_000, names: ['h', ' hour', ' hours'] },
  { ms: 86_400_000, names: ['d', ' day', ' days'] },
];
const part = fc
  .tuple(fc.integer({ min: 1, max: 999 }), fc.constantFrom(...UNITS))
  .chain(([count, { ms, names }]) =>
    fc.constantFrom(...names).map((name) => ({ text: `${count}${name}`, ms: count * ms })),
  );

test('P19: the wait is read in all units, alone and added up', () => {
  fc.assert(
    fc.property(
      fc.constantFrom('Please try again in ', 'Please retry after ', 'Please retry in '),
      fc.array(part, { minLength: 1, maxLength: 3 }),
      fc.constantFrom(' ', ', ', ' and '),
      fc.constantFrom('.', '. Visit https://vendor.example.', ' for more', ''),
      (before, parts, between, after) => {
        const text = parts.map((each) => each.text).join(between);
        const wait_ms = parts.reduce((sum, { ms }) => sum + ms, 0);
        expect(waitIn(`${before}${text}${after}`)).toBe(wait_ms);
      },
    ),
    { numRuns: 1_000 },
  );
});

test.each([
  ['Please try again in 7m12.5s.', 432_500],
  ['Please retry in 40.025771073s.', 40_026],
  ['Please retry after 20 seconds. For improved latency, pay more.', 20_000],
  ['Try again in a few minutes.', undefined],
  ['Retry in 3 model calls.', undefined],
  ['Please try again later.', undefined],
  ['Limit 30000, Used 28039.', undefined],
])('P19: the wait in %j is %p', (message, wait_ms) => {
  expect(waitIn(message)).toBe(wait_ms);
});
