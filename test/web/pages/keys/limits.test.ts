/** What the form of a key's limits shows and sends. */
import { expect, test } from 'bun:test';
import {
  limitsOf,
  limitsWords,
  NEW_LIMIT,
  paramOf,
  rowsOf,
} from '../../../../web/pages/keys/limits.ts';

const LIMITS = [
  {
    ...{ model: null, requests_per_minute: 600, tokens_per_minute: null, concurrent_calls: 20 },
    when_reached: 'warn' as const,
  },
  {
    ...{ model: 'gpt-4o', requests_per_minute: null, tokens_per_minute: 1000 },
    ...{ concurrent_calls: null, when_reached: 'refuse' as const },
  },
];

test('limits come back as they were, also with members that the form does not know', () => {
  const limits = LIMITS.map((limit) => ({ ...limit, when: 'later' }));
  expect(limitsOf(rowsOf(limits))).toEqual(limits);
});

test('a row without a number is left out, and errors name the row as it was sent', () => {
  const rows = [NEW_LIMIT, ...rowsOf(LIMITS)];
  expect(limitsOf(rows)).toEqual(LIMITS);
  expect(paramOf(rows, 1, 'model')).toBe('limits.0.model');
});

test('limits have words; what is no number is sent as it is', () => {
  expect(limitsWords(rowsOf(LIMITS))).toBe(
    'All models: 600 requests a minute, 20 calls at a time, then calls are served with a warning; gpt-4o: 1,000 tokens a minute',
  );
  expect(limitsOf([{ ...NEW_LIMIT, calls: 'many' }])).toMatchObject([{ concurrent_calls: 'many' }]);
});
