/**
 * The command `bin/bench cache`: what an answer from the cache costs, beside the same call through Weir and
 * through nginx, and what the cache saves of a trace of repeated questions.
 */
import { orExit } from '../test/support/arguments.ts';
import { startSimulator } from '../test/support/simulator.ts';
import { removeFolder, throwawayFolder } from '../test/support/throwaway.ts';
import { until } from '../test/support/until.ts';
import { type RunningWeir, startWeir } from '../test/support/weir.ts';
import { type CacheSpeedOptions, readCacheOptions } from './cache-options.ts';
import { runCachePairs } from './cache-pairs.ts';
import { cacheSection, roundLine } from './cache-report.ts';
import { replayTrace, sendHerd, TRACE_MODEL, TRACE_PRICE, totalOf } from './cache-trace.ts';
import { type CacheFindings, type CacheRound, failuresOf } from './cache-verdict.ts';
import { createCleanup } from './cleanup.ts';
import { type Contender, chatChannel, hitTargetOf, nginx, ROLES, targetOf } from './contenders.ts';
import { flawOfMeasurement, type Load, measure, waitUntilIdle } from './load.ts';
import { cpuSeconds } from './process.ts';
import { findProgram, type Program } from './programs.ts';
import { writeSection } from './results-file.ts';
import type { Target } from './target.ts';

const US_PER_S = 1e6;
/** Bun compiles the hot code in the first seconds (`side.ts`), s. */
const WARM_UP_S = 8;

const options = orExit(() => readCacheOptions(process.argv.slice(2)));
const cleanup = createCleanup();
const code = await (options.mode === 'pairs' ? runCachePairs(options) : run(options)).catch(
  (error: unknown) => {
    console.error(`bench: ${error instanceof Error ? error.message : String(error)}`);
    return 3;
  },
);
await cleanup.run();
process.exit(code);

/** What is loaded in turn. */
interface World {
  readonly wrk: Program;
  readonly folder: string;
  readonly nginx: Contender;
  readonly weir: RunningWeir;
}

async function run(options: CacheSpeedOptions): Promise<number> {
  const folder = throwawayFolder('cache');
  cleanup.add(() => removeFolder(folder));
  const simulator = await startSimulator();
  cleanup.add(() => simulator.stop());
  const weir = await startCaching(simulator.url);
  cleanup.add(() => weir.stop());
  const proxy = await nginx(simulator.url, folder);
  cleanup.add(() => proxy.stop());
  const world = { wrk: await findProgram('wrk'), folder, nginx: proxy, weir };
  const { rounds, answered } = await measureRounds(world, options);
  const on_record = await hitsOnRecord(weir, answered);
  const trace = await replayTrace(weir, simulator.url, options.trace);
  const herd = {
    calls: options.herd,
    whole: await sendHerd(weir, simulator.url, options.herd, false),
    stream: await sendHerd(weir, simulator.url, options.herd, true),
  };
  const found: CacheFindings = { rounds, hits: { answered, on_record }, trace, herd };
  const section = cacheSection(found, options);
  console.log(`\n${section}`);
  const failures = failuresOf(found, options.short);
  for (const failure of failures) console.error(`bench: ${failure}`);
  if (options.write) writeSection('cache', section);
  return failures.length > 0 ? 1 : 0;
}

/** Starts Weir as in production, with its cache on and its own database. */
function startCaching(simulator_url: string): Promise<RunningWeir> {
  const channel = chatChannel(simulator_url);
  const [physical] = Object.values(channel.models);
  const models = { ...channel.models, [TRACE_MODEL]: physical };
  return startWeir({
    env: { WEIR_BOOTSTRAP_BALANCE_USD: '1000000', WEIR_CACHE: 'on' },
    config: JSON.stringify({
      channels: [{ ...channel, models }],
      models: [
        {
          ...{ id: TRACE_MODEL, category: 'chat', owned_by: 'bench', family: 'openai-chat' },
          price: TRACE_PRICE,
        },
      ],
      roles: ROLES,
    }),
  });
}

/** Measures all sides in each round, one after the other. Counts the hits that were answered. */
async function measureRounds(
  world: World,
  options: CacheSpeedOptions,
): Promise<{ rounds: CacheRound[]; answered: number }> {
  const { connections, seconds, short } = options;
  const rounds: CacheRound[] = [];
  let answered = 0;
  for (const stream of [false, true]) {
    const proxied = { ...targetOf(world.weir, stream), cache: 'bypass' as const };
    const hit = hitTargetOf(world.weir, stream);
    // The first call is no hit: it fills the cache.
    await send(hit);
    const load = { connections, seconds, stream };
    const side = async (target: Target, own: Load) => {
      if (!short) await waitUntilIdle();
      const before_s = cpuSeconds(world.weir.pid);
      const measured = await measure(world.wrk, target, world.folder, own);
      const flaw = flawOfMeasurement(measured);
      if (flaw !== undefined) throw new Error(flaw);
      const cpu_us = ((cpuSeconds(world.weir.pid) - before_s) / measured.answers) * US_PER_S;
      if (target === hit) answered += measured.answers + measured.read;
      return { per_s: measured.requests_per_s, cpu_us };
    };
    if (!short)
      for (const each of [proxied, hit]) await side(each, { ...load, seconds: WARM_UP_S });
    for (let round = 1; round <= options.rounds; round += 1) {
      const through_nginx = await side(world.nginx.target(stream), load);
      const through_weir = await side(proxied, load);
      const from_cache = await side(hit, load);
      rounds.push({
        stream,
        ...{ nginx_per_s: through_nginx.per_s, proxied_per_s: through_weir.per_s },
        ...{ hits_per_s: from_cache.per_s, proxied_us: through_weir.cpu_us },
        hit_us: from_cache.cpu_us,
      });
      console.log(roundLine(rounds.at(-1) as CacheRound, round, options.rounds));
    }
  }
  return { rounds, answered };
}

async function send({ url, headers, body }: Target): Promise<void> {
  const answer = await fetch(url, { method: 'POST', headers, body });
  await answer.text();
  if (!answer.ok) throw new Error(`the first call failed: ${answer.status}`);
}

/** Returns how many hits are on record, once all that were answered had the time to be written. */
async function hitsOnRecord(weir: RunningWeir, answered: number): Promise<number> {
  await until('all hits are on record', async () => {
    return (await totalOf(weir, 'cache_hits')) >= answered;
  }).catch(() => undefined);
  return totalOf(weir, 'cache_hits');
}
