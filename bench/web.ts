/**
 * The command `bin/bench web`: what the dashboard costs its readers (script, time, memory) and what open
 * dashboards cost the calls beside them.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { orExit } from '../test/support/arguments.ts';
import { type DashboardWorld, startDashboard } from '../test/support/dashboard.ts';
import { startSimulator } from '../test/support/simulator.ts';
import { measureBeside } from './beside.ts';
import { createCleanup } from './cleanup.ts';
import { chatChannel, ROLES, targetOf } from './contenders.ts';
import { machine, writeSection } from './results-file.ts';
import { summarize, summaryLine, verdictLine } from './verdict.ts';
import { callOnce, openDashboards, readsOfOverview, signInPeople } from './web-dashboards.ts';
import { readWebOptions } from './web-options.ts';
import { MEASURED_PAGES, measureRounds, type PageFigures } from './web-pages.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const KB = 1_024;
const MB = KB * KB;
/** The budgets. The first page is the overview. */
const BUDGET = {
  ...{ first_script_kb: 160, script_kb: 250, requests: 25, cold_ms: 1_000, warm_ms: 100 },
  ...{ build_s: 5, memory_mb: 20 },
};
/** Pause between two calls of the memory measurement, ms: each makes an event of its own. */
const EVENT_PAUSE_MS = 20;

const options = orExit(() => readWebOptions(process.argv.slice(2)));
const cleanup = createCleanup();
const code = await run().catch((error: unknown) => {
  console.error(`bench: ${error instanceof Error ? error.message : String(error)}`);
  return 3;
});
await cleanup.run();
process.exit(code);

async function run(): Promise<number> {
  const lines: string[] = [];
  const missed: string[] = [];
  const say = (line: string) => {
    lines.push(line);
    console.log(line);
  };
  const check: Check = (what, value, budget, unit) => {
    if (value > budget && !options.short) missed.push(`${what}: ${value.toFixed(1)} ${unit}`);
  };
  const build_s = await buildSeconds();
  check('the build', build_s, BUDGET.build_s, 's');
  say(`The build takes ${build_s.toFixed(1)} s (budget: ${BUDGET.build_s} s).\n`);
  const simulator = await startSimulator();
  cleanup.add(() => simulator.stop());
  const config = JSON.stringify({ channels: [chatChannel(simulator.url)], roles: ROLES });
  const world = await startDashboard({ config, env: { WEIR_BOOTSTRAP_BALANCE_USD: '1000000' } });
  cleanup.add(() => world.stop());
  await callOnce(world);
  say('| page | script, kB | requests | first paint, ms | data, ms | opened again, ms |');
  say('|---|---|---|---|---|---|');
  for (const path of MEASURED_PAGES) {
    const figures = await measureRounds(world, path, options.rounds);
    say(rowOf(figures));
    const most = path === '/' ? BUDGET.first_script_kb : BUDGET.script_kb;
    check(`script of ${path}`, figures.script_bytes / KB, most, 'kB');
    check(`requests of ${path}`, figures.requests, BUDGET.requests, '');
    check(`${path} cold`, figures.cold_ms, BUDGET.cold_ms, 'ms');
    check(`${path} opened again`, figures.warm_ms, BUDGET.warm_ms, 'ms');
  }
  const slower = options.only_pages ? false : await openFor(world, say, check);
  for (const each of missed) console.error(`bench: over its budget: ${each}`);
  if (options.write) writeSection('web', sectionOf(lines));
  return slower || missed.length > 0 ? 1 : 0;
}

type Check = (what: string, value: number, budget: number, unit: string) => void;

/** Measures what open pages cost over time: their memory, and the calls beside them. True if calls are slower. */
async function openFor(
  world: DashboardWorld,
  say: (line: string) => void,
  check: Check,
): Promise<boolean> {
  const grown_mb = await memoryGrowth(world);
  check('memory', grown_mb, BUDGET.memory_mb, 'MB');
  say(
    `\nMemory of the overview after ${options.events} events: ${grown_mb.toFixed(1)} MB more (budget: ${BUDGET.memory_mb} MB).`,
  );
  return beside(world, say);
}

/** How long the build takes on a fresh clone whose packages are installed, s. */
async function buildSeconds(): Promise<number> {
  rmSync(join(ROOT, '.cache/web'), { recursive: true, force: true });
  const started = performance.now();
  const child = Bun.spawn([process.execPath, join(ROOT, 'web/build.ts')], { stdout: 'ignore' });
  if ((await child.exited) !== 0) throw new Error('the dashboard could not be built');
  return (performance.now() - started) / 1_000;
}

function rowOf(figures: PageFigures): string {
  const { path, script_bytes, requests, paint_ms, cold_ms, warm_ms } = figures;
  const times = [paint_ms, cold_ms, warm_ms].map((ms) => ms.toFixed(0));
  return `| ${path} | ${(script_bytes / KB).toFixed(0)} | ${requests} | ${times.join(' | ')} |`;
}

/** How much more memory the overview has after many events, MB. */
async function memoryGrowth(world: DashboardWorld): Promise<number> {
  const { page } = await world.open('/');
  await page.waitForTimeout(1_000);
  const devtools = await page.context().newCDPSession(page);
  const used = async () => {
    await devtools.send('HeapProfiler.collectGarbage');
    return (await devtools.send('Runtime.getHeapUsage')).usedSize / MB;
  };
  const before = await used();
  for (let sent = 0; sent < options.events; sent += 1) {
    await callOnce(world);
    await Bun.sleep(EVENT_PAUSE_MS);
  }
  await page.waitForTimeout(1_000);
  const after = await used();
  await page.context().close();
  return after - before;
}

/** Measures calls with and without open dashboards, in turns. Returns true if they are slower with them. */
async function beside(world: DashboardWorld, say: (line: string) => void): Promise<boolean> {
  const { weir } = world;
  const reads = await readsOfOverview(world);
  const cookies = await signInPeople(world, options.dashboards);
  let answered = 0;
  let cpu_s = 0;
  const pairs = await measureBeside({
    ...{ target: targetOf(weir, false), cleanup, ...options },
    async begin() {
      const close = openDashboards({ base_url: weir.base_url, cookies, reads });
      return async () => {
        const closed = await close();
        answered += closed.reads;
        cpu_s += closed.cpu_s;
      };
    },
  });
  const summary = summarize(pairs, options.bound);
  const seconds = options.pairs * options.seconds;
  const after = reads.filter(({ every_ms }) => every_ms === undefined).length;
  say(
    `\n${options.dashboards} open overviews of as many people, each with its event stream, ${after} reads after events and ${reads.length - after} by the clock (${(answered / seconds).toFixed(0)} reads a second). Their clients share the machine, and take ${((100 * cpu_s) / seconds).toFixed(1)} % of a core:`,
  );
  say(`${summaryLine('calls', summary)}; ${verdictLine([summary], options.bound)}`);
  return summary.slower && !options.short;
}

function sectionOf(lines: readonly string[]): string {
  return `## The dashboard

\`bin/bench web\`, ${machine()}. Chromium without a cache opens each page of a new installation; script is
counted as it is sent. Budgets: ${BUDGET.first_script_kb} kB of script for the overview, ${BUDGET.script_kb} kB for others, ${BUDGET.requests} requests,
data within ${BUDGET.cold_ms} ms, and within ${BUDGET.warm_ms} ms when the page is opened again. The browser and Weir share the machine.

${lines.join('\n')}`;
}
