/**
 * The project's own files, for tests about the project itself.
 */
import { dirname, join, resolve } from 'node:path';

export const ROOT = resolve(import.meta.dir, '../..');

/** Paths of `.gitignore`, and git's own folder, which is a file in a linked work tree. */
const NOT_OURS = /(^|\/)((node_modules|\.cache|\.bun|data|coverage)\/|\.git(\/|$))|\.log$/;

/** Paths below {@link ROOT} of all files that match, sorted. */
export function projectFiles(pattern: string): string[] {
  const found = new Bun.Glob(pattern).scanSync({ cwd: ROOT, dot: true });
  return [...found].filter((path) => !NOT_OURS.test(path)).sort();
}

/** One scanner per language, because `<T>(x: T) => …` has another meaning in TSX. */
const SCANNERS = { ts: scanner('ts'), tsx: scanner('tsx') };

function scanner(loader: 'ts' | 'tsx'): Bun.Transpiler {
  return new Bun.Transpiler({
    loader,
    trimUnusedImports: false,
    tsconfig: JSON.stringify({ compilerOptions: { verbatimModuleSyntax: true } }),
  });
}

/**
 * The imports of a file: paths below {@link ROOT} for the project's files, names for packages. Imports of
 * types count too, because they depend on the other file.
 */
export async function importsOf(path: string): Promise<string[]> {
  const text = await Bun.file(join(ROOT, path)).text();
  // The transpiler drops type imports, so they are rewritten to ordinary ones first.
  const specifiers = SCANNERS[path.endsWith('x') ? 'tsx' : 'ts']
    .scanImports(text.replace(/\b(import type (?=[\w{*])|export type (?=[{*]))/g, shown))
    .map((found) => found.path);
  return specifiers.map((specifier) =>
    specifier.startsWith('.') ? join(dirname(path), specifier) : specifier,
  );
}

function shown(type_import: string): string {
  return type_import.replace(' type', '');
}
