import { describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectFiles, ROOT } from './sources.ts';

/** Types that TypeScript declares and that do not exist at run time. */
const UTILITY_TYPES = [
  ...['Awaited', 'Partial', 'Required', 'Readonly', 'Record', 'Pick', 'Omit', 'Exclude', 'Extract'],
  ...['NonNullable', 'Parameters', 'ConstructorParameters', 'ReturnType', 'InstanceType'],
  ...[
    'Uppercase',
    'Lowercase',
    'Capitalize',
    'Uncapitalize',
    'Iterator',
    'Iterable',
    'PromiseLike',
  ],
  ...[
    'ArrayLike',
    'PropertyKey',
    'ThisType',
    'NoInfer',
    'Disposable',
    'AsyncDisposable',
    'Storage',
    'EventSource',
  ],
];
const BUILT_IN = new Set([...Object.getOwnPropertyNames(globalThis), ...UTILITY_TYPES]);

const DECLARATION =
  /^(export )?(?:abstract )?(?:const|function\*?|async function\*?|class|interface|type) (\w+)/gm;

interface Declared {
  path: string;
  name: string;
  is_exported: boolean;
}

const declared: Declared[] = projectFiles('{src,db,simulator,bench,terminal}/**/*.ts').flatMap(
  (path) =>
    [...readFileSync(join(ROOT, path), 'utf8').matchAll(DECLARATION)].map(([, exported, name]) => ({
      path,
      name: name ?? '',
      is_exported: exported !== undefined,
    })),
);

describe('the names of the code', () => {
  test('are found', () => {
    expect(declared.map(({ name }) => name)).toContain('QuotaActor');
    expect(BUILT_IN.has('Map') && BUILT_IN.has('Awaited')).toBe(true);
  });

  test('do not shadow a built-in value or type', () => {
    expect(declared.filter(({ name }) => BUILT_IN.has(name))).toEqual([]);
  });

  test('have one meaning: no two files of the server export the same name', () => {
    const paths = new Map<string, string[]>();
    for (const { path, name, is_exported } of declared) {
      if (!is_exported || !/^(src|db)\//.test(path)) continue;
      paths.set(name, [...(paths.get(name) ?? []), path]);
    }
    expect([...paths].filter(([, each]) => each.length > 1)).toEqual([]);
  });
});
