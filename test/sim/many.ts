import { connectDatabase } from '../../db/client.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { type DurableRun, type DurableRunOptions, runDurableSchedule } from './durable.ts';
import { type LedgerRun, type LedgerRunOptions, runLedgerSchedule } from './ledger.ts';

/** A fixed first seed. An error names the failing seed; `bin/chaos ledger --seed N` replays it. */
export const FIRST_SEED = 20_261_120;

/** Schedules of one test. Fewer find a gross mistake in seconds. */
export const RUNS = Number(process.env['WEIR_TEST_SCHEDULES'] ?? 500);
/** Schedules that `bin/test --full` adds to each simulator, of the seeds that follow. */
export const ADDED_RUNS = 2_000;

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
  const simulation = await openSimulation();
  const totals: Totals = { served: 0, refused: 0, faults: 0, kills: 0 };
  try {
    for (let seed = first; seed < first + runs; seed += 1) {
      const run = await simulation.run({ seed, ...options });
      const broken = [...run.violations, ...run.falseRefusals];
      if (broken.length > 0) throw new Error(`seed ${seed}: ${broken.join('; ')}`);
      totals.served += run.served;
      totals.refused += run.refused;
      totals.faults += run.faults;
      totals.kills += run.kills;
    }
    return totals;
  } finally {
    await simulation.close();
  }
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
