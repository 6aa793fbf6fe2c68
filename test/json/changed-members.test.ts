import { expect, test } from 'bun:test';
import { changedMembers } from '../../src/json/changed-members.ts';

test('changedMembers returns the members that differ, before and after', () => {
  const before = { name: 'a', models: ['x'], limit: null, expires_at: '2030', gone: 1 };
  const after = { name: 'b', models: ['x'], limit: 0, expires_at: '2030', added: false };
  expect(changedMembers(before, after)).toEqual({
    before: { name: 'a', limit: null, gone: 1, added: null },
    after: { name: 'b', limit: 0, gone: null, added: false },
  });
});

test('changedMembers returns undefined for equal states, also with another order of members', () => {
  const nested = { a: { x: 1, y: [1, 2] }, b: null };
  expect(changedMembers(nested, { b: null, a: { y: [1, 2], x: 1 } })).toBeUndefined();
  expect(changedMembers({ a: null }, {})).toBeUndefined();
});

test('changedMembers treats the names of an object’s own methods as members', () => {
  const parsed = JSON.parse('{"__proto__": 1, "constructor": 2}') as object;
  expect(changedMembers({}, parsed)?.after['constructor']).toBe(2);
});
