import { readClosingLine } from './counts.ts';
import { lastLines } from './failures.ts';
import type { Interrupt } from './interrupt.ts';
import { ALLOW_MISSING, recordMissing } from './missing.ts';
import { readAll } from './output.ts';
import type { Environment } from './servers.ts';
import type { Outcome } from './steps.ts';

export interface CommandOptions {
  /** Program and arguments. */
  command: readonly string[];
  cwd: string;
  environment: Environment;
  interrupt: Interrupt;
  /** Show nothing. */
  quiet?: boolean;
  /** Show what it prints when it has ended, because another command runs at the same time. */
  held?: boolean;
}

/**
 * Runs a command and shows what it prints. It counts by its own closing line `N passed, N failed`,
 * else as one test by its exit code. A program that is not there is recorded as missing.
 */
export async function runCommand(options: CommandOptions): Promise<Outcome> {
  const [program = '', ...rest] = options.command;
  const { PATH } = options.environment;
  const path = Bun.which(program, { cwd: options.cwd, ...(PATH === undefined ? {} : { PATH }) });
  if (path === null) {
    const missing = { what: options.command.join(' '), why: `${program} is not on this machine` };
    recordMissing(missing, options.environment['WEIR_TEST_MISSING_FILE']);
    const skipped = Boolean(options.environment[ALLOW_MISSING]);
    return { passed: 0, failed: skipped ? 0 : 1, skipped: skipped ? 1 : 0 };
  }
  const child = Bun.spawn([path, ...rest], {
    cwd: options.cwd,
    env: options.environment,
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: options.quiet ? 'ignore' : 'inherit',
  });
  const isLive = !options.quiet && !options.held;
  const [exit_code, output] = await Promise.all([
    options.interrupt.during(child),
    readAll(child.stdout, isLive ? process.stdout : undefined),
  ]);
  if (options.held) process.stdout.write(`\n${options.command.join(' ')}:\n${output}`);
  const own = readClosingLine(output);
  if (exit_code === 0) return own ?? { passed: 1, failed: 0, skipped: 0 };
  const what = `"${options.command.join(' ')}" ended with ${exit_code}`;
  if (!options.quiet) console.error(`weir: ${what}`);
  const failures = [{ what, why: lastLines(output) }];
  if (own === undefined) return { passed: 0, failed: 1, skipped: 0, failures };
  return { ...own, failed: Math.max(1, own.failed), failures };
}
