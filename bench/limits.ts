/**
 * The command `bin/bench limits`: what all limits and budgets cost calls that none of them refuses. One Weir serves
 * both keys, so that the start of a process and the place of its data affect both equally.
 */
import { orExit } from '../test/support/arguments.ts';
import { startTestRedis } from '../test/support/redis.ts';
import { startSimulator } from '../test/support/simulator.ts';
import { removeFolder, throwawayFolder } from '../test/support/throwaway.ts';
import { flawOfCall } from './answers.ts';
import { createCleanup } from './cleanup.ts';
import { weir } from './contenders.ts';
import { BenchKey } from './limited-key.ts';
import { type LimitsOptions, readLimitsOptions } from './limits-options.ts';
import { isSlower, limitsSection } from './limits-report.ts';
import type { Load } from './load.ts';
import { compare, type Found, KINDS, measureBoth, noWork, pairText } from './pairs.ts';
import { findProgram, type Program } from './programs.ts';
import { writeSection } from './results-file.ts';
import { InvalidMeasurement, measureWork, type SideName } from './side.ts';

/**
 * Both keys are loaded so long before each pair, with plain calls and with streams, in so many rounds. They share
 * the compiled code, so each of them needs half the time of a Weir of its own (`side.ts`).
 */
const WARM_UP_S = 3;
const WARM_UPS = 2;
const SIDES: readonly SideName[] = ['old', 'new'];

const options = orExit(() => readLimitsOptions(process.argv.slice(2)));
const cleanup = createCleanup();
const code = await run(options).catch((error: unknown) => {
  console.error(`bench: ${error instanceof Error ? error.message : String(error)}`);
  return 3;
});
await cleanup.run();
process.exit(code);

async function run(options: LimitsOptions): Promise<number> {
  const { pairs, bound, short, write, redis } = options;
  const folder = throwawayFolder('limits');
  cleanup.add(() => removeFolder(folder));
  const wrk = await findProgram('wrk');
  console.log('old: a key without limits · new: a key with all limits, of the same Weir');
  const found: Found = { plain: [], stream: [] };
  for (let pair = 1; pair <= pairs; pair += 1) {
    const order = pair % 2 === 1 ? SIDES : SIDES.toReversed();
    for (const [kind, measured] of await measurePair({ wrk, folder, order }, options)) {
      found[kind].push(measured);
      console.log(`pair ${pair}/${pairs} ${pairText(kind, measured)}`);
    }
  }
  const section = limitsSection(found, options);
  console.log(`\n${section}`);
  if (write) writeSection(redis ? 'limits-redis' : 'limits', section);
  return !short && isSlower(found, bound) ? 1 : 0;
}

interface Surroundings {
  readonly wrk: Program;
  readonly folder: string;
  readonly order: readonly SideName[];
}

/**
 * Starts Weir, loads both keys in the order A B B A B A A B, and stops Weir. In this order, a Weir that still becomes
 * faster, less and less, favours no key.
 */
async function measurePair(
  { wrk, folder, order }: Surroundings,
  { connections, seconds, redis }: LimitsOptions,
) {
  const ends = createCleanup();
  cleanup.add(() => ends.run());
  try {
    const simulator = await startSimulator();
    ends.add(() => simulator.stop());
    const server = redis ? await startTestRedis() : undefined;
    ends.add(() => server?.stop());
    const env = server ? { env: { REDIS_URL: server.url } } : {};
    const { weir: running, stop } = await weir(simulator.url, env);
    ends.add(stop);
    const keys = {
      old: await BenchKey.create(running, 'without limits'),
      new: await BenchKey.create(running, 'with limits'),
    };
    await keys.new.limit();
    const sideOf = (name: SideName) => ({
      measure: (load: Load) =>
        measureWork({ name, wrk, folder, pid: running.pid }, keys[name].target(load.stream), load),
    });
    const sides = { old: sideOf('old'), new: sideOf('new') };
    for (let round = 0; round < WARM_UPS; round += 1) {
      for (const stream of [false, true]) {
        for (const name of order) await checkAnswer(keys[name], name, stream);
        for (const name of order) {
          await sides[name].measure({ connections, stream, seconds: WARM_UP_S });
        }
      }
    }
    const pair = [];
    for (const kind of KINDS) {
      const done = noWork();
      for (const first of [order, order.toReversed()]) {
        await measureBoth(sides, first, kind === 'stream', { connections, seconds }, done);
      }
      pair.push([kind, compare(done)] as const);
    }
    await keys.new.checkBudgets();
    return pair;
  } finally {
    await ends.run();
  }
}

async function checkAnswer(key: BenchKey, name: SideName, stream: boolean): Promise<void> {
  const flaw = await flawOfCall(key.target(stream), stream);
  if (flaw !== undefined) throw new InvalidMeasurement(`${name}: ${flaw}`);
}
