/** The search of an address is written as the router writes it. */
import { expect, test } from 'bun:test';
import { defaultStringifySearch } from '@tanstack/react-router';
import { searchText } from '../../web/shell/search-text.ts';
import { fc } from '../support/property.ts';

const text = fc.oneof(
  fc.string(),
  fc.json(),
  fc.constantFrom('2026-11-27', '2026-11-27T10:00:00.000Z', '2026', '-1', 'true', 'nullable', ' 1'),
);

test('each search has the text that the router gives it', () => {
  const search = fc.dictionary(fc.string({ minLength: 1 }), fc.oneof(text, fc.jsonValue()));
  fc.assert(
    fc.property(search, (each) => {
      expect(searchText(each)).toBe(defaultStringifySearch(each));
    }),
  );
});
