/** What runs once more after a run of all tests, and what then counts. */
import { expect, test } from 'bun:test';
import { runFailedAgain } from './again.ts';
import type { Failure } from './failures.ts';
import type { Outcome } from './steps.ts';

const failure = (file: string, name: string, why = 'Error: too late'): Failure => ({
  ...{ what: `${file}: ${name}`, file, why },
});
const ended = (passed: number, ...failures: Failure[]): Outcome => ({
  ...{ passed, failed: failures.length, skipped: 1, failures },
});

/** Runs the failed files again, with an outcome that is given. */
async function again(first: Outcome, second: Outcome = ended(0)) {
  const asked: string[] = [];
  const outcome = await runFailedAgain(first, async (files) => {
    asked.push(...files);
    return second;
  });
  return { outcome, asked };
}

const a = failure('test/a.test.ts', 'one');
const b = failure('test/b.test.ts', 'two');

test('a test that passes alone has passed, and is named', async () => {
  const { outcome, asked } = await again(ended(10, a, b), ended(7, b));
  expect(asked).toEqual(['test/a.test.ts', 'test/b.test.ts']);
  expect(outcome).toEqual({ passed: 11, failed: 1, skipped: 1, failures: [b], unsteady: [a] });
});

test('a file runs once, however many of its tests failed', async () => {
  const { outcome, asked } = await again(ended(10, a, failure('test/a.test.ts', 'three')));
  expect(asked).toEqual(['test/a.test.ts']);
  expect(outcome).toMatchObject({ passed: 12, failed: 0, failures: [] });
});

test('another test that fails alone has failed', async () => {
  const other = failure('test/a.test.ts', 'another');
  const { outcome } = await again(ended(10, a), ended(7, other));
  expect(outcome).toMatchObject({ failed: 1, failures: [other], unsteady: [a] });
});

const six = Array.from({ length: 6 }, (_, at) => failure(`test/${at}.test.ts`, 'one'));
test.each([
  ['nothing failed', ended(10)],
  [
    'a property was refuted',
    ended(10, a, failure('test/b.test.ts', 'p', 'Error: Property failed after 1 tests')),
  ],
  [
    'something failed outside of a test',
    ended(10, { what: 'test/a.test.ts: outside of a test', why: '' }),
  ],
  ['failures are not known by name', { ...ended(10, a), failed: 2 }],
  ['many files failed', ended(10, ...six)],
])('nothing runs again if %s', async (_, first) => {
  const { outcome, asked } = await again(first, ended(1));
  expect(asked).toEqual([]);
  expect(outcome).toBe(first);
});
