/**
 * `bin/test`: starts the servers that the tests share, runs `bun test`, stops the servers, and says
 * in one plain line how many tests passed.
 */
import { copyFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runMutants } from './mutants/main.ts';
import { startTestPostgres } from './support/postgres-server.ts';
import { startTestRedis } from './support/redis.ts';
import { removeFolder, throwawayFolder } from './support/throwaway.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** How long the tests may take to end after an interrupt. */
const INTERRUPT_PATIENCE_MS = 5_000;

interface Stoppable {
  stop(): Promise<void>;
}

interface Counts {
  passed: number;
  failed: number;
  skipped: number;
}

const running: Stoppable[] = [];
let child: Bun.Subprocess | undefined;
let interrupted: NodeJS.Signals | undefined;

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => interrupt(signal));
}
process.exitCode = await main(process.argv.slice(2));
process.exit();

async function main(test_arguments: string[]): Promise<number> {
  const folder = throwawayFolder('report');
  const report = join(folder, 'junit.xml');
  try {
    const environment = await startServers();
    const [first, ...names] = test_arguments;
    if (first === '--mutants' && !interrupted) return await runMutants(names, environment);
    const exit_code = interrupted ? 130 : await runTests(test_arguments, report, environment);
    return summarize(exit_code, report);
  } catch (error) {
    console.error(error);
    return 1;
  } finally {
    await Promise.all(running.map((server) => server.stop()));
    removeFolder(folder);
  }
}

/** Starts all servers side by side and names them in the environment of the tests. */
async function startServers(): Promise<Record<string, string | undefined>> {
  const given_redis = process.env.REDIS_URL;
  const started = await Promise.allSettled([
    keep(startTestPostgres(18)),
    keep(startTestPostgres(15)),
    given_redis === undefined ? keep(startTestRedis()) : { url: given_redis },
  ]);
  const [postgres_18, postgres_15, redis] = started.map((outcome) => {
    if (outcome.status === 'rejected') throw outcome.reason;
    return outcome.value.url;
  });
  return {
    ...cleanEnvironment(),
    WEIR_TEST_DATABASE_URL_18: postgres_18,
    WEIR_TEST_DATABASE_URL_15: postgres_15,
    WEIR_TEST_REDIS_URL: redis,
  };
}

async function keep<T extends Stoppable>(starting: Promise<T>): Promise<T> {
  const server = await starting;
  running.push(server);
  return server;
}

/** A developer's own settings must not reach a Weir that a test starts, least of all a real database. */
function cleanEnvironment(): Record<string, string | undefined> {
  const kept = Object.entries(process.env).filter(
    ([name]) =>
      !['DATABASE_URL', 'REDIS_URL', 'PORT'].includes(name) &&
      (!name.startsWith('WEIR_') || name.startsWith('WEIR_TEST_')),
  );
  return Object.fromEntries(kept);
}

async function runTests(
  test_arguments: string[],
  report: string,
  environment: Record<string, string | undefined>,
): Promise<number> {
  const timings = join(ROOT, '.cache', 'test-timings.json');
  mkdirSync(join(ROOT, '.cache'), { recursive: true });
  // A fresh clone begins with what is known of the slowest files.
  if (!existsSync(timings)) copyFileSync(join(ROOT, 'test', 'timings.json'), timings);
  child = Bun.spawn(
    [
      process.execPath,
      'test',
      // Bun does not read a time-out from bunfig.toml.
      '--timeout=60000',
      // One process per core, each file in a global object of its own. It also notices a test that
      // ends its process, which a plain run takes for success.
      '--parallel',
      // Whatever a failed test left running ends with the process that started it.
      '--no-orphans',
      // The slowest files start first, so that both cores end together.
      ...[`--timings=${timings}`, '--update-timings'],
      ...['--reporter=junit', `--reporter-outfile=${report}`],
      ...test_arguments,
    ],
    { cwd: ROOT, env: environment, stdin: 'ignore', stdout: 'inherit', stderr: 'inherit' },
  );
  return child.exited;
}

function summarize(exit_code: number, report: string): number {
  if (interrupted !== undefined) return 130;
  const counts = readCounts(report);
  if (counts === undefined) {
    console.error('weir: bun test left no report');
    return exit_code || 1;
  }
  const skipped = counts.skipped > 0 ? `, ${counts.skipped} skipped` : '';
  if (exit_code !== 0 && counts.failed === 0) {
    console.error('weir: something failed outside of a test; look for "error:" above');
  }
  console.log(`${counts.passed} passed, ${counts.failed} failed${skipped}`);
  return exit_code || (counts.failed > 0 ? 1 : 0);
}

/** The totals of Bun's own report: the attributes of its outermost element. */
function readCounts(report: string): Counts | undefined {
  try {
    const totals = /<testsuites [^>]*>/.exec(readFileSync(report, 'utf8'))?.[0] ?? '';
    const total = (name: string) => Number(new RegExp(` ${name}="(\\d+)"`).exec(totals)?.[1]);
    const tests = total('tests');
    const failed = total('failures');
    const skipped = total('skipped');
    if (Number.isNaN(tests + failed + skipped)) return undefined;
    return { passed: tests - failed - skipped, failed, skipped };
  } catch {
    return undefined;
  }
}

function interrupt(signal: NodeJS.Signals): void {
  if (interrupted !== undefined) return;
  interrupted = signal;
  child?.kill('SIGTERM');
  setTimeout(() => child?.kill('SIGKILL'), INTERRUPT_PATIENCE_MS).unref();
}
