/**
 * Measures Weir with many unfinished tasks, of which a part is polled: memory, polls, and how many
 * inline calls Weir answers meanwhile. With `--against`, also measures an older commit with the
 * same tasks.
 */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startSimulator } from '../test/support/simulator.ts';
import { removeFolder, throwawayFolder } from '../test/support/throwaway.ts';
import { checkOut, copyWorkingTree, resolveCommit } from './checkout.ts';
import { type Cleanup, createCleanup } from './cleanup.ts';
import { startDatabases } from './databases.ts';
import { cpuSeconds, peakMb, residentMb } from './process.ts';
import { findProgram } from './programs.ts';
import { machine, writeSection } from './results-file.ts';
import type { SideName } from './side.ts';
import { median } from './statistics.ts';
import { watchPolls } from './task-channels.ts';
import type { UnfinishedOptions } from './task-options.ts';
import { type FinalState, type InlineResult, TaskSide, type TaskSideOptions } from './task-side.ts';
import {
  type InlinePair,
  lossVerdict,
  memoryPerTaskVerdict,
  memoryVerdict,
  pollVerdict,
  rateVerdict,
  type Verdict,
} from './task-verdict.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** After this number of polls, the pause between two polls of a task is the longest. */
const POLLS_UNTIL_LONGEST_PAUSE = 5;

type Sides = { new: TaskSide; old?: TaskSide };

/** Returns the exit code: 1 if a target is missed. */
export async function runUnfinished(options: UnfinishedOptions): Promise<number> {
  const undo = createCleanup();
  try {
    const run = new UnfinishedRun(options);
    const sides = await prepareSides(options, undo, run);
    await run.watch(sides.new);
    const { old } = sides;
    if (old !== undefined) await run.compare({ new: sides.new, old });
    const verdicts = run.verdicts();
    const conclusions = [...run.disturbances(), ...verdicts.map(({ text }) => text)];
    console.log(`\n${conclusions.join('\n')}`);
    if (options.write) writeSection('tasks', sectionOf(options, run.lines, conclusions));
    return verdicts.every(({ met }) => met) ? 0 : 1;
  } finally {
    await undo.run();
  }
}

/** Starts the servers that all runs share, and prepares the tasks of each version. */
async function prepareSides(
  options: UnfinishedOptions,
  undo: Cleanup,
  run: UnfinishedRun,
): Promise<Sides> {
  const folder = throwawayFolder('tasks');
  undo.add(() => removeFolder(folder));
  const wrk = await findProgram('wrk');
  const databases = await startDatabases(folder);
  undo.add(() => databases.stop());
  const simulator = await startSimulator();
  undo.add(() => simulator.stop());
  const side = async (name: SideName, root: string, command: string[] | undefined) => {
    const { unfinished, polled, short } = options;
    const polls_before = short ? 2 : POLLS_UNTIL_LONGEST_PAUSE;
    const parts: TaskSideOptions = {
      ...{ name, root, command, databases, simulator, wrk, folder },
      ...{ unfinished, polled, polls_before },
    };
    const made = new TaskSide(parts);
    undo.add(() => made.stop());
    await run.prepare(name, made);
    return made;
  };
  if (options.against === undefined) return { new: await side('new', ROOT, undefined) };
  const commit = await resolveCommit(options.against);
  console.log(`old: ${commit.slice(0, 12)} · new: the working tree`);
  const old = await checkOut(commit, join(folder, 'old'));
  const now = await copyWorkingTree(join(folder, 'new'));
  return {
    old: await side('old', old.root, old.weir),
    new: await side('new', now.root, now.weir),
  };
}

class UnfinishedRun {
  readonly lines: string[] = [];
  readonly #pairs: InlinePair[] = [];
  readonly #measured: InlineResult[] = [];
  readonly #aftermaths: FinalState[] = [];
  #before_mb = 0;
  #with_tasks_mb = 0;
  #peak_mb = 0;

  constructor(private readonly options: UnfinishedOptions) {}

  /** Prepares the tasks of a version. Measures its inline calls while it has only a few tasks. */
  async prepare(name: SideName, side: TaskSide): Promise<void> {
    const began = performance.now();
    await side.prepare(async () => {
      this.#before_mb = residentMb(side.pid);
      const { rate } = this.#counted(await side.inline(this.options));
      this.#say(`${name}: inline calls a second without tasks`, `${Math.round(rate)}`);
    });
    this.#say(
      `${name}: preparing ${this.options.unfinished} tasks`,
      `${((performance.now() - began) / 1_000).toFixed(0)} s`,
    );
  }

  /** Measures memory, CPU and polls, first alone, then with inline calls. */
  async watch(side: TaskSide): Promise<void> {
    const { watch_seconds, polled } = this.options;
    this.#say('memory of Weir without tasks', `${this.#before_mb} MB`);
    this.#say('from the start until all tasks are adopted', `${(await side.start()).toFixed(1)} s`);
    this.#say('memory when all are adopted', `${residentMb(side.pid)} MB`);
    await side.settle();
    const cpu = cpuSeconds(side.pid);
    const per_second = (await watchPolls(side.simulator, watch_seconds * 1_000)).sort(
      (a, b) => a - b,
    );
    const used = (cpuSeconds(side.pid) - cpu) / watch_seconds;
    this.#with_tasks_mb = residentMb(side.pid);
    this.#say(`memory after ${watch_seconds} s of polls`, `${this.#with_tasks_mb} MB`);
    this.#say('live actors in memory', await side.residentActors());
    this.#say(
      `CPU of Weir while it polls ${polled} tasks`,
      `${(used * 100).toFixed(0)} % of one core`,
    );
    this.#say(
      'polls a second, sampled each second: least / median / most',
      `${per_second[0]} / ${median(per_second)} / ${per_second.at(-1)}`,
    );
    const found = await this.#measure(side);
    this.#say('inline calls a second beside these tasks', `${Math.round(found.rate)}`);
    this.#say('polls a second meanwhile', `${Math.round(found.polls)}`);
    this.#say('most memory in this run', `${this.#peak_mb} MB`);
    await this.#finish(side);
  }

  /**
   * Measures both versions in pairs. Only one version runs at a time, because the polls of the
   * other version would use the same CPU.
   */
  async compare(sides: Record<SideName, TaskSide>): Promise<void> {
    const { pairs } = this.options;
    for (let pair = 1; pair <= pairs; pair += 1) {
      const order: SideName[] = pair % 2 === 1 ? ['old', 'new'] : ['new', 'old'];
      const found: Partial<InlinePair> = {};
      for (const name of order) {
        await sides[name].start();
        await sides[name].settle();
        found[name] = await this.#measure(sides[name], name === 'new');
        await this.#finish(sides[name]);
      }
      const both = found as InlinePair;
      this.#pairs.push(both);
      console.log(`pair ${pair}/${pairs} ${pairText(both)}`);
    }
    for (const name of ['old', 'new'] as const) {
      const middle = (field: 'rate' | 'polls') =>
        Math.round(median(this.#pairs.map((pair) => pair[name][field])));
      this.#say(
        `${name}: inline calls / polls a second, medians of ${pairs} pairs`,
        `${middle('rate')} / ${middle('polls')}`,
      );
    }
  }

  verdicts(): Verdict[] {
    const { short, unfinished } = this.options;
    const memory = short
      ? memoryPerTaskVerdict(this.#with_tasks_mb - this.#before_mb, unfinished)
      : memoryVerdict(this.#peak_mb);
    const rates =
      this.#pairs.length === 0 ? [] : [rateVerdict(this.#pairs), pollVerdict(this.#pairs)];
    return [memory, ...rates, lossVerdict(this.#aftermaths)];
  }

  async #measure(side: TaskSide, is_new = true): Promise<InlineResult> {
    const found = this.#counted(await side.inline(this.options));
    if (is_new) this.#peak_mb = Math.max(this.#peak_mb, peakMb(side.pid));
    return found;
  }

  /** A line if other programs used the machine, otherwise none. */
  disturbances(): string[] {
    const disturbed = this.#measured.filter((each) => each.disturbed).length;
    if (disturbed === 0) return [];
    const count = `${disturbed} of ${this.#measured.length}`;
    return [
      `Other programs used the machine in ${count} measurements of inline calls. Repeat the run on an idle machine.`,
    ];
  }

  #counted(found: InlineResult): InlineResult {
    this.#measured.push(found);
    return found;
  }

  async #finish(side: TaskSide): Promise<void> {
    this.#aftermaths.push(await side.finish());
  }

  #say(what: string, figure: string): void {
    console.log(`${what.padEnd(70)} ${figure}`);
    this.lines.push(`| ${what} | ${figure} |`);
  }
}

function pairText(pair: InlinePair): string {
  const text = ({ rate, polls }: InlineResult) =>
    `${Math.round(rate)}/s (${Math.round(polls)} polls/s)`;
  const ratio = (pair.new.rate / pair.old.rate).toFixed(3);
  return `old ${text(pair.old)} new ${text(pair.new)} new/old ${ratio}`;
}

function sectionOf(options: UnfinishedOptions, lines: string[], conclusions: string[]): string {
  const { unfinished, polled, against, pairs, seconds, connections } = options;
  const command = [
    `bin/bench tasks --unfinished ${unfinished} --polled ${polled}`,
    ...(against === undefined ? [] : [`--against ${against} --pairs ${pairs}`]),
    `--seconds ${seconds} --connections ${connections}`,
  ].join(' ');
  return `## ${unfinished} unfinished tasks, ${polled} of them polled

\`${command}\`, ${machine()}.
Weir, the simulated providers, PostgreSQL (fsync on) and the load generator share these cores. A quarter each
of Veo, Kling, Ark and Suno jobs. The tasks are copies of one task of each provider, made in the database
while Weir was stopped; then Weir starts and adopts them. Inline calls are chat completions.

| | |
|---|---|
${lines.join('\n')}

${conclusions.map((text) => `- ${text}`).join('\n')}
`;
}
