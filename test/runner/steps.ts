import pLimit from 'p-limit';
import { addCounts, type Counts, closingLine, NO_TESTS } from './counts.ts';
import { type Failure, failureLines } from './failures.ts';
import type { Missing } from './missing.ts';

/** What came of one step. */
export interface Outcome extends Counts {
  /** What failed, as far as it is known by name. */
  failures?: readonly Failure[];
  /** What failed at first, and passed when it ran again with nothing beside it. */
  unsteady?: readonly Failure[];
}

/** One heading of a run of tests. */
export interface Step {
  title: string;
  /** `before` counts the steps before it. */
  run(before: Counts): Promise<Outcome>;
}

export interface Totals {
  counts: Counts;
  /** False if anything failed or the run was interrupted. */
  succeeded: boolean;
}

export interface StepsOptions {
  /** True after an interrupt: the remaining steps and the total are left out. */
  stopped?: () => boolean;
  /** What could not run because it could not be installed; read after the last step. */
  missing?: () => Missing[];
  print: (line: string) => void;
}

/**
 * Runs the steps one after another, also after one that failed. Prints a heading and the time of
 * each, what could not run, what failed and why, and the total as the last line.
 */
export async function runSteps(steps: readonly Step[], options: StepsOptions): Promise<Totals> {
  const { print } = options;
  const several = steps.length > 1;
  const results: string[] = [];
  const failures: Failure[] = [];
  const unsteady: Failure[] = [];
  let counts = NO_TESTS;
  for (const step of steps) {
    if (options.stopped?.()) break;
    if (several) print(`\n== ${step.title}`);
    const started = performance.now();
    const own = await outcomeOf(step, counts);
    const seconds = ((performance.now() - started) / 1_000).toFixed(1);
    counts = addCounts(counts, own);
    failures.push(...(own.failures ?? []));
    unsteady.push(...(own.unsteady ?? []));
    results.push(`  ${closingLine(own)} in ${seconds} s: ${step.title}`);
    if (several) print(`== ${closingLine(own)} in ${seconds} s`);
  }
  if (options.stopped?.()) return { counts, succeeded: false };
  if (several) print(`\nSteps:\n${results.join('\n')}`);
  const missing = options.missing?.() ?? [];
  if (missing.length > 0) {
    const lines = missing.map(({ what, why }) => `  ${what}: ${why}`);
    print(`Could not run, because it could not be installed:\n${lines.join('\n')}`);
  }
  if (unsteady.length > 0) {
    print(`Failed, and passed when run again alone:\n${failureLines(unsteady).join('\n')}`);
  }
  if (failures.length > 0) print(`Failed:\n${failureLines(failures).join('\n')}`);
  print(closingLine(counts));
  return { counts, succeeded: counts.failed === 0 };
}

/** Returns a step that runs others two at a time: each waits for half of its time. */
export function twoAtATime(title: string, steps: readonly Step[]): Step {
  return {
    title,
    async run(before) {
      const turns = pLimit(2);
      const outcomes = await Promise.all(steps.map((step) => turns(() => outcomeOf(step, before))));
      return {
        ...outcomes.reduce(addCounts, NO_TESTS),
        failures: outcomes.flatMap(({ failures = [] }) => failures),
      };
    },
  };
}

async function outcomeOf(step: Step, before: Counts): Promise<Outcome> {
  try {
    return await step.run(before);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { passed: 0, failed: 1, skipped: 0, failures: [{ what: step.title, why }] };
  }
}
