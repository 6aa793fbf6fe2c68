/**
 * Compares how fast the working tree and a commit settle charges: the statement of the ledger, sent by
 * one process to a server as Weir embeds it. The charges of the working tree have records of calls, and
 * its worker sums them meanwhile.
 */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { orExit } from '../test/support/arguments.ts';
import { removeFolder, throwawayFolder } from '../test/support/throwaway.ts';
import { checkOut, copyWorkingTree, resolveCommit } from './checkout.ts';
import { createCleanup } from './cleanup.ts';
import { type Databases, startDatabases } from './databases.ts';
import { readSettleOptions, type SettleOptions } from './settle-options.ts';
import type { Settled } from './settle-side.ts';
import type { SideName } from './side.ts';
import { median } from './statistics.ts';
import { type Pair, summarize, summaryLine, verdictLine } from './verdict.ts';

const SIDE = fileURLToPath(new URL('settle-side.ts', import.meta.url));

const options = orExit(() => readSettleOptions(process.argv.slice(2)));
const cleanup = createCleanup();
const code = await run(options).catch((error: unknown) => {
  console.error(`bench: ${error instanceof Error ? error.message : String(error)}`);
  return 3;
});
await cleanup.run();
process.exit(code);

async function run({ commit: name, pairs, bound, ...sizes }: SettleOptions): Promise<number> {
  const commit = await resolveCommit(name);
  const folder = throwawayFolder('settle');
  cleanup.add(() => removeFolder(folder));
  console.log(`old: ${commit.slice(0, 12)} · new: the working tree`);
  const roots: Record<SideName, string> = {
    old: (await checkOut(commit, join(folder, 'old'))).root,
    new: (await copyWorkingTree(join(folder, 'new'))).root,
  };
  const databases = await startDatabases(folder);
  cleanup.add(() => databases.stop());
  const rates: Pair[] = [];
  const all: Record<SideName, Settled[]> = { old: [], new: [] };
  for (let pair = 1; pair <= pairs; pair += 1) {
    const first: SideName[] = pair % 2 === 1 ? ['old', 'new'] : ['new', 'old'];
    const done: Record<SideName, Settled[]> = { old: [], new: [] };
    // In the order A B B A, a machine that becomes busier slows both versions equally.
    for (const side of [...first, ...first.toReversed()]) {
      done[side].push(await measure(databases, roots[side], sizes));
    }
    const rate = (side: SideName) => mean(done[side].map(({ lines_per_s }) => lines_per_s));
    rates.push({ old: rate('old'), new: rate('new') });
    for (const side of first) all[side].push(...done[side]);
    console.log(`pair ${pair}/${pairs}  ${pairText(done)}`);
  }
  const summary = summarize(rates, bound);
  console.log(cpuLine(all));
  console.log(summaryLine('settle', summary));
  console.log(verdictLine([summary], bound));
  return summary.slower ? 1 : 0;
}

/** Settles charges in a new database. */
async function measure(
  databases: Databases,
  root: string,
  { lines, statements }: Pick<SettleOptions, 'lines' | 'statements'>,
): Promise<Settled> {
  await databases.drop('settle');
  await databases.create('settle');
  const command = [process.execPath, SIDE, root, databases.url('settle'), lines, statements];
  const child = Bun.spawn(command.map(String), { stdout: 'pipe', stderr: 'pipe' });
  const [output, complaint] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  if ((await child.exited) !== 0) throw new Error(`a measurement failed: ${complaint}`);
  return JSON.parse(output) as Settled;
}

function pairText(done: Record<SideName, Settled[]>): string {
  const text = (side: SideName) =>
    `${side} ${mean(done[side].map(({ lines_per_s }) => lines_per_s)).toFixed(0)} lines/s`;
  return `${text('old')}  ${text('new')}`;
}

function cpuLine(all: Record<SideName, Settled[]>): string {
  const text = (side: SideName) => {
    const postgres = median(all[side].map(({ postgres_us }) => postgres_us)).toFixed(1);
    const weir = median(all[side].map(({ weir_us }) => weir_us)).toFixed(1);
    return `${side} PostgreSQL ${postgres} µs, Weir ${weir} µs`;
  };
  return `CPU of one line (medians): ${text('old')}; ${text('new')}`;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
