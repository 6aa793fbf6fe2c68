import { describe, expect, test } from 'bun:test';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../house/sources.ts';
import { textOf } from './pages.ts';

/** The tests that docs/consistency.md names for each promise: one file, then parts of test names. */
const NAMED = /\[[^\]]+\]\(\.\.\/(test\/[^)]+)\): ([^|]+)/;

const named = textOf('docs/consistency.md')
  .split('\n')
  .filter((line) => /^\| \*\*P\d+\*\*/.test(line))
  .flatMap((line) => line.split('<br>'))
  .flatMap((entry) => {
    const [, path, names] = NAMED.exec(entry) ?? [];
    return path && names ? [{ path, names: namesIn(names) }] : [];
  });

/** `; ` separates names, and `…` replaces omitted words. Notes are in parentheses. */
function namesIn(text: string): string[] {
  return text
    .replace(/ \((?:`|\[).*\)/, '')
    .split(/; |…/)
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

function missing({ path, names }: { path: string; names: string[] }): string[] {
  if (!existsSync(join(ROOT, path))) return [path];
  const text = readFileSync(join(ROOT, path), 'utf8').replaceAll("\\'", "'");
  return names.filter((name) => !text.includes(name));
}

describe('the tests that docs/consistency.md names', () => {
  test('are found, and a missing one is detected', () => {
    expect(named.length).toBeGreaterThan(40);
    const path = 'test/house/files.test.ts';
    expect(missing({ path, names: ['no such test'] })).toEqual(['no such test']);
  });

  test.each(named)('$path: $names', (entry) => {
    expect(missing(entry)).toEqual([]);
  });
});
