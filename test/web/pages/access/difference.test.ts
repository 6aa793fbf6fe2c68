/** What a line of the audit log changed, and the bounds of a setting in words. */
import { expect, test } from 'bun:test';
import { differences } from '../../../../web/pages/access/audit/difference.ts';
import { boundsOf, wordsOf } from '../../../../web/pages/access/settings/bounds.ts';

test('a change has the members that differ, and knows none from not there', () => {
  expect(
    differences({ cap: null, tags: ['a'], same: 1 }, { cap: 5, tags: [], same: 1, name: 'x' }),
  ).toEqual([
    { name: 'cap', before: 'none', after: '5' },
    { name: 'tags', before: 'a', after: 'none' },
    { name: 'name', before: undefined, after: 'x' },
  ]);
  expect(differences(null, null)).toEqual([]);
});

test('bounds are said in words', () => {
  expect(boundsOf({ type: 'boolean' })).toBe('On or off.');
  expect(boundsOf({ type: 'integer', minimum: 1, maximum: 9 })).toBe('From 1 to 9.');
  expect(boundsOf({ type: 'string', maxLength: 9 })).toBe('At most 9 characters.');
  expect(boundsOf({ anyOf: [{ const: 'a' }, { const: 'b' }] })).toBe('One of a, b.');
  expect([true, false, null, 3].map(wordsOf)).toEqual(['on', 'off', 'none', '3']);
});

test('objects are JSON, also in lists', () => {
  const limits = [{ concurrent_calls: 20 }, { model: 'gpt-4o' }];
  expect(differences({ limits: null }, { limits })).toEqual([
    { name: 'limits', before: 'none', after: '{"concurrent_calls":20}, {"model":"gpt-4o"}' },
  ]);
});
