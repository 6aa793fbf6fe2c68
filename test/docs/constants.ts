import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectFiles, ROOT } from '../house/sources.ts';

interface Constant {
  path: string;
  /** The expression that the code assigns. */
  expression: string;
}

/** `const NAME = …;` at the start of a line, exported or not. */
const DECLARATION = /^(?:export )?const ([A-Z][A-Z0-9_]*)\b[^=\n]*=\s*([\s\S]*?);$/gm;
/** `NAME`, or `file.ts#NAME` if several files have a constant of this name. */
const REFERENCE = /(?:([\w./-]+\.ts)#)?\b([A-Z][A-Z0-9_]+)\b/g;

const constants = new Map<string, Constant[]>();
for (const path of projectFiles('{src,db}/**/*.ts')) {
  for (const [, name = '', expression = ''] of readFileSync(join(ROOT, path), 'utf8').matchAll(
    DECLARATION,
  )) {
    constants.set(name, [...(constants.get(name) ?? []), { path, expression }]);
  }
}

/**
 * The value of an expression over the constants of the code, such as `LEASE_MS - SAFETY_MS`.
 *
 * @throws if no constant has the name, or if several have it and `file.ts#` chooses none of them.
 */
export function constantValue(expression: string, home?: string): number {
  const value = evaluate(expression, home);
  if (typeof value !== 'number') throw new Error(`${expression} is not a number`);
  return value;
}

function evaluate(expression: string, home: string | undefined): unknown {
  const values: unknown[] = [];
  const names: string[] = [];
  const code = withoutComments(expression)
    .replace(/ as const$/, '')
    .replace(REFERENCE, (_, file: string | undefined, name: string) => {
      const found = find(name, file ?? home, file !== undefined);
      names.push(`_${values.length}`);
      values.push(evaluate(found.expression, found.path));
      return names.at(-1) ?? '';
    });
  return new Function(...names, `return (${code});`)(...values);
}

const withoutComments = (code: string) => code.replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, '');

/** The constant of a name; a file's own constant takes precedence. */
function find(name: string, file: string | undefined, chosen: boolean): Constant {
  const all = constants.get(name) ?? [];
  const here = all.filter(({ path }) => file !== undefined && `/${path}`.endsWith(`/${file}`));
  const candidates = chosen || here.length > 0 ? here : all;
  const [found, other] = candidates;
  if (found && !other) return found;
  const where = (other ? candidates : all).map(({ path }) => path).join(', ') || 'no file';
  throw new Error(`${file ? `${file}#` : ''}${name} is not one constant: ${where}`);
}
