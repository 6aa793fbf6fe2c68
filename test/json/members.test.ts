import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { editMembers, endOfMembers } from '../../src/json/members.ts';

/** JSON texts as clients write them: spaces anywhere, numbers that a double cannot hold. */
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

function objectOf(value: fc.Arbitrary<string>, unique = false): fc.Arbitrary<string> {
  const key = fc.oneof(
    fc.constantFrom('"model"', '"m\\u006fdel"', '"a"', '"b"', '"__proto__"', '""', '"toString"'),
    fc.string().map((text) => JSON.stringify(text)),
  );
  const member = fc.tuple(fc.tuple(space, key), fc.tuple(space, space, value, space));
  const members = fc.uniqueArray(member, {
    maxLength: 6,
    selector: ([[, name]]) => (unique ? JSON.parse(name) : {}),
  });
  return fc.tuple(members, space).map(([some, empty]) => {
    const texts = some.map(([before, [b, c, of, d]]) => `${before.join('')}${b}:${c}${of}${d}`);
    return `{${some.length > 0 ? texts.join(',') : empty}}`;
  });
}

const object = fc.tuple(space, objectOf(anyValue), space).map((parts) => parts.join(''));
const edits = fc.dictionary(
  fc.constantFrom('model', 'a', 'b', 'toString', 'new member'),
  fc.oneof(anyValue, fc.constant(null)),
);

/** The same on the parsed object; as entries, so that `__proto__` is a member like any other. */
function edited(text: string, changes: Record<string, string | null>): [string, unknown][] {
  const entries = new Map<string, unknown>(Object.entries(JSON.parse(text)));
  for (const [key, value] of Object.entries(changes)) {
    if (value === null) entries.delete(key);
    else entries.set(key, JSON.parse(value));
  }
  return sorted([...entries]);
}

function sorted(entries: [string, unknown][]): [string, unknown][] {
  return entries.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
}

describe('editing the members of a JSON text', () => {
  test('gives what editing the parsed object gives', () => {
    fc.assert(
      fc.property(object, edits, (text, changes) => {
        const result: object = JSON.parse(editMembers(text, changes));
        expect(sorted(Object.entries(result))).toEqual(edited(text, changes));
      }),
      { numRuns: 2_000 },
    );
  });

  test('without edits and without repeated keys gives the very same text', () => {
    fc.assert(
      fc.property(objectOf(anyValue, true), (text) => expect(editMembers(text, {})).toBe(text)),
      { numRuns: 1_000 },
    );
  });

  test('leaves every other byte as it is', () => {
    const text =
      '{ "seed":12345678901234567890 , "temperature": 1.0,\n "model" : "a", "x":{"model":"a"}}';
    expect(editMembers(text, { model: '"b"' })).toBe(text.replace('"a"', '"b"'));
  });

  test('keeps of a repeated key the one that JSON.parse saw, so that no other reader sees more', () => {
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

  test('keeps the last of a repeated key among many', () => {
    const many = Array.from({ length: 5_000 }, (_, at) => `"k${at % 2_500}":${at}`).join(',');
    const text = editMembers(`{${many}}`, { k7: '"seven"', k8: null });
    expect(text.match(/"k\d+":/g)).toHaveLength(2_499);
    expect(JSON.parse(text)).toMatchObject({ k0: 2_500, k7: 'seven', k2499: 4_999 });
    // One text's positions must not be taken for the next one's.
    expect(editMembers('{"a":1}', { a: '2' })).toBe('{"a":2}');
  });

  test('edits inside a value', () => {
    const text = '{"o":{"x":1.0,"y":2},"p":null}';
    const inside = (value: string) => editMembers(value, { y: 'true' });
    expect(editMembers(text, { o: inside })).toBe('{"o":{"x":1.0,"y":true},"p":null}');
    expect(editMembers(text, { missing: inside })).toBe(text);
    const all = { o: inside, p: '1', q: null };
    const more = '{"o":{"x":1.0,"y":2},"p":null,"q":{"y":3},"r":[4]}';
    expect(editMembers(more, all)).toBe('{"o":{"x":1.0,"y":true},"p":1,"r":[4]}');
  });

  test('is not slowed down by pictures and by backslashes', () => {
    const picture = 'A'.repeat(8_000_000);
    const slashes = '\\\\'.repeat(1_000_000);
    const text = `{"messages":["${picture}","${slashes}\\"${slashes}"],"model":"a"}`;
    expect(editMembers(text, { model: '"b"' })).toEndWith('"model":"b"}');
  });

  test('finds where a member ends', () => {
    expect(endOfMembers('{"a":1, "b":"x" ,"c":2}', ['b', 'a'])).toBe(15);
    expect(endOfMembers('{"a":{"b":1}}', ['a', 'b'])).toBe(-1);
  });
});
