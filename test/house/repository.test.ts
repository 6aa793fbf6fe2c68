import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './sources.ts';

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

/** The properties of one section of an EditorConfig file. */
function section(text: string, name: string): Record<string, string> {
  const body = text.split(`[${name}]\n`)[1]?.split(/^\[/m)[0] ?? '';
  return Object.fromEntries(
    body.matchAll(/^(\w+) = (.+)$/gm).map(([, key, value]) => [key, value]),
  );
}

test('.editorconfig indents and wraps as the formatter does', () => {
  const { formatter } = JSON.parse(read('biome.json'));
  expect(section(read('.editorconfig'), '*')).toMatchObject({
    indent_style: formatter.indentStyle,
    indent_size: String(formatter.indentWidth),
    max_line_length: String(formatter.lineWidth),
    end_of_line: formatter.lineEnding ?? 'lf',
  });
});

test('LICENSE is the license that package.json names', () => {
  expect(JSON.parse(read('package.json')).license).toBe('Apache-2.0');
  expect(new Bun.CryptoHasher('sha256').update(read('LICENSE')).digest('hex')).toBe(
    'cfc7749b96f63bd31c3c42b5c471bf756814053e847c10f3eb003417bc523d30',
  );
});

test('CHANGELOG.md starts with unreleased changes and lists the version of package.json', () => {
  const headings = [...read('CHANGELOG.md').matchAll(/^## (.+)$/gm)].map(([, heading]) => heading);
  const { version } = JSON.parse(read('package.json'));
  expect(headings[0]).toBe('[Unreleased]');
  expect(headings[1]).toMatch(
    new RegExp(`^\\[${RegExp.escape(version)}\\] - \\d{4}-\\d\\d-\\d\\d$`),
  );
});
