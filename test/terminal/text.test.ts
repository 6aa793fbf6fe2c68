import { describe, expect, test } from 'bun:test';
import { age, dollars, durationMs, printable, tableLines } from '../../terminal/text.ts';

describe('a duration', () => {
  test.each([
    ['90s', 90_000],
    ['10m', 600_000],
    ['2h', 7_200_000],
    ['1d', 86_400_000],
    ['10', undefined],
    ['1.5h', undefined],
    ['', undefined],
  ])('%p is %p ms', (text, ms) => expect(durationMs(text)).toBe(ms));

  test.each([
    [-5, '0s'],
    [999, '0s'],
    [38_000, '38s'],
    [878_000, '14m 38s'],
    [3_600_000, '1h'],
    [90_061_000, '1d 1h'],
  ])('%p ms is printed as %p', (ms, text) => expect(age(ms)).toBe(text));
});

test.each([
  [0, '$0.00'],
  [1, '$0.000000001'],
  [10_000_000, '$0.01'],
  [1_234_500_000, '$1.2345'],
  [-250_000_000, '-$0.25'],
])('%p nano-USD are %p', (nano, text) => expect(dollars(nano)).toBe(text));

test('names from outside cannot send commands to a terminal', () => {
  expect(printable('a\u001b[31mb\u202ec\u0007\n')).toBe('a�[31mb�c��');
  expect(
    tableLines([
      ['a', '\u001b]0;x'],
      ['long', 'b'],
    ]),
  ).toEqual(['a     �]0;x', 'long  b']);
});
