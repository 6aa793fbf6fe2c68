import { describe, expect, test } from 'bun:test';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { projectFiles, ROOT } from './sources.ts';

const MAX_LINES = 400;

const texts = projectFiles('**/*')
  .filter((path) => !/\.(png|svg|ico|woff2?|wasm|gz)$/.test(path))
  .map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }));

/** `path:line` of each matching line. */
function linesWith(pattern: RegExp, in_path = /./): string[] {
  return texts
    .filter(({ path }) => in_path.test(path))
    .flatMap(({ path, text }) =>
      text
        .split('\n')
        .flatMap((line, index) => (pattern.test(line) ? [`${path}:${index + 1}`] : [])),
    );
}

/** Joins parts of a forbidden word, so that this file does not contain it. */
const pieces = (...parts: string[]) => parts.join('');

describe('the files of the project', () => {
  test('the lock file contains no address, so it installs from the configured registry', () => {
    expect(linesWith(/https?:\/\//, /^bun\.lock$/)).toEqual([]);
  });

  test('no file names the host of a package registry', () => {
    const hosts = ['npmjs', 'yarnpkg', 'debian', 'pypi', 'npmmirror'].join('|');
    const pattern = new RegExp(`${pieces('(registry|deb|mirror|security)', '\\.')}(${hosts})\\.`);
    expect(linesWith(pattern)).toEqual([]);
  });

  test('no file names a path of a developer’s machine', () => {
    const folders = [
      pieces('/wo', 'rk/'),
      pieces('/ro', 'ot/'),
      pieces('/tmp/', 'bash_jobs'),
      pieces('/ho', 'me/'),
    ];
    const pattern = new RegExp(`(^|[\\s"'\`(=:])(${folders.join('|')})`);
    expect(linesWith(pattern)).toEqual([]);
  });

  test(`no source file is longer than ${MAX_LINES} lines`, () => {
    const long = texts
      .filter(({ path }) => /\.(ts|tsx|sh)$|^bin\//.test(path))
      .map(({ path, text }) => ({ path, lines: text.trimEnd().split('\n').length }))
      .filter(({ lines }) => lines > MAX_LINES);
    expect(long).toEqual([]);
  });

  test('no source file has an unfinished note', () => {
    const pattern = new RegExp(pieces('\\b(TO', 'DO|FIX', 'ME|XX', 'X)\\b'));
    expect(linesWith(pattern, /^(src|db|simulator|test|bench|bin|web|terminal)\//)).toEqual([]);
  });

  test('versions are pinned', () => {
    const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    const versions = ['dependencies', 'devDependencies', 'optionalDependencies'].flatMap((group) =>
      Object.entries<string>(manifest[group] ?? {}),
    );
    expect(versions.filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))).toEqual(
      [],
    );
    expect(manifest.engines.bun).toMatch(/^\d+\.\d+\.\d+$/);
    expect(Bun.version).toBe(manifest.engines.bun);
  });
});

describe('the commands', () => {
  const commands = projectFiles('bin/*');

  test('are found', () => {
    expect(commands).toEqual(expect.arrayContaining(['bin/start', 'bin/test', 'bin/verify']));
  });

  test.each(commands)('%s is executable, valid for sh, and has --help', (path) => {
    expect(statSync(join(ROOT, path)).mode & 0o111).toBe(0o111);
    expect(Bun.spawnSync(['sh', '-n', join(ROOT, path)]).exitCode).toBe(0);
    // Runs from another folder, with only the system's programs on PATH.
    const help = Bun.spawnSync([join(ROOT, path), '--help'], {
      cwd: '/',
      env: { PATH: '/usr/bin:/bin' },
    });
    expect(help.stdout.toString()).toStartWith(`Usage: ${path}`);
    expect(help.exitCode).toBe(0);
  });
});
