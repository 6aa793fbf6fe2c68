import { describe, expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { projectFiles, ROOT } from '../house/sources.ts';
import { documentPaths, fencesOf, textOf, withoutFences } from './pages.ts';

/**
 * A path in backticks starts at the project's root. Patterns such as
 * `test/db/embedded*.test.ts` are paths too. A relative link starts at its page.
 */
const IS_PATH =
  /^(?:src|db|test|docs|bin|simulator|bench|catalogue|patches)\/|\.(?:tsx?|md|json|ya?ml|sql|sh|patch)$/;

/** Files of an installation, which are not in the project. */
const NOT_OURS = ['weir.yaml', './weir.yaml', 'first-run.json', '<data>/first-run.json'];

const pages = documentPaths().map((path) => ({ path, text: withoutFences(textOf(path)) }));

/** Each path in backticks; for a command such as `bin/chaos kill`, only the program. */
function pathsIn(text: string): string[] {
  return [...text.matchAll(/`([^`\n]+)`/g)]
    .map((match) => (match[1] ?? '').replace(/^(bin\/\S+) .*/, '$1'))
    .filter((code) => IS_PATH.test(code) && !/\s/.test(code) && !NOT_OURS.includes(code));
}

function exists(path: string): boolean {
  if (path.includes('*')) return projectFiles(path).length > 0;
  return existsSync(join(ROOT, path));
}

describe('the paths that pages name', () => {
  test.each(pages)('$path: every path in backticks exists', ({ text }) => {
    expect(pathsIn(text).filter((path) => !exists(path))).toEqual([]);
  });

  test.each(pages)(
    '$path: every relative link leads to a file, and to a heading of it',
    ({ path, text }) => {
      const links = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map((match) => match[1] ?? '');
      const broken = links
        .filter((link) => !/^[a-z]+:/.test(link))
        .filter((link) => !leadsSomewhere(path, link));
      expect(broken).toEqual([]);
    },
  );

  test('the check detects a missing path and a missing heading', () => {
    const paths = pathsIn('`src/main.ts` `main.ts` `weir.yaml` `bin/nothing --help` `a b.ts`');
    expect(paths).toEqual(['src/main.ts', 'main.ts', 'bin/nothing']);
    expect(paths.map(exists)).toEqual([true, false, false]);
    expect(leadsSomewhere('docs/operations.md', '../README.md#try-it')).toBe(true);
    expect(leadsSomewhere('docs/operations.md', '../README.md#tried')).toBe(false);
    expect(leadsSomewhere('docs/operations.md', 'README.md')).toBe(false);
  });
});

function leadsSomewhere(page: string, link: string): boolean {
  const [file = '', heading] = link.split('#');
  const target = file === '' ? page : join(dirname(page), file);
  if (!existsSync(join(ROOT, target))) return false;
  return heading === undefined || headingsOf(target).includes(heading);
}

/** The anchors of a page's headings, as GitHub makes them. */
function headingsOf(path: string): string[] {
  return [...withoutFences(textOf(path)).matchAll(/^#+ (.+)$/gm)].map((match) =>
    (match[1] ?? '')
      .toLowerCase()
      .replace(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  );
}

describe('the commands that pages name', () => {
  const commands = documentPaths().flatMap((path) =>
    commandsOf(path).map((command) => ({ path, command })),
  );

  test('are found', () => {
    expect(commands.map(({ command }) => command)).toContain('bin/chaos ledger --runs 1000');
  });

  test.each(commands)('$path: $command', ({ command }) => {
    const [program = '', ...words] = command.split(/\s+/);
    const help = Bun.spawnSync([join(ROOT, program), '--help']).stdout.toString();
    const named = words.filter((word) => /^(--)?[a-z][a-z-]*$/.test(word)).filter(isNoValue);
    const unknown = named.filter((word) => !new RegExp(`(^|[\\s|])${word}\\b`).test(help));
    expect(unknown).toEqual([]);
  });

  test('every "bun run NAME" is a script of package.json', async () => {
    const { scripts } = await Bun.file(join(ROOT, 'package.json')).json();
    const named = documentPaths().flatMap((path) =>
      [...textOf(path).matchAll(/`bun run ([\w-]+)`/g)].map((match) => match[1] ?? ''),
    );
    expect(named).toContain('machines');
    expect(named.filter((name) => !Object.hasOwn(scripts, name))).toEqual([]);
  });
});

/** The commands of `bin/` on a page, in console blocks and in backticks, without comments. */
function commandsOf(path: string): string[] {
  const text = textOf(path);
  const in_blocks = fencesOf(text).flatMap((fence) => fence.text.match(/^\$ .*\bbin\/.*$/gm) ?? []);
  const in_line = [...withoutFences(text).matchAll(/`(bin\/\w+ [^`\n]+)`/g)].map(
    (match) => match[1],
  );
  return [...in_blocks, ...in_line].flatMap((line) => {
    const command = /\bbin\/\w[^#&|]*/.exec(line ?? '')?.[0].trim();
    return command ? [command] : [];
  });
}

function isNoValue(word: string, index: number, words: string[]): boolean {
  return word.startsWith('--') || !words[index - 1]?.startsWith('--');
}
