/** Compares two sides in pairs: both run at the same time, but only one of them is under load. */
import type { Load } from './load.ts';
import { InvalidMeasurement, type Side, type SideName, type Work } from './side.ts';
import { loss, median } from './statistics.ts';
import { type Pair, signed, summarize, summaryLine, verdictLine } from './verdict.ts';

export const KINDS = ['plain', 'stream'] as const;
/**
 * Each pair starts both versions in both orders: the one that starts first answered 4 to 7 % fewer
 * calls (measured).
 */
const ORDERS: readonly SideName[][] = [
  ['old', 'new'],
  ['new', 'old'],
];
/** What each version did in one pair. */
type Done = Record<SideName, Work[]>;
export const noWork = (): Done => ({ old: [], new: [] });

/** What can be loaded. */
interface Measurable {
  measure(load: Load): Promise<Work>;
}

export interface Measured {
  rates: Pair;
  /** The CPU time of Weir's process for one call, µs. */
  cpu_us: Pair;
  undisturbed: boolean;
}

/** How much is measured. */
interface PairsOptions {
  readonly pairs: number;
  /** How long each version is measured, twice for each start, s. */
  readonly seconds: number;
  readonly connections: number;
}

/** What all pairs found, by the kind of calls. */
export type Found = Record<(typeof KINDS)[number], Measured[]>;

/** Measures both sides in pairs, and prints each pair. */
export async function measurePairs(
  sides: Record<SideName, Side>,
  options: PairsOptions,
): Promise<Found> {
  const found: Found = { plain: [], stream: [] };
  for (let pair = 1; pair <= options.pairs; pair += 1) {
    const done = { plain: noWork(), stream: noWork() };
    for (const order of pair % 2 === 1 ? ORDERS : ORDERS.toReversed()) {
      await startAnew(
        order.map((name) => sides[name]),
        options.connections,
      );
      for (const kind of KINDS) {
        await measureBoth(sides, order, kind === 'stream', options, done[kind]);
      }
    }
    for (const kind of KINDS) {
      const measured = compare(done[kind]);
      found[kind].push(measured);
      console.log(`pair ${pair}/${options.pairs} ${pairText(kind, measured)}`);
    }
  }
  return found;
}

/**
 * Starts new processes and databases. So an accident of one start (compilation, place on the disk)
 * affects one pair only. One such pair can widen the interval, but hardly moves the median.
 */
async function startAnew(sides: Side[], connections: number): Promise<void> {
  for (const side of sides) await side.stop();
  for (const side of sides) await side.start();
  for (const side of sides) await side.warmUp(connections);
}

/**
 * A version is loaded for so long at a time, s. Other guests of a machine slow it for seconds. On such a machine, pairs with
 * 20 s for each version varied by 8 % with turns of 5 s, and two equal versions by 1.6 % with turns of 1 s (measured; one
 * standard deviation).
 */
const TURN_SECONDS = 1;

/**
 * Measures each version for twice `seconds`, in short turns and in the order A B B A. So a machine that becomes busier
 * slows both versions equally.
 */
export async function measureBoth(
  sides: Record<SideName, Measurable>,
  order: readonly SideName[],
  stream: boolean,
  { connections, seconds }: Pick<PairsOptions, 'connections' | 'seconds'>,
  done: Done,
): Promise<void> {
  const load = { connections, stream, seconds: TURN_SECONDS };
  for (let measured = 0; measured < seconds; measured += TURN_SECONDS) {
    for (const name of [...order, ...order.toReversed()]) {
      done[name].push(await sides[name].measure(load));
    }
  }
}

/** Returns the rates of one pair. Throws InvalidMeasurement if a version did not answer. */
export function compare(done: Done): Measured {
  for (const name of ['old', 'new'] as const) {
    const none = done[name].every(({ answers }) => answers === 0);
    if (none) throw new InvalidMeasurement(`${name}: no answer arrived while it was under load`);
  }
  const undisturbed = [...done.old, ...done.new].every((work) => work.undisturbed);
  return {
    rates: { old: rate(done.old), new: rate(done.new) },
    cpu_us: { old: cpuPerCall(done.old), new: cpuPerCall(done.new) },
    undisturbed,
  };
}

/** Answers per second. */
function rate(done: Work[]): number {
  return sum(done, 'answers') / sum(done, 'seconds');
}

function cpuPerCall(done: Work[]): number {
  return (sum(done, 'cpu_seconds') / sum(done, 'answers')) * 1e6;
}

function sum(done: Work[], field: 'answers' | 'seconds' | 'cpu_seconds'): number {
  return done.reduce((total, each) => total + each[field], 0);
}

export function pairText(kind: string, { rates, cpu_us }: Measured): string {
  const [old, now] = [rates.old, rates.new].map((each) => `${Math.round(each)}/s`);
  const [old_us, new_us] = [cpu_us.old, cpu_us.new].map((each) => each.toFixed(1));
  return (
    `${kind.padEnd(6)} old ${old} new ${now} loss ${signed(loss(rates.old, rates.new))}` +
    `, CPU of a call old ${old_us} µs new ${new_us} µs`
  );
}

/** Prints the result of all pairs, and returns the exit code. */
export function conclude(found: Found, bound: number): number {
  const { lines, isSlower } = conclusionOf(found, bound);
  console.log(`\n${lines.join('\n')}`);
  return isSlower ? 1 : 0;
}

/** Returns the result of all pairs as text, and whether a median loss is above the bound. */
export function conclusionOf(found: Found, bound: number): { lines: string[]; isSlower: boolean } {
  const lines: string[] = [];
  const summaries = KINDS.map((kind) => {
    const rates = found[kind].map((each) => each.rates);
    const summary = summarize(rates, bound);
    const cpu = median(found[kind].map(({ cpu_us }) => cpu_us.new / cpu_us.old - 1));
    lines.push(
      summaryLine(kind, summary),
      `${kind.padEnd(6)} median change of a call's CPU time ${signed(cpu)}`,
    );
    return summary;
  });
  const remark = disturbanceLine(found);
  if (remark !== undefined) lines.push(remark);
  lines.push(verdictLine(summaries, bound));
  return { lines, isSlower: summaries.some(({ slower }) => slower) };
}

/** Says that other programs used the machine; undefined if none did. */
export function disturbanceLine(found: Found): string | undefined {
  const all = [...found.plain, ...found.stream];
  const disturbed = all.filter(({ undisturbed }) => !undisturbed).length;
  if (disturbed === 0) return undefined;
  return (
    `Other programs used the machine in ${disturbed} of ${all.length} comparisons. ` +
    'Repeat the comparison on an idle machine.'
  );
}
