/** Measures the same call direct, through nginx, through Portkey and through Weir. */
import { join } from 'node:path';
import { withDatabaseOf } from '../test/chaos/database-of.ts';
import { type RunningSimulator, startSimulator } from '../test/support/simulator.ts';
import { removeFolder, throwawayFolder } from '../test/support/throwaway.ts';
import { flawOfCall } from './answers.ts';
import { auditRun, SimulatorBooks } from './books.ts';
import { type Cleanup, createCleanup } from './cleanup.ts';
import {
  type Contender,
  type ContenderName,
  direct,
  NAMES,
  nginx,
  portkey,
  WEIR_ACCOUNT,
  weir,
} from './contenders.ts';
import { flawOfMeasurement, type Load, type Measurement, measure, waitUntilIdle } from './load.ts';
import type { CallOptions } from './options.ts';
import { findProgram, type Program } from './programs.ts';
import { report, type Series, table } from './report.ts';
import { writeSection } from './results-file.ts';

/** Calls contenders. For Weir, the client and the simulator both count the calls. */
interface Observed {
  /** Reads one answer. Returns what is wrong with the answer; undefined if it is valid. */
  readAnswer(contender: Contender, stream: boolean): Promise<string | undefined>;
  measure(contender: Contender, load: Load): Promise<Measurement>;
}

/**
 * Returns the exit code. It is 1 if an answer of Weir or of the simulator was wrong, or if a charge
 * was wrong.
 */
export async function runCalls(options: CallOptions): Promise<number> {
  const undo = createCleanup();
  try {
    const folder = throwawayFolder('bench');
    undo.add(() => removeFolder(folder));
    const wrk = await findProgram('wrk');
    const simulator = await startSimulator();
    undo.add(() => simulator.stop());
    const data = join(folder, 'data');
    const { contenders, absent } = await startAll(simulator, folder, data, undo);
    const books = new SimulatorBooks(simulator.url, WEIR_ACCOUNT);
    const observed = observe(wrk, folder, books);
    const series: Series[] = [];
    for (const stream of [false, true]) {
      series.push(await measureAll(contenders, new Map(absent), stream, options, observed));
      console.log(`\n${table(series.at(-1) as Series)}`);
    }
    await contenders.find(({ name }) => name === 'weir')?.stop();
    const { text, agree } = await withDatabaseOf(data, (sql) => auditRun(books, sql));
    console.log(text);
    const invalid = series.some(({ refused }) => refused.has('weir') || refused.has('direct'));
    if (invalid || !agree) {
      console.log('bench: an answer or a charge was wrong; no results are written');
      return 1;
    }
    if (options.write) writeSection('calls', report(series, options, text));
    return 0;
  } finally {
    await undo.run();
  }
}

/**
 * Starts all contenders. If a contender other than Weir does not start, it is left out and the
 * reason is kept.
 */
async function startAll(
  simulator: RunningSimulator,
  folder: string,
  data: string,
  undo: Cleanup,
): Promise<{ contenders: Contender[]; absent: Map<ContenderName, string> }> {
  const makers: Record<ContenderName, () => Contender | Promise<Contender>> = {
    direct: () => direct(simulator.url),
    nginx: () => nginx(simulator.url, folder),
    'portkey-node': () => portkey(simulator.url, 'node'),
    'portkey-bun': () => portkey(simulator.url, 'bun'),
    weir: () => weir(simulator.url, { data }),
  };
  const contenders: Contender[] = [];
  const absent = new Map<ContenderName, string>();
  for (const name of NAMES) {
    try {
      const contender = await makers[name]();
      undo.add(() => contender.stop());
      contenders.push(contender);
    } catch (error) {
      if (name === 'weir') throw error;
      absent.set(name, error instanceof Error ? error.message : String(error));
    }
  }
  return { contenders, absent };
}

/**
 * Measures the contenders whose first answer was valid. A contender that had an error is not
 * measured again.
 */
async function measureAll(
  contenders: Contender[],
  refused: Series['refused'],
  stream: boolean,
  { rounds, seconds, connections, short }: CallOptions,
  observed: Observed,
): Promise<Series> {
  const series: Series = { stream, rounds: new Map(), refused };
  for (const contender of contenders) {
    const flaw = await observed.readAnswer(contender, stream);
    if (flaw) refuse(series, contender.name, flaw);
  }
  // Round 0 warms up the contenders and is not counted.
  for (let round = short ? 1 : 0; round <= rounds; round += 1) {
    for (const contender of contenders) {
      const { name } = contender;
      if (refused.has(name)) continue;
      if (!short) await waitUntilIdle();
      const result = await observed.measure(contender, { seconds, connections, stream });
      const flaw = flawOfMeasurement(result);
      if (flaw) refuse(series, name, flaw);
      if (flaw || round === 0) continue;
      series.rounds.set(name, [...(series.rounds.get(name) ?? []), result]);
      console.log(
        `${stream ? 'stream' : 'plain '} ${round}/${rounds} ${name.padEnd(13)}` +
          `${Math.round(result.requests_per_s)}/s p50 ${result.p50_ms} ms p99 ${result.p99_ms} ms`,
      );
    }
  }
  return series;
}

function refuse({ stream, rounds, refused }: Series, name: ContenderName, reason: string): void {
  refused.set(name, reason);
  rounds.delete(name);
  console.log(`${stream ? 'stream' : 'plain '} ${name} gets no figures: ${reason}`);
}

function observe(wrk: Program, folder: string, books: SimulatorBooks): Observed {
  const run = <Result>({ name }: Contender, work: () => Promise<Result>) =>
    name === 'weir' ? books.during(work) : work();
  const count = ({ name }: Contender, more: number) => {
    if (name === 'weir') books.answers += more;
  };
  return {
    async readAnswer(contender, stream) {
      const flaw = await run(contender, () => flawOfCall(contender.target(stream), stream));
      if (flaw === undefined) count(contender, 1);
      return flaw;
    },
    async measure(contender, load) {
      const target = contender.target(load.stream);
      const result = await run(contender, () => measure(wrk, target, folder, load));
      count(contender, result.answers - result.errors + result.read);
      return result;
    },
  };
}
