import { connectDatabase } from '../../db/client.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { type DurableRun, type DurableRunOptions, runDurableSchedule } from './durable.ts';
import { type LedgerRun, type LedgerRunOptions, runLedgerSchedule } from './ledger.ts';
import { type MishapRun, runMishaps } from './mishaps.ts';

/** A fixed first seed. An error names the failing seed; `bin/chaos ledger --seed N` replays it. */
export const FIRST_SEED = 20_261_120;

/** Schedules of one test. Fewer find a gross mistake in seconds. */
export const RUNS = Number(process.env['WEIR_TEST_SCHEDULES'] ?? 500);
/** Schedules that `bin/test --full` adds to the simulator of durable actors, of the seeds that follow. */
export const ADDED_RUNS = 2_000;

/** Schedules of one test of the ledger's simulators, in `bin/test`. */
export const LEDGER_RUNS = Number(process.env['WEIR_TEST_SCHEDULES'] ?? 60);
/**
 * Schedules that `bin/test --full` adds to the simulators of the ledger: near the cap, with faults,
 * and with mishaps. With those of durable actors they are 10,000.
 */
export const ADDED_LEDGER_RUNS = { near_cap: 1_000, faults: 1_000, mishaps: 6_000 } as const;
/** Schedules that run at the same time, each on its own database. */
const LANES = 4;

export interface Totals {
  served: number;
  refused: number;
  faults: number;
  kills: number;
}

/** Opens a fresh database on which ledger schedules can run. */
export async function openSimulation() {
  const fresh = await createTestDatabase();
  const database = connectDatabase(fresh.url, { pool: 'single' });
  return {
    run: (options: LedgerRunOptions): Promise<LedgerRun> =>
      runLedgerSchedule(database.sql, options),
    async close() {
      await database.close();
      await fresh.drop();
    },
  };
}

/** Opens a fresh database on which schedules with mishaps can run. */
export async function openMishaps() {
  const fresh = await createTestDatabase();
  const database = connectDatabase(fresh.url, { pool: 'single' });
  return {
    run: ({ seed }: { seed: number }): Promise<MishapRun> => runMishaps(database.sql, seed),
    async close() {
      await database.close();
      await fresh.drop();
    },
  };
}

/** Runs many seeds on several databases. Throws at the first seed that breaks an invariant. */
async function runSeeds<Run extends { violations: string[] }, Options>(
  seeds: { first: number; runs: number },
  options: Options,
  open: () => Promise<{
    run: (options: Options & { seed: number }) => Promise<Run>;
    close: () => Promise<void>;
  }>,
  onRun: (run: Run) => void,
): Promise<void> {
  const end = seeds.first + seeds.runs;
  let next = seeds.first;
  const runLane = async () => {
    const simulation = await open();
    try {
      while (next < end) {
        const seed = next;
        next += 1;
        const run = await simulation.run({ ...options, seed });
        if (run.violations.length > 0)
          throw new Error(`seed ${seed}: ${run.violations.join('; ')}`);
        onRun(run);
      }
    } finally {
      // If this lane failed, the others end too.
      next = end;
      await simulation.close();
    }
  };
  await Promise.all(Array.from({ length: Math.min(LANES, seeds.runs) }, runLane));
}

/** Runs many schedules with mishaps from the seed `first` on. Returns how often each happened. */
export async function runManyMishaps(
  runs: number,
  first = FIRST_SEED,
): Promise<Record<string, number>> {
  const totals: Record<string, number> = {};
  await runSeeds({ first, runs }, {}, openMishaps, ({ counts }) => {
    for (const [name, count] of Object.entries(counts)) totals[name] = (totals[name] ?? 0) + count;
  });
  return totals;
}

/** Opens a fresh database on which schedules of the durable runtime can run. */
export async function openDurableSimulation() {
  const fresh = await createTestDatabase();
  const database = connectDatabase(fresh.url, { pool: 'single' });
  return {
    run: (options: DurableRunOptions): Promise<DurableRun> =>
      runDurableSchedule(database.sql, options),
    async close() {
      await database.close();
      await fresh.drop();
    },
  };
}

/** Runs many seeds from `first` on. Throws at the first seed that breaks an invariant; the message names the seed. */
export async function runMany(
  runs: number,
  options: Omit<LedgerRunOptions, 'seed'>,
  first = FIRST_SEED,
): Promise<Totals> {
  const totals: Totals = { served: 0, refused: 0, faults: 0, kills: 0 };
  const checked = async () => {
    const { run, close } = await openSimulation();
    const runChecked = async (each: LedgerRunOptions) => {
      const done = await run(each);
      return { ...done, violations: [...done.violations, ...done.falseRefusals] };
    };
    return { run: runChecked, close };
  };
  await runSeeds({ first, runs }, options, checked, (run) => {
    totals.served += run.served;
    totals.refused += run.refused;
    totals.faults += run.faults;
    totals.kills += run.kills;
  });
  return totals;
}

export interface DurableTotals {
  events: number;
  faults: number;
  kills: number;
  /** How many changes the watchers of live actors got. */
  watched: number;
}

/** The same for the durable actor runtime. */
export async function runManyDurable(
  runs: number,
  options: Omit<DurableRunOptions, 'seed'>,
  first = FIRST_SEED,
): Promise<DurableTotals> {
  const simulation = await openDurableSimulation();
  const totals: DurableTotals = { events: 0, faults: 0, kills: 0, watched: 0 };
  try {
    for (let seed = first; seed < first + runs; seed += 1) {
      const run = await simulation.run({ seed, ...options });
      if (run.violations.length > 0) throw new Error(`seed ${seed}: ${run.violations.join('; ')}`);
      totals.events += run.events;
      totals.watched += run.watched;
      totals.faults += run.faults;
      totals.kills += run.kills;
    }
    return totals;
  } finally {
    await simulation.close();
  }
}
