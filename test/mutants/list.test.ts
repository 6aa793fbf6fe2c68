import { describe, expect, test } from 'bun:test';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../house/sources.ts';
import { MUTANTS } from './main.ts';
import { mutate } from './mutant.ts';

describe('the list of mutants', () => {
  test('changes source text that occurs exactly once, and the changed program parses', () => {
    const wrong = MUTANTS.flatMap((mutant) => {
      try {
        mutate(readFileSync(join(ROOT, mutant.path), 'utf8'), mutant);
        return [];
      } catch (error) {
        return [`${mutant.path}: ${mutant.name}: ${(error as Error).message}`];
      }
    });
    expect(wrong).toEqual([]);
  });

  test('has unique names, and every test file exists', () => {
    const names = MUTANTS.map(({ path, name }) => `${path}: ${name}`);
    expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
    const files = new Set(MUTANTS.flatMap(({ tests }) => tests));
    expect([...files].filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
  });
});

describe('a mutant', () => {
  test.each([
    ['text that does not occur', 'let a = 1;', 'b', 'c'],
    ['text that occurs twice', 'let a = a;', 'a', 'b'],
    ['text that leads to a syntax error', 'let a = 1;', '= 1', '= ='],
  ])('of %s does not apply', (_what, text, from, to) => {
    expect(() => mutate(text, { from, to })).toThrow();
  });

  test('changes the text literally, without replacement patterns', () => {
    expect(mutate('let a = 1;', { from: '1', to: '"$&"' })).toBe('let a = "$&";');
  });
});
