import { expect, test } from 'bun:test';
import { canonicalJson } from '../../src/json/canonical.ts';

test('a string is escaped as JSON.stringify escapes it, for each UTF-16 code unit', () => {
  const different: number[] = [];
  for (let unit = 0; unit < 0x10000; unit += 1) {
    const text = `a${String.fromCharCode(unit)}b`;
    if (canonicalJson(text) !== JSON.stringify(text)) different.push(unit);
  }
  expect(different).toEqual([]);
  expect(canonicalJson({ '"😀': '\ud83d' })).toBe(JSON.stringify({ '"😀': '\ud83d' }));
});
