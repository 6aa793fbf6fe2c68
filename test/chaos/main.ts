/** The command line of `bin/chaos`: each experiment prints its counts. */
import type { ParseArgsOptionsConfig } from 'node:util';
import {
  ArgumentError,
  orExit,
  parseOptions,
  seedOf,
  type Values,
  whole,
} from '../support/arguments.ts';
import { runBatchKills } from './batches.ts';
import { runBrownOut } from './channels.ts';
import { runKills } from './kill.ts';
import { pauseCommand as pause } from './pause-command.ts';
import { type CaseReport, runTaskKills } from './tasks.ts';
import { printTaskKills } from './tasks-table.ts';
import { watchThroughKill, watchViolations } from './watch.ts';

/** Runs once and returns true if nothing was wrong. */
type Experiment = (args: string[]) => Promise<boolean>;
const EXPERIMENTS: Record<string, Experiment> = { kill, pause, tasks, watch, channels, batches };

const [name = '', ...args] = process.argv.slice(2);
if (['ledger', 'mishaps', 'durable'].includes(name)) await import('../sim/main.ts');
else {
  const experiment = Object.hasOwn(EXPERIMENTS, name) ? EXPERIMENTS[name] : undefined;
  if (!experiment) {
    console.error(`No experiment ${name || 'is named'}. Try bin/chaos --help.`);
    process.exit(2);
  }
  process.exit((await experiment(args)) ? 0 : 1);
}

/** Reads the arguments of an experiment; ends the process if one is wrong. */
function read<Options extends ParseArgsOptionsConfig>(
  args: string[],
  options: Options,
): Values<keyof Options & string> {
  return orExit(() => parseOptions(args, options));
}

async function watch(args: string[]): Promise<boolean> {
  const { redis } = read(args, { redis: { type: 'string' } });
  const report = await watchThroughKill(typeof redis === 'string' ? redis : undefined);
  const { clients, watched, log, errors, ...counts } = report;
  const events = clients.map((seen) => seen.map(({ id, event }) => `${id} ${event}`).join(', '));
  console.log({ ...counts, log: log.length, watched: watched.length, events, errors });
  const violations = watchViolations(report);
  for (const violation of violations) console.error(violation);
  return violations.length === 0;
}

async function kill(args: string[]): Promise<boolean> {
  const values = read(args, {
    victim: { type: 'string' },
    kills: { type: 'string' },
    streams: { type: 'string' },
    tasks: { type: 'string' },
    'load-ms': { type: 'string' },
    seed: { type: 'string' },
  });
  const options = orExit(() => ({
    victims: victimsOf(values.victim),
    kills: whole(values, 'kills', 3),
    streams: whole(values, 'streams', 50),
    tasks: whole(values, 'tasks', 8),
    load_ms: whole(values, 'load-ms', 3_000),
    seed: seedOf(values),
  }));
  const { victims, ...common } = options;
  let isClean = true;
  for (const victim of victims) {
    const report = await runKills({ victim, ...common });
    console.log(
      `kill -9 of ${victim}, ${common.kills} times, ${common.streams} streams, ${common.tasks} clients of tasks, seed ${common.seed}`,
    );
    console.table(report.violations.length > 0 ? report : { ...report, violations: 'none' });
    isClean &&= report.violations.length === 0;
  }
  return isClean;
}

function victimsOf(victim: string | boolean | undefined): ('weir' | 'database')[] {
  if (victim === undefined) return ['weir', 'database'];
  if (victim === 'weir' || victim === 'database') return [victim];
  throw new ArgumentError(`--victim must be weir or database, not "${victim}".`);
}

async function tasks(args: string[]): Promise<boolean> {
  const values = read(args, {
    step: { type: 'string' },
    provider: { type: 'string' },
    parallel: { type: 'string' },
    sample: { type: 'string' },
    runs: { type: 'string' },
    seed: { type: 'string' },
  });
  const { step, provider, sample } = values;
  const options = orExit(() => ({
    parallel: whole(values, 'parallel', 4),
    ...(sample === undefined ? {} : { sample: whole(values, 'sample', 1) }),
    ...(typeof step === 'string' ? { step } : {}),
    ...(typeof provider === 'string' ? { provider } : {}),
  }));
  const { runs, seed: first } = orExit(() => ({
    runs: whole(values, 'runs', 1),
    seed: seedOf(values),
  }));
  let isClean = true;
  for (let seed = first; seed < first + runs; seed += 1) {
    const began = performance.now();
    const reports = await runTaskKills({ ...options, seed }, (report) => printCase(report, seed));
    printTaskKills(reports);
    const seconds = ((performance.now() - began) / 1_000).toFixed(0);
    console.log(`run ${seed - first + 1} of ${runs}, --seed ${seed}: ${seconds} s`);
    isClean &&= reports.length > 0 && reports.every(({ violations }) => violations.length === 0);
  }
  return isClean;
}

/** Prints a case as soon as it has ended, because a run that is stopped early has no table. */
function printCase(report: CaseReport, seed: number): void {
  const { step, provider, violations, evidence } = report;
  console.error(`${violations.length > 0 ? 'WRONG' : 'right'}  ${step} / ${provider}`);
  if (violations.length === 0) return;
  for (const violation of violations) console.error(`       ${violation}`);
  console.error(`       alone: bin/chaos tasks --step '${step}' --provider '${provider}'`);
  console.error(
    `       with the cases before it: bin/chaos tasks --provider '${provider}' --seed ${seed}`,
  );
  for (const line of evidence) console.error(`       | ${line}`);
}

async function batches(args: string[]): Promise<boolean> {
  const values = read(args, {
    kills: { type: 'string' },
    requests: { type: 'string' },
    seed: { type: 'string' },
  });
  const options = orExit(() => ({
    kills: whole(values, 'kills', 5),
    requests: whole(values, 'requests', 400),
    seed: seedOf(values),
  }));
  const report = await runBatchKills({ ...options, work_ms: 1_000 });
  console.log(`seed ${options.seed}`);
  console.table(report.violations.length > 0 ? report : { ...report, violations: 'none' });
  return report.violations.length === 0;
}

async function channels(args: string[]): Promise<boolean> {
  const values = read(args, {
    clients: { type: 'string' },
    'fault-ms': { type: 'string' },
    seed: { type: 'string' },
  });
  const options = orExit(() => ({
    clients: whole(values, 'clients', 40),
    fault_ms: whole(values, 'fault-ms', 20_000),
    seed: seedOf(values),
  }));
  const report = await runBrownOut(options);
  const { calls, succeeded, success, violations, ...byChannel } = report;
  console.log(`${calls} calls, ${succeeded} succeeded: ${(success * 100).toFixed(3)} %`);
  const rows = Object.keys(report.wasted).map((channel) => [
    channel,
    Object.fromEntries(
      Object.entries(byChannel).map(([what, figures]) => [what, String(figures[channel])]),
    ),
  ]);
  console.table(Object.fromEntries(rows));
  // Only the slow and the dead channel recover for certain. The circuit of the failing channel may
  // never have been open.
  const herd = Math.max(report.herd['slow'] ?? 0, report.herd['dead'] ?? 0);
  console.log(`no thundering herd: ${herd <= 1 ? 'right' : 'WRONG'}`);
  console.log(`books (seed ${options.seed}): ${violations.length === 0 ? 'agree' : 'WRONG'}`);
  for (const violation of violations) console.error(violation);
  return success >= 0.999 && herd <= 1 && violations.length === 0;
}
