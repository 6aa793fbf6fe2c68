import { cpSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { removeFolder, throwawayFolder } from '../support/throwaway.ts';
import { type Mutant, mutate } from './mutant.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** Shared with the working tree, which no test changes there. */
const SHARED = ['node_modules', '.cache'];
const LEFT_OUT = ['.git', '.bun', 'data', 'coverage'];
/** A mutant may loop for ever. */
const TIME_LIMIT_MS = 180_000;
/** The same as that of `bin/test`: on a busy machine a slow test must not pass for a kill. */
const TEST_TIME_LIMIT_MS = 60_000;

/** How test files ended: all passed, a test failed, or the time limit passed. */
type Verdict = 'passed' | 'failed' | 'timed out';

export interface Result {
  readonly verdict: Verdict;
  /** The test that failed first. */
  readonly test?: string;
  readonly output: string;
}

/** A copy of the working tree, in which one mutant at a time lives. */
export class Tree {
  private readonly folder = throwawayFolder('mutants');
  private child: Bun.Subprocess | undefined;

  constructor(private readonly environment: Record<string, string | undefined>) {
    for (const name of readdirSync(ROOT)) {
      const copy = join(this.folder, name);
      if (SHARED.includes(name)) symlinkSync(join(ROOT, name), copy);
      else if (!LEFT_OUT.includes(name)) cpSync(join(ROOT, name), copy, { recursive: true });
    }
  }

  /** Runs test files with a mutant in place. Throws Error if the mutant does not apply. */
  async runMutant(path: string, mutant: Mutant, tests: readonly string[]): Promise<Result> {
    const file = join(this.folder, path);
    const text = readFileSync(file, 'utf8');
    writeFileSync(file, mutate(text, mutant));
    try {
      return await this.run(tests);
    } finally {
      writeFileSync(file, text);
    }
  }

  /** Runs test files, and ends at the first test that fails. */
  async run(tests: readonly string[]): Promise<Result> {
    const child = Bun.spawn(
      [
        ...[process.execPath, 'test', '--bail', '--no-orphans', `--timeout=${TEST_TIME_LIMIT_MS}`],
        ...tests,
      ],
      {
        ...{ cwd: this.folder, env: this.environment, stdin: 'ignore' },
        ...{ stdout: 'ignore', stderr: 'pipe', timeout: TIME_LIMIT_MS, killSignal: 'SIGKILL' },
      },
    );
    this.child = child;
    const output = await new Response(child.stderr).text();
    const exit_code = await child.exited;
    if (child.signalCode !== null) return { verdict: 'timed out', output };
    if (exit_code === 0) return { verdict: 'passed', output };
    const test = /^\(fail\) (.+?)(?: \[[\d.]+ms\])?$/m.exec(output)?.[1];
    return { verdict: 'failed', output, ...(test === undefined ? {} : { test }) };
  }

  stop(): void {
    this.child?.kill('SIGKILL');
  }

  remove(): void {
    removeFolder(this.folder);
  }
}
