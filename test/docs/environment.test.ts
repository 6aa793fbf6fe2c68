import { describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { HELP, readEnvironment } from '../../src/config/environment.ts';
import { parseWeirYaml } from '../../src/config/weir-yaml.ts';
import { projectFiles, ROOT } from '../house/sources.ts';
import { documentPaths, fencesOf, textOf, withoutFences } from './pages.ts';

const VARIABLE =
  /\b(?:(?:WEIR|BUN_CONFIG|MIMALLOC)_[A-Z0-9_]*[A-Z0-9]|DATABASE_URL|REDIS_URL|HTTPS?_PROXY|PORT)\b/g;

const codeOf = (patterns: string[]) =>
  patterns
    .flatMap(projectFiles)
    .map((path) => readFileSync(join(ROOT, path), 'utf8'))
    .join('\n');
const product = codeOf(['{src,db,terminal}/**/*.ts', 'bin/**']);
const tests = codeOf(['test/run.ts', 'test/{support,sim,runner}/*.ts']);

/** The rows of the table of settings in docs/operations.md. */
const rows = textOf('docs/operations.md')
  .split('\n')
  .filter((line) => /^\| `[A-Z0-9_]+`/.test(line))
  .map((line) => line.split('|').map((cell) => cell.trim()))
  .map(([, names = '', usual = '']) => ({
    names: [...(names.match(VARIABLE) ?? [])] as string[],
    usual: usual.replaceAll('`', ''),
  }));
const documented = rows.flatMap(({ names }) => names);

/** Variables that the code reads. */
const read = [
  ...(/EnvironmentSchema = Type\.Object\(\{([\s\S]*?)^\}\);/m
    .exec(readFileSync(join(ROOT, 'src/config/environment.ts'), 'utf8'))?.[1]
    ?.match(/^ {2}[A-Z0-9_]+(?=:)/gm)
    ?.map((name) => name.trim()) ?? []),
  ...[...product.matchAll(/process\.env\.([A-Z0-9_]+)/g)].map((match) => match[1] ?? ''),
  ...[...product.matchAll(/^export ([A-Z0-9_]+)$/gm)].map((match) => match[1] ?? ''),
  ...[...product.matchAll(/'(HTTPS?_PROXY)'/g)].map((match) => match[1] ?? ''),
].filter((name) => !['PATH', 'HOME'].includes(name));

describe('the settings of the process', () => {
  test('exist in the code and in docs/operations.md', () => {
    expect(read).toContain('WEIR_S3_SECRET_ACCESS_KEY');
    expect(read).toContain('MIMALLOC_PURGE_DELAY');
    expect(documented).toContain('WEIR_DATA');
  });

  test('of the code are all in the table', () => {
    expect(read.filter((name) => !documented.includes(name))).toEqual([]);
  });

  test('of the table are all read by the code', () => {
    expect(documented.filter((name) => !read.includes(name))).toEqual([]);
  });

  test('have the defaults that the table names', () => {
    const usual: Record<string, unknown> = { ...readEnvironment([], {}).environment };
    const wrong = rows
      .filter(({ names }) => names.some((name) => usual[name] !== undefined))
      .filter(
        ({ names, usual: documented_default }) =>
          String(usual[names[0] ?? '']) !== documented_default,
      );
    expect(wrong).toEqual([]);
    // The commands in `bin/` set the other defaults.
    const [bun] = rows.filter(({ names }) => names.includes('BUN_CONFIG_MAX_HTTP_REQUESTS'));
    expect(product).toContain(
      `BUN_CONFIG_MAX_HTTP_REQUESTS:-${Number.parseInt(bun?.usual ?? '', 10)}}`,
    );
    for (const name of ['MIMALLOC_PURGE_DELAY', 'MIMALLOC_PURGE_HOLES']) {
      const [purge] = rows.filter(({ names }) => names.includes(name));
      expect(product).toContain(`${name}:-${Number.parseInt(purge?.usual ?? '', 10)}}`);
    }
  });

  test('of the help texts are read by the code', () => {
    const helps = ['start', 'test', 'bench', 'chaos', 'weir'].map((name) =>
      Bun.spawnSync([join(ROOT, 'bin', name), '--help']).stdout.toString(),
    );
    const named = [HELP, ...helps].flatMap((text) => text.match(VARIABLE) ?? []);
    expect(named.filter((name) => !read.includes(name) && !tests.includes(name))).toEqual([]);
  });

  test.each(documentPaths())('%s: the code reads each variable in backticks', (path) => {
    const named = [...withoutFences(textOf(path)).matchAll(/`([^`\n]+)`/g)].flatMap(
      (match) => match[1]?.match(VARIABLE) ?? [],
    );
    expect(named.filter((name) => !read.includes(name))).toEqual([]);
  });
});

test('the weir.yaml of docs/operations.md is valid', () => {
  const [yaml] = fencesOf(textOf('docs/operations.md')).filter(
    ({ language }) => language === 'yaml',
  );
  const env = { OPENAI_API_KEY: 'a', SPARE_API_KEY: 'b', PICTURES_API_KEY: 'c' };
  const parsed = parseWeirYaml(yaml?.text ?? '', env, 'weir.yaml');
  expect(parsed.channels.map(({ id }) => id)).toEqual(['openai-main', 'openai-spare', 'pictures']);
});
