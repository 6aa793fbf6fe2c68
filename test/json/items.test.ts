import { describe, expect, test } from 'bun:test';
import { editItems } from '../../src/json/items.ts';
import { fc } from '../support/property.ts';

describe('editItems', () => {
  test('changes and removes items, and keeps the digits of all others', () => {
    const text = ' [ 829836802793406551 , {"a":[1.0,"]"]},"x,]" ,null]';
    expect(editItems(text, (item, index) => (index === 2 ? null : item))).toBe(
      '[829836802793406551,{"a":[1.0,"]"]},null]',
    );
    expect(editItems(text, (item) => (item.startsWith('{') ? '7' : item))).toBe(
      '[829836802793406551,7,"x,]",null]',
    );
    expect(editItems('[ ]', () => 'never')).toBe('[]');
  });

  test('splits any array as a parser does', () => {
    fc.assert(
      fc.property(fc.array(fc.json()), fc.constantFrom('', ' ', '\n\t'), (items, space) => {
        const seen: string[] = [];
        const text = `[${space}${items.join(`${space},${space}`)}${space}]`;
        const kept = editItems(text, (item) => {
          seen.push(item);
          return item;
        });
        expect(seen).toEqual(items);
        expect(JSON.parse(kept)).toEqual(JSON.parse(text));
      }),
    );
  });
});
