import { expect, test } from 'bun:test';
import { asInteger, exactBody, parseExact } from '../../src/json/exact-integers.ts';
import { fc } from '../support/property.ts';

test('every integer is written as it was read', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }), (integer) => {
      const text = `{"a":[${integer},{"b":${integer}}],"c":1.5,"d":1e3}`;
      const expected = `{"a":[${integer},{"b":${integer}}],"c":1.5,"d":1000}`;
      expect(JSON.stringify(parseExact(text))).toBe(expected);
    }),
  );
});

test('other values are read as JSON.parse reads them', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 4 }), (text) => {
      // Doubles above 2^53 without an exponent are integers, and keep their digits.
      const exact = JSON.stringify(parseExact(text));
      expect(JSON.stringify(JSON.parse(exact))).toBe(JSON.stringify(JSON.parse(text)));
    }),
  );
});

test('a number at the top level of a body stays a number', () => {
  const text = '{"seed":829836802793406551,"tools":[829836802793406551]}';
  const body = exactBody(JSON.parse(text), text);
  expect(typeof body['seed']).toBe('number');
  expect(JSON.stringify(body['tools'])).toBe('[829836802793406551]');
});

test('only digits become an integer', () => {
  expect(JSON.stringify([asInteger('12'), asInteger('1e5'), asInteger('a"')])).toBe(
    '[12,"1e5","a\\""]',
  );
});
