import { describe, expect, test } from 'bun:test';
import { editMembers, findEndOfMembers } from '../../src/json/members.ts';
import { fc } from '../support/property.ts';

/** JSON texts with spaces anywhere and with numbers that a double cannot hold. */
const space = fc.constantFrom('', '', '', ' ', '\n', '\t ', '\r\n  ');
const { value: anyValue } = fc.letrec<{ value: string; array: string; object: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.constantFrom('null', 'true', 'false', '1.0', '-0', '1e400', '12345678901234567890'),
    fc.string({ unit: 'binary' }).map((text) => JSON.stringify(text)),
    fc.constantFrom('"\\\\"', '"\\""', '"\\\\\\""', '"}{],[:"', '"\\u0022"', '""'),
    tie('array'),
    tie('object'),
  ),
  array: fc
    .array(fc.tuple(space, tie('value'), space), { maxLength: 4 })
    .map((items) => `[${items.map((item) => item.join('')).join(',')}]`),
  object: objectOf(tie('value')),
}));

function objectOf(value: fc.Arbitrary<string>, hasUniqueKeys = false): fc.Arbitrary<string> {
  const key = fc.oneof(
    fc.constantFrom('"model"', '"m\\u006fdel"', '"a"', '"b"', '"__proto__"', '""', '"toString"'),
    fc.string().map((text) => JSON.stringify(text)),
  );
  const member = fc.tuple(fc.tuple(space, key), fc.tuple(space, space, value, space));
  const members = fc.uniqueArray(member, {
    maxLength: 6,
    selector: ([[, name]]) => (hasUniqueKeys ? JSON.parse(name) : {}),
  });
  return fc.tuple(members, space).map(([all, empty]) => {
    const texts = all.map(
      ([key, [a, b, memberValue, c]]) => `${key.join('')}${a}:${b}${memberValue}${c}`,
    );
    return `{${all.length > 0 ? texts.join(',') : empty}}`;
  });
}

const object = fc.tuple(space, objectOf(anyValue), space).map((parts) => parts.join(''));
const edits = fc.dictionary(
  fc.constantFrom('model', 'a', 'b', 'toString', 'new member'),
  fc.oneof(anyValue, fc.constant(null)),
);

/**
 * Applies the edits to the parsed object. Returns entries, so that `__proto__` is an ordinary
 * member.
 */
function editParsed(text: string, allEdits: Record<string, string | null>): [string, unknown][] {
  const entries = new Map<string, unknown>(Object.entries(JSON.parse(text)));
  for (const [key, value] of Object.entries(allEdits)) {
    if (value === null) entries.delete(key);
    else entries.set(key, JSON.parse(value));
  }
  return sorted([...entries]);
}

function sorted(entries: [string, unknown][]): [string, unknown][] {
  return entries.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
}

describe('editMembers', () => {
  test('gives the same result as editing the parsed object', () => {
    fc.assert(
      fc.property(object, edits, (text, allEdits) => {
        const result: object = JSON.parse(editMembers(text, allEdits));
        expect(sorted(Object.entries(result))).toEqual(editParsed(text, allEdits));
      }),
      { numRuns: 2_000 },
    );
  });

  test('returns the same text without edits and without repeated keys', () => {
    fc.assert(
      fc.property(objectOf(anyValue, true), (text) => expect(editMembers(text, {})).toBe(text)),
      { numRuns: 1_000 },
    );
  });

  test('changes no other byte', () => {
    const text =
      '{ "seed":12345678901234567890 , "temperature": 1.0,\n "model" : "a", "x":{"model":"a"}}';
    expect(editMembers(text, { model: '"b"' })).toBe(text.replace('"a"', '"b"'));
  });

  test('keeps only the member that JSON.parse returns if a key is repeated', () => {
    const text = '{"n":100,"stream":false,"n":1,"stream":true,"\\u006e":2}';
    expect(editMembers(text, {})).toBe('{"stream":true,"\\u006e":2}');
    expect(editMembers(text, { n: '3' })).toBe('{"stream":true,"\\u006e":3}');
    expect(editMembers(text, { n: null, stream: null })).toBe('{}');
  });

  test('adds to an empty object, and removes the last member', () => {
    expect(editMembers(' { } ', { a: '1', b: '2' })).toBe(' {"a":1,"b":2 } ');
    expect(editMembers('{"a":1}', { a: null, b: '[2]' })).toBe('{"b":[2]}');
    expect(editMembers('{"a":1,"b":2}', { b: null })).toBe('{"a":1}');
    expect(editMembers('{"a":1, "b":2, "c":3}', { a: null, b: null })).toBe('{"c":3}');
  });

  test('keeps the last member of each repeated key among thousands', () => {
    const many = Array.from({ length: 5_000 }, (_, at) => `"k${at % 2_500}":${at}`).join(',');
    const text = editMembers(`{${many}}`, { k7: '"seven"', k8: null });
    expect(text.match(/"k\d+":/g)).toHaveLength(2_499);
    expect(JSON.parse(text)).toMatchObject({ k0: 2_500, k7: 'seven', k2499: 4_999 });
    // The positions of one text must not be used for the next text.
    expect(editMembers('{"a":1}', { a: '2' })).toBe('{"a":2}');
  });

  test('edits inside a value', () => {
    const text = '{"o":{"x":1.0,"y":2},"p":null}';
    const editInside = (value: string) => editMembers(value, { y: 'true' });
    expect(editMembers(text, { o: editInside })).toBe('{"o":{"x":1.0,"y":true},"p":null}');
    expect(editMembers(text, { missing: editInside })).toBe(text);
    const all = { o: editInside, p: '1', q: null };
    const more = '{"o":{"x":1.0,"y":2},"p":null,"q":{"y":3},"r":[4]}';
    expect(editMembers(more, all)).toBe('{"o":{"x":1.0,"y":true},"p":1,"r":[4]}');
  });

  test('stays fast with large images and many backslashes', () => {
    const image = 'A'.repeat(8_000_000);
    const slashes = '\\\\'.repeat(1_000_000);
    const text = `{"messages":["${image}","${slashes}\\"${slashes}"],"model":"a"}`;
    expect(editMembers(text, { model: '"b"' })).toEndWith('"model":"b"}');
  });

  test('endOfMembers returns the end of the last member, or -1', () => {
    expect(findEndOfMembers('{"a":1, "b":"x" ,"c":2}', ['b', 'a'])).toBe(15);
    expect(findEndOfMembers('{"a":{"b":1}}', ['a', 'b'])).toBe(-1);
  });
});
