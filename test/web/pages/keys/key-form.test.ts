/** What the form of a key sends, and how it follows the changes of somebody else. */
import { describe, expect, test } from 'bun:test';
import type { ApiKey } from '../../../../web/api/types.ts';
import {
  changesOf,
  formOf,
  type KeyForm,
  NEW_KEY,
  rebase,
  wordsOf,
} from '../../../../web/pages/keys/key-form.ts';
import { fc } from '../../../support/property.ts';

const KEY: ApiKey = {
  ...{ id: 'key_1', key_prefix: 'sk-abc…', name: 'Shop', status: 'active', limit_amount: 5 },
  ...{ models: [], tags: ['a', 'b'], external_id: null, requests_per_minute: null },
  cap_counts: 'charged',
  limits: [],
  call_tags: {},
  ...{ default_timeout_ms: null, default_image_response_format: null, expires_at: null },
  ...{ used_amount: 0, held_amount: 0, last_used_at: null, created_at: '2026-01-01T00:00:00.000Z' },
};

describe('the form of a key', () => {
  test('sends only what differs from the default', () => {
    expect(changesOf(NEW_KEY, NEW_KEY)).toEqual({});
    const form = {
      ...{ name: ' Shop ', cap: '5', models: ['gpt-4o'], expires: '', per_minute: '60' },
      ...{ tags: 'a, b,, c ', external_id: 'x', timeout: '2.5', image_format: 'url' },
      ...{ cap_counts: '', limits: [] },
    };
    expect(changesOf(NEW_KEY, form)).toEqual({
      ...{ name: 'Shop', limitAmount: 5, models: ['gpt-4o'], requests_per_minute: 60 },
      ...{ tags: ['a', 'b', 'c'], external_id: 'x', default_timeout_ms: 2_500 },
      default_image_response_format: 'url',
    });
  });

  test('takes the default back with null', () => {
    const before = { ...NEW_KEY, cap: '5', per_minute: '60', external_id: 'x', timeout: '1' };
    expect(changesOf(before, { ...NEW_KEY, name: before.name })).toEqual({
      ...{ limitAmount: null, requests_per_minute: null, external_id: null },
      default_timeout_ms: null,
    });
  });

  test('sends what is no number as it is, so that the API says what is wrong', () => {
    expect(changesOf(NEW_KEY, { ...NEW_KEY, cap: 'much' })).toEqual({ limitAmount: 'much' });
    expect(changesOf(NEW_KEY, { ...NEW_KEY, cap: '-1' })).toEqual({ limitAmount: '-1' });
  });

  test('keeps a cap to the nano-dollar', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1_000_000_000_000 }), (nano) => {
        const limit_amount = Number((nano / 1e9).toFixed(9));
        const { cap } = formOf({ ...KEY, limit_amount });
        expect(cap).not.toContain('e');
        expect(changesOf(NEW_KEY, { ...NEW_KEY, cap })).toEqual({ limitAmount: limit_amount });
      }),
    );
  });

  test('says each default in words', () => {
    expect(wordsOf(NEW_KEY, 'cap')).toBe('No cap');
    expect(wordsOf(NEW_KEY, 'models')).toBe('All models');
    expect(wordsOf({ ...NEW_KEY, models: ['a', 'b', 'c'] }, 'models')).toBe('3 models');
  });

  test('has a time to the second, also if it is not touched', () => {
    const key = { ...KEY, expires_at: '2031-02-28T21:00:05.123Z' };
    const form = formOf(key);
    expect(changesOf(form, { ...form, name: 'New' })).toEqual({ name: 'New' });
    expect(changesOf(NEW_KEY, form)['expiresAt']).toBe('2031-02-28T21:00:05.000Z');
  });
});

describe('a change of somebody else', () => {
  const before = formOf(KEY);

  test('is taken where the person changed nothing, and contested where both did', () => {
    const mine: KeyForm = { ...before, cap: '7' };
    const now = formOf({ ...KEY, limit_amount: 9, tags: ['c'] });
    expect(rebase(before, mine, now)).toEqual({
      form: { ...before, cap: '7', tags: 'c' },
      changes: [
        { field: 'cap', before: '$5', now: '$9', isContested: true },
        { field: 'tags', before: 'a, b', now: 'c', isContested: false },
      ],
    });
  });

  test('that is the same as mine is not contested, and leaves nothing to save', () => {
    const now = formOf({ ...KEY, limit_amount: 7 });
    const { form, changes } = rebase(before, { ...before, cap: '7' }, now);
    expect(changes.map(({ isContested }) => isContested)).toEqual([false]);
    expect(changesOf(now, form)).toEqual({});
  });
});
