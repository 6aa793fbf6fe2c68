/** One version of Weir with its own simulator, database and data folder. */
import { startSimulator } from '../test/support/simulator.ts';
import type { RunningWeir } from '../test/support/weir.ts';
import { flawOfCall } from './answers.ts';
import type { Checkout } from './checkout.ts';
import { targetOf, weir } from './contenders.ts';
import { flawOfMeasurement, type Load, measure, waitUntilIdle } from './load.ts';
import { cpuSeconds } from './process.ts';
import type { Program } from './programs.ts';
import type { Target } from './target.ts';

/**
 * Under load, Bun compiles the hot code first. In the first 2 seconds a call needs twice the CPU time,
 * and until the twelfth second a few percent more (measured). A server runs far longer, so these
 * seconds must not count. Calls and streams share most of their code, and are warmed up in turn.
 */
const WARM_UP_SECONDS = 8;
/** The wait for idle cores is short, because other programs may keep the cores busy. */
const QUIET_PATIENCE_MS = 1_000;

export type SideName = 'old' | 'new';

export interface SideOptions {
  name: SideName;
  /** Another copy of Weir; default: the working tree. */
  version?: Checkout;
  /** The copy whose simulator this version uses. */
  simulator_of?: Checkout;
  /** More of the environment of Weir. */
  env?: Record<string, string>;
  /** The calls; default: the same call each time, which bypasses the cache. */
  target?: typeof targetOf;
  wrk: Program;
  /** Folder for the files of the load generator. */
  folder: string;
}

/** The result of one measurement. */
export interface Work {
  answers: number;
  seconds: number;
  /** The CPU time of Weir's own process, without its database. */
  cpu_seconds: number;
  /** True if no other program used the machine just before the measurement. */
  undisturbed: boolean;
}

/** What is loaded, and with what. */
interface Loaded extends Pick<SideOptions, 'name' | 'wrk' | 'folder'> {
  /** The process of Weir. */
  readonly pid: number;
}

/** A measurement that must not be compared: answers were wrong or missing. */
export class InvalidMeasurement extends Error {}

export class Side {
  readonly #options: SideOptions;
  #stops: (() => Promise<unknown>)[] = [];
  #weir: Awaited<ReturnType<typeof weir>> | undefined;

  constructor(options: SideOptions) {
    this.#options = options;
  }

  /** Starts the simulator, and Weir on an empty database. Reads one answer of each kind. */
  async start(): Promise<void> {
    const { name, version, simulator_of, env } = this.#options;
    const simulator = await startSimulator(simulator_of?.simulator);
    this.#stops.push(() => simulator.stop());
    const running = await weir(simulator.url, {
      ...(version ? { command: version.weir } : {}),
      ...(env ? { env } : {}),
    });
    this.#stops.push(() => running.stop());
    this.#weir = running;
    for (const stream of [false, true]) {
      const flaw = await flawOfCall(this.#targetOf(running, stream), stream);
      if (flaw) throw new InvalidMeasurement(`${name}: ${kindOf(stream)} answer: ${flaw}`);
    }
  }

  async warmUp(connections: number): Promise<void> {
    for (const stream of [false, true]) {
      await this.measure({ connections, stream, seconds: WARM_UP_SECONDS });
    }
  }

  /** @throws InvalidMeasurement if an answer was not valid. */
  async measure(load: Load): Promise<Work> {
    if (!this.#weir) throw new Error(`${this.#options.name} is not started`);
    const target = this.#targetOf(this.#weir, load.stream);
    return measureWork({ ...this.#options, pid: this.#weir.weir.pid }, target, load);
  }

  #targetOf({ weir: running }: { weir: RunningWeir }, stream: boolean): Target {
    return (this.#options.target ?? targetOf)(running, stream);
  }

  async stop(): Promise<void> {
    for (let stop = this.#stops.pop(); stop; stop = this.#stops.pop()) await stop();
    this.#weir = undefined;
  }
}

/** Loads a target. @throws InvalidMeasurement if an answer was not valid. */
export async function measureWork(
  { name, wrk, folder, pid }: Loaded,
  target: Target,
  load: Load,
): Promise<Work> {
  const undisturbed = await waitUntilIdle(QUIET_PATIENCE_MS);
  const before = cpuSeconds(pid);
  const result = await measure(wrk, target, folder, load);
  const flaw = flawOfMeasurement(result);
  if (flaw) throw new InvalidMeasurement(`${name}: ${kindOf(load.stream)} answers: ${flaw}`);
  const { answers, seconds } = result;
  return { answers, seconds, cpu_seconds: cpuSeconds(pid) - before, undisturbed };
}

function kindOf(stream: boolean): 'plain' | 'stream' {
  return stream ? 'stream' : 'plain';
}
