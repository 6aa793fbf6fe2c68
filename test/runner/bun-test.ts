import { copyFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { removeFolder, throwawayFolder } from '../support/throwaway.ts';
import { runFailedAgain } from './again.ts';
import { NO_TESTS, readJunit } from './counts.ts';
import { readFailures, readFailuresOutside } from './failures.ts';
import type { Interrupt } from './interrupt.ts';
import { readAll } from './output.ts';
import type { Environment } from './servers.ts';
import type { Outcome } from './steps.ts';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** The files that only `--full` runs. */
export const FULL_FOLDER = 'test/full';
/** Real client programs and SDKs, which only `--full` runs too. */
export const CLIENTS_FOLDER = 'test/clients';
const FULL_FOLDERS = [FULL_FOLDER, CLIENTS_FOLDER];

/**
 * Test processes at a time: one more than cores, because tests wait for half of their time. The files
 * of `--full` compute more, so they get one process per core.
 */
const PROCESSES = availableParallelism() + 1;

export interface BunTestOptions {
  test_arguments: readonly string[];
  environment: Environment;
  interrupt: Interrupt;
  /** Show nothing and keep no times. */
  quiet?: boolean;
  /** Run one file at a time. */
  alone?: boolean;
}

/** Runs `bun test`, and failed files again as `runFailedAgain` says. */
export function runAllTests(options: BunTestOptions): Promise<Outcome> {
  const again = (files: readonly string[]) =>
    runBunTest({ ...options, test_arguments: files, quiet: true, alone: true });
  return runBunTest(options).then((first) => runFailedAgain(first, again));
}

/** Runs `bun test`. A failure outside of a test counts as one failed test. */
export async function runBunTest(options: BunTestOptions): Promise<Outcome> {
  const folder = throwawayFolder('report');
  const report = join(folder, 'junit.xml');
  // On a terminal Bun shows colours and its progress, so its output is not read there.
  const isRead = options.quiet === true || !process.stderr.isTTY;
  try {
    const child = Bun.spawn(commandLine(options, report), {
      cwd: ROOT,
      env: options.environment,
      stdin: 'ignore',
      stdout: options.quiet ? 'ignore' : 'inherit',
      stderr: isRead ? 'pipe' : 'inherit',
    });
    const [exit_code, output] = await Promise.all([
      options.interrupt.during(child),
      child.stderr ? readAll(child.stderr, options.quiet ? undefined : process.stderr) : '',
    ]);
    const isInterrupted = options.interrupt.signal !== undefined;
    return isInterrupted ? NO_TESTS : outcomeOf(exit_code, report, output);
  } finally {
    removeFolder(folder);
  }
}

function commandLine({ test_arguments, quiet, alone }: BunTestOptions, report: string): string[] {
  const names_full = test_arguments.some((argument) =>
    FULL_FOLDERS.some((folder) => argument.includes(folder)),
  );
  return [
    process.execPath,
    'test',
    // Bun does not read a time-out from bunfig.toml.
    '--timeout=60000',
    // Each file in a global object of its own. It also notices a test that ends its process, which a
    // plain run takes for success.
    ...(alone ? ['--parallel=1'] : [names_full ? '--parallel' : `--parallel=${PROCESSES}`]),
    // Whatever a failed test left running ends with the process that started it.
    '--no-orphans',
    // The slowest files start first, so that both cores end together.
    ...(quiet ? [] : [`--timings=${timingsFile()}`, '--update-timings']),
    ...['--reporter=junit', `--reporter-outfile=${report}`],
    ...(names_full ? [] : FULL_FOLDERS.map((each) => `--path-ignore-patterns=${each}/**`)),
    ...test_arguments,
  ];
}

/** A fresh clone begins with what is known of the slowest files. */
function timingsFile(): string {
  const timings = join(ROOT, '.cache', 'test-timings.json');
  mkdirSync(join(ROOT, '.cache'), { recursive: true });
  if (!existsSync(timings)) copyFileSync(join(ROOT, 'test', 'timings.json'), timings);
  return timings;
}

function outcomeOf(exit_code: number, path: string, output: string): Outcome {
  const report = existsSync(path) ? readFileSync(path, 'utf8') : '';
  const counts = readJunit(report);
  if (counts === undefined) console.error('weir: bun test left no report');
  if (exit_code === 0 && counts !== undefined) return counts;
  const ofTests = counts === undefined ? [] : readFailures(report);
  const failures = [...ofTests, ...readFailuresOutside(output)];
  if (counts !== undefined && counts.failed > 0) return { ...counts, failures };
  console.error('weir: something failed outside of a test; look for "error:" above');
  return { ...(counts ?? NO_TESTS), failed: 1, failures };
}
