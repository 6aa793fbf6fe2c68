/** Checks values against the types that a package declares, with the TypeScript compiler. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dir, '../..');

/** A value, and the type that a package declares for it. */
export interface DeclaredValue {
  /** A type expression of TypeScript. It may use the names of `imports`. */
  readonly type: string;
  readonly value: unknown;
}

/**
 * Members that OpenAI sends and its types lack (`store`, and `name` at the end of the arguments), or that
 * vendors add (`reasoning_content`, Google's `extra_content`).
 */
const UNDECLARED = new Set(['store', 'reasoning_content', 'extra_content']);

/**
 * Returns the value without the members that are sent although no type declares them. The compiler
 * reports such a member instead of a missing one. The member `output_text` of responses is added, because
 * the package openai adds it to each response.
 */
export function asDeclared(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(asDeclared);
  if (typeof value !== 'object' || value === null) return value;
  const isEndOfArguments =
    'type' in value && value.type === 'response.function_call_arguments.done';
  const declared = Object.entries(value)
    .filter(([name]) => !UNDECLARED.has(name) && !(isEndOfArguments && name === 'name'))
    .map(([name, each]) => [name, asDeclared(each)] as const);
  const isResponse = 'object' in value && value.object === 'response';
  return { ...Object.fromEntries(declared), ...(isResponse && { output_text: '' }) };
}

/** The names that the type expressions use, by the file of this repository that declares them. */
export type DeclaredImports = Readonly<Record<string, readonly string[]>>;

/**
 * Returns for each value the messages of the compiler; an empty list if the value has its type. A
 * member that the type does not declare is an error too, because each value is written as a literal.
 */
export async function typeErrors(
  values: readonly DeclaredValue[],
  imports: DeclaredImports,
): Promise<string[][]> {
  const folder = await mkdtemp(join(tmpdir(), 'declared-types-'));
  try {
    const head = Object.entries(imports).map(
      ([file, names]) => `import type { ${names.join(', ')} } from '${join(ROOT, file)}';`,
    );
    const lines = values.map(
      ({ type, value }, at) => `export const v${at}: ${type} = ${JSON.stringify(value)};`,
    );
    await writeFile(join(folder, 'values.ts'), [...head, ...lines].join('\n'));
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(CONFIG));
    const compiler = Bun.spawn(
      [process.execPath, join(ROOT, 'node_modules/typescript/bin/tsc'), '--noEmit', '-p', folder],
      { stdout: 'pipe', stderr: 'pipe' },
    );
    const output = await new Response(compiler.stdout).text();
    const code = await compiler.exited;
    const errors: string[][] = values.map(() => []);
    let list: string[] | undefined;
    for (const line of output.split('\n')) {
      const [, row, message] = /values\.ts\((\d+),\d+\): error (.*)$/.exec(line) ?? [];
      if (row !== undefined) list = errors[Number(row) - head.length - 1];
      else if (/^\S/.test(line)) throw new Error(`the compiler failed: ${line}`);
      if (row !== undefined && !list) throw new Error(`the compiler failed: ${line}`);
      if (line.trim() !== '') list?.push((message ?? line).trim());
    }
    if (code > 2) throw new Error(`the compiler ended with ${code}: ${output}`);
    return errors;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const CONFIG = {
  compilerOptions: {
    ...{ strict: true, noEmit: true, skipLibCheck: true, types: [], noErrorTruncation: false },
    ...{ module: 'esnext', moduleResolution: 'bundler', target: 'esnext' },
    ...{ lib: ['esnext', 'dom'], allowImportingTsExtensions: true },
  },
  files: ['values.ts'],
};
