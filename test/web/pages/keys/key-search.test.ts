/** How keys are found and ordered. */
import { expect, test } from 'bun:test';
import type { ApiKey } from '../../../../web/api/types.ts';
import { foundKeys, keysSearchOf } from '../../../../web/pages/keys/key-search.ts';

const key = (id: string, more: Partial<ApiKey>): ApiKey => ({
  ...{ id, key_prefix: `sk-${id}…`, name: id, status: 'active', limit_amount: null },
  ...{ models: [], tags: [], external_id: null, requests_per_minute: null },
  cap_counts: 'charged',
  limits: [],
  call_tags: {},
  ...{ default_timeout_ms: null, default_image_response_format: null, expires_at: null },
  ...{ used_amount: 0, held_amount: 0, last_used_at: null, created_at: '2026-01-01T00:00:00.000Z' },
  ...more,
});

const KEYS = [
  key('a', { name: 'Shop', limit_amount: 5, used_amount: 4 }),
  key('b', { name: 'متجر', used_amount: 9, created_at: '2026-02-01T00:00:00.000Z' }),
  key('c', { tags: ['Night'], external_id: 'crm-7', limit_amount: 1 }),
];
const ids = (...search: Parameters<typeof foundKeys>) => foundKeys(...search).map(({ id }) => id);

test('a key is found by its name, prefix, tag and external id, in any case', () => {
  expect(ids(KEYS, 'SHOP')).toEqual(['a']);
  expect(ids(KEYS, 'متجر')).toEqual(['b']);
  expect(ids(KEYS, 'night')).toEqual(['c']);
  expect(ids(KEYS, 'crm')).toEqual(['c']);
  expect(ids(KEYS, 'sk-')).toHaveLength(3);
});

test('keys are ordered; keys without a cap have the most left', () => {
  expect(ids(KEYS, '')).toEqual(['b', 'c', 'a']);
  expect(ids(KEYS, '', 'spent')).toEqual(['b', 'a', 'c']);
  expect(ids(KEYS, '', 'left')).toEqual(['c', 'a', 'b']);
});

test('an address with anything else is the list of all keys', () => {
  expect(keysSearchOf({ status: 'none', sort: 'x', q: 7, create: 'true', tag: '' })).toEqual({
    ...{ create: true, q: '7' },
  });
});
