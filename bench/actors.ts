/**
 * The command `bin/bench actors`: what the inspector's feed costs. Calls are measured beside watchers of all
 * events, and lists and single actors are read beside many live actors.
 */
import { fileURLToPath } from 'node:url';
import { orExit } from '../test/support/arguments.ts';
import { startSimulator } from '../test/support/simulator.ts';
import { removeFolder, throwawayFolder } from '../test/support/throwaway.ts';
import type { RunningWeir } from '../test/support/weir.ts';
import { readActorsOptions } from './actors-options.ts';
import { measureBeside } from './beside.ts';
import { createCleanup } from './cleanup.ts';
import { targetOf } from './contenders.ts';
import { startDatabases } from './databases.ts';
import { findProgram } from './programs.ts';
import { machine, writeSection } from './results-file.ts';
import { median } from './statistics.ts';
import { PROVIDERS } from './task-channels.ts';
import { TaskSide } from './task-side.ts';
import { summarize, summaryLine, verdictLine } from './verdict.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** The slowest of the samples of a list. */
const TARGET_MS = 1_000;
/** Polls of each task before it is copied. */
const POLLS_BEFORE = 2;

const options = orExit(() => readActorsOptions(process.argv.slice(2)));
const cleanup = createCleanup();
const code = await run().catch((error: unknown) => {
  console.error(`bench: ${error instanceof Error ? error.message : String(error)}`);
  return 3;
});
await cleanup.run();
process.exit(code);

async function run(): Promise<number> {
  const lines: string[] = [];
  const say = (line: string) => {
    lines.push(line);
    console.log(line);
  };
  const weir = await startWithActors();
  const slow = await readLists(weir, say);
  const isSlower = await besideWatchers(weir, say);
  if (options.write) writeSection('actors', sectionOf(lines));
  return !options.short && (slow || isSlower) ? 1 : 0;
}

/** Starts Weir with many tasks that wait for their providers. */
async function startWithActors(): Promise<RunningWeir> {
  const folder = throwawayFolder('actors');
  cleanup.add(() => removeFolder(folder));
  const databases = await startDatabases(folder);
  cleanup.add(() => databases.stop());
  const simulator = await startSimulator();
  cleanup.add(() => simulator.stop());
  const side = new TaskSide({
    ...{ name: 'new', root: ROOT, command: undefined, databases, simulator, folder },
    ...{ wrk: await findProgram('wrk'), unfinished: options.actors, polled: PROVIDERS },
    polls_before: POLLS_BEFORE,
  });
  cleanup.add(() => side.stop());
  await side.prepare(async () => undefined);
  await side.start();
  return side.weir;
}

function authorized({ operator_token }: RunningWeir) {
  return { headers: { authorization: `Bearer ${operator_token}` } };
}

/** Reads what the page of actors reads, one after the other. Returns true if one took too long. */
async function readLists(weir: RunningWeir, say: (line: string) => void): Promise<boolean> {
  const base = `${weir.base_url}/v1/operator/inspect/actors`;
  const [first] = (
    (await (await fetch(`${base}?kind=task&limit=1`, authorized(weir))).json()) as {
      data: { id: string }[];
    }
  ).data;
  const one = `${base}/task/${first?.id ?? ''}`;
  const reads: [name: string, url: string][] = [
    ['all living actors, first page', `${base}?limit=50`],
    ['stuck actors', `${base}?stuck=true&limit=50`],
    ['tasks in one state', `${base}?kind=task&state=processing&limit=50`],
    ['one actor', one],
    ['its events', `${one}/events`],
    ['its recording', `${one}/recording`],
  ];
  say(`| beside ${options.actors} live actors | median, ms | slowest, ms |`);
  say('|---|---|---|');
  let isSlow = false;
  for (const [name, url] of reads) {
    const times: number[] = [];
    for (let sample = 0; sample < options.samples; sample += 1) {
      const started = performance.now();
      const answer = await fetch(url, authorized(weir));
      const text = await answer.text();
      times.push(performance.now() - started);
      if (!answer.ok) throw new Error(`${url}: ${answer.status} ${text}`);
    }
    const slowest = Math.max(...times);
    if (slowest > TARGET_MS) isSlow = true;
    say(`| ${name} | ${median(times).toFixed(0)} | ${slowest.toFixed(0)} |`);
  }
  return isSlow;
}

/** Measures calls with and without watchers, in turns. Returns true if they are slower with them. */
async function besideWatchers(weir: RunningWeir, say: (line: string) => void): Promise<boolean> {
  let bytes = 0;
  const pairs = await measureBeside({
    ...{ target: targetOf(weir, false), cleanup, ...options },
    async begin() {
      const end = new AbortController();
      const watch = async () => {
        const init = { ...authorized(weir), signal: end.signal };
        const { body } = await fetch(`${weir.base_url}/v1/operator/inspect/events`, init);
        for await (const part of body ?? []) bytes += part.byteLength;
      };
      const watching = Array.from({ length: options.watchers }, () =>
        watch().catch(() => undefined),
      );
      return async () => {
        end.abort();
        await Promise.all(watching);
      };
    },
  });
  if (bytes === 0) throw new Error('the watchers saw nothing');
  const summary = summarize(pairs, options.bound);
  const kb = bytes / 1_024 / (options.pairs * options.seconds * options.watchers);
  say(
    `\n${options.watchers} watchers of the events of all actors, ${kb.toFixed(0)} kB a second each:`,
  );
  say(`${summaryLine('calls', summary)}; ${verdictLine([summary], options.bound)}`);
  return summary.slower;
}

function sectionOf(lines: readonly string[]): string {
  return `## The inspector

\`bin/bench actors\`, ${machine()}. Target of each list: ${TARGET_MS} ms. Weir, PostgreSQL, the simulator, the load and the
watchers share the machine.

${lines.join('\n')}`;
}
