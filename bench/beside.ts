/** Measures calls with and without something beside them, in turns. */

import { removeFolder, throwawayFolder } from '../test/support/throwaway.ts';
import type { Cleanup } from './cleanup.ts';
import { flawOfMeasurement, measure, waitUntilIdle } from './load.ts';
import { findProgram } from './programs.ts';
import type { Target } from './target.ts';
import type { Pair } from './verdict.ts';

const CONNECTIONS = 64;
const IDLE_PATIENCE_MS = 5_000;
/** What is beside the calls may begin before they do, ms. */
const BEGIN_MS = 500;

export interface BesideOptions {
  readonly target: Target;
  readonly pairs: number;
  /** Length of one measurement, s. */
  readonly seconds: number;
  /** For CI: no pause between two measurements. */
  readonly short: boolean;
  readonly cleanup: Cleanup;
  /** Begins what is measured. Returns what ends it. */
  readonly begin: () => Promise<() => Promise<void>>;
}

/** Returns answers a second without (`old`) and with (`new`) what is beside them. Throws if an answer was wrong. */
export async function measureBeside(options: BesideOptions): Promise<Pair[]> {
  const { target, seconds, short, cleanup, begin } = options;
  const wrk = await findProgram('wrk');
  const folder = throwawayFolder('beside');
  cleanup.add(() => removeFolder(folder));
  const rate = async (hasSomething: boolean) => {
    const end = hasSomething ? await begin() : undefined;
    await Bun.sleep(BEGIN_MS);
    const load = { connections: CONNECTIONS, seconds, stream: false };
    const measured = await measure(wrk, target, folder, load);
    await end?.();
    const flaw = flawOfMeasurement(measured);
    if (flaw !== undefined) throw new Error(flaw);
    if (!short) await waitUntilIdle(IDLE_PATIENCE_MS);
    return measured.requests_per_s;
  };
  await rate(false);
  const pairs: Pair[] = [];
  for (let pair = 1; pair <= options.pairs; pair += 1) {
    const order = pair % 2 === 1 ? ['old', 'new'] : ['new', 'old'];
    const rates: Pair = { old: 0, new: 0 };
    for (const side of order as (keyof Pair)[]) rates[side] = await rate(side === 'new');
    pairs.push(rates);
    console.log(
      `pair ${pair}/${options.pairs}  without ${rates.old.toFixed(0)}/s  with ${rates.new.toFixed(0)}/s`,
    );
  }
  return pairs;
}
