import { cpSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { removeFolder, throwawayFolder } from '../support/throwaway.ts';
import { type Mutant, mutate } from './mutant.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** Folders that all trees share with the working tree, because no test changes them. */
const SHARED = ['node_modules', '.cache'];
const LEFT_OUT = ['.git', '.bun', 'data', 'coverage'];
/** The time limit of the test files of one mutant, because a mutant may loop for ever. */
const TIME_LIMIT_MS = 180_000;
/** The same for a mutant that makes a test wait for ever. */
const HANGING_TIME_LIMIT_MS = 40_000;
/** The limit of `bin/test`. A lower limit could count a slow test on a busy machine as a kill. */
const TEST_TIME_LIMIT_MS = 60_000;
/** The same for a mutant that makes a test wait for ever. */
const HANGING_TEST_TIME_LIMIT_MS = 10_000;

/** How long tests may take, in ms. */
interface Limits {
  readonly all_ms: number;
  readonly each_ms: number;
}
const LIMITS: Limits = { all_ms: TIME_LIMIT_MS, each_ms: TEST_TIME_LIMIT_MS };
const HANGING_LIMITS: Limits = {
  all_ms: HANGING_TIME_LIMIT_MS,
  each_ms: HANGING_TEST_TIME_LIMIT_MS,
};

/** `passed`: all tests passed. `failed`: a test failed. `timed out`: the time limit passed. */
type Verdict = 'passed' | 'failed' | 'timed out';

export interface Result {
  readonly verdict: Verdict;
  /** The name of the first failed test. */
  readonly test?: string;
  readonly output: string;
}

/** A copy of the working tree. One mutant at a time is applied to it. */
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

  /** Runs test files with a mutant applied. Throws Error if the mutant does not apply. */
  async runMutant(path: string, mutant: Mutant, tests: readonly string[]): Promise<Result> {
    const file = join(this.folder, path);
    const text = readFileSync(file, 'utf8');
    writeFileSync(file, mutate(text, mutant));
    try {
      return await this.run(tests, mutant.hangs ? HANGING_LIMITS : LIMITS);
    } finally {
      writeFileSync(file, text);
    }
  }

  /** Runs test files; stops at the first failed test. */
  async run(tests: readonly string[], limits = LIMITS): Promise<Result> {
    const child = Bun.spawn(
      [
        ...[process.execPath, 'test', '--bail', '--no-orphans', `--timeout=${limits.each_ms}`],
        ...tests,
      ],
      {
        ...{ cwd: this.folder, env: this.environment, stdin: 'ignore' },
        ...{ stdout: 'ignore', stderr: 'pipe', timeout: limits.all_ms, killSignal: 'SIGKILL' },
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
