/** Runs one version of Weir with many unfinished tasks in its database, and measures its calls. */
import { join } from 'node:path';
import type { Sql } from '../db/client.ts';
import type { Imbalance } from '../db/ledger/audit.ts';
import type { RunningSimulator } from '../test/support/simulator.ts';
import { until } from '../test/support/until.ts';
import { type RunningWeir, startWeir } from '../test/support/weir.ts';
import { countDifferences, SimulatorBooks } from './books.ts';
import { cloneTasks, startPolls } from './clone-tasks.ts';
import { chatChannel, ROLES, targetOf, WEIR_ACCOUNT } from './contenders.ts';
import type { Databases } from './databases.ts';
import { isDisturbed, readTicks } from './disturbance.ts';
import { flawOfMeasurement, measure } from './load.ts';
import type { Program } from './programs.ts';
import { InvalidMeasurement, type SideName } from './side.ts';
import {
  createTask,
  jobsOf,
  PROVIDERS,
  pollCount,
  type SimulatedJob,
  taskChannels,
} from './task-channels.ts';

/** Jobs that outlive every run: one day. */
const JOB_MS = 24 * 3_600_000;
const WARM_UP_SECONDS = 4;
/**
 * Weir adopts at least this number of tasks a second. Later starts use the measured time instead.
 */
const ADOPTED_A_SECOND = 5_000;
const ADOPTION_TIMEOUT_MS = 300_000;
const SETTLING_TIMEOUT_MS = 180_000;

export interface TaskSideOptions {
  name: SideName;
  /** The folder of this version. Its own audit checks its ledger. */
  root: string;
  /** Starts this version of Weir; undefined = the working tree. */
  command: string[] | undefined;
  databases: Databases;
  simulator: RunningSimulator;
  wrk: Program;
  /** Folder for the files of the load generator. */
  folder: string;
  unfinished: number;
  polled: number;
  /** Polls of each original before it is copied. After 5 polls, the pause is the longest. */
  polls_before: number;
}

/**
 * What one measurement of inline calls found. Inline calls are chat completions, which are answered
 * in the response, unlike tasks.
 */
export interface InlineResult {
  /** Answers a second. */
  rate: number;
  /** Polls a second that the simulator received meanwhile. */
  polls: number;
  /** True if other programs used the machine meanwhile. */
  disturbed: boolean;
}

/** What is wrong after a run. All figures must be 0. */
export interface FinalState {
  /** Tasks that are missing, or that ended although their jobs have not ended. */
  lost: number;
  /** Effects that Weir gave up. */
  dead_effects: number;
  imbalances: number;
  /** Differences between the usage lines of the calls and the simulator's books. */
  differences: number;
}

export interface Load {
  connections: number;
  seconds: number;
}

export class TaskSide {
  readonly #options: TaskSideOptions;
  readonly #template: string;
  readonly #database: string;
  #weir: RunningWeir | undefined;
  /** Seconds from the start of Weir until it has adopted all tasks. */
  #adoption_s: number;
  /** The calls before the tasks were copied. Each copy of the database has their usage lines. */
  #prepared: SimulatorBooks;
  #books: SimulatorBooks;

  constructor(options: TaskSideOptions) {
    this.#options = options;
    this.#template = `${options.name}_template`;
    this.#database = `${options.name}_tasks`;
    this.#adoption_s = options.unfinished / ADOPTED_A_SECOND;
    this.#books = new SimulatorBooks(options.simulator.url, WEIR_ACCOUNT);
    this.#prepared = this.#books;
  }

  get simulator(): RunningSimulator {
    return this.#options.simulator;
  }

  get pid(): number {
    return this.weir.pid;
  }

  /**
   * Starts Weir on an empty database and creates one task of each provider. Runs `quiet` meanwhile,
   * then stops Weir and copies the tasks.
   */
  async prepare(quiet: () => Promise<void>): Promise<void> {
    const { databases, simulator, polls_before, unfinished, polled } = this.#options;
    const known = new Set((await jobsOf(simulator)).map(({ id }) => id));
    await databases.create(this.#template);
    this.#weir = await this.#startWeir(this.#template);
    for (let at = 0; at < PROVIDERS; at += 1) await createTask(this.#weir, at, JOB_MS);
    await quiet();
    const isReady = (jobs: SimulatedJob[]) =>
      jobs.length === PROVIDERS && jobs.every(({ polls }) => polls >= polls_before);
    await until(`each task was polled ${polls_before} times`, async () =>
      isReady((await jobsOf(simulator)).filter(({ id }) => !known.has(id))),
    );
    await this.stop();
    this.#prepared = this.#books;
    const counts = { polled: polled - PROVIDERS, parked: unfinished - polled };
    await databases.use(this.#template, (sql) => cloneTasks(sql, counts));
  }

  /**
   * Starts Weir on a new copy of the database, and waits until it has adopted all tasks. Returns
   * the seconds that this took.
   */
  async start(): Promise<number> {
    const { databases, unfinished, polled } = this.#options;
    this.#books = this.#prepared.copy();
    await databases.drop(this.#database);
    await databases.create(this.#database, this.#template);
    const spread = await databases.use(this.#database, (sql) => startPolls(sql, this.#adoption_s));
    if (spread !== polled) throw new Error(`${spread} tasks are polled instead of ${polled}`);
    const began = performance.now();
    this.#weir = await this.#startWeir(this.#database);
    await databases.use(this.#database, (sql) =>
      until(
        'Weir adopts all tasks',
        async () => (await adopted(sql)) === unfinished,
        ADOPTION_TIMEOUT_MS,
      ),
    );
    this.#adoption_s = (performance.now() - began) / 1_000;
    return this.#adoption_s;
  }

  /** Waits until Weir has polled as often as there are polled tasks, so that polls are spread. */
  async settle(): Promise<void> {
    const { simulator, polled } = this.#options;
    const before = await pollCount(simulator);
    await until(
      'each task is polled',
      async () => (await pollCount(simulator)) - before >= polled,
      SETTLING_TIMEOUT_MS,
    );
  }

  /** @throws InvalidMeasurement if an answer was not valid. */
  async inline(load: Load): Promise<InlineResult> {
    await this.#load({ ...load, seconds: WARM_UP_SECONDS });
    return this.#load(load);
  }

  /**
   * The live actors in memory by kind, from `/metrics`; `-` if this version does not count them.
   */
  async residentActors(): Promise<string> {
    const { base_url } = this.weir;
    return residentActorsIn(await (await fetch(`${base_url}/metrics`)).text());
  }

  /** Stops Weir, checks tasks and money, and removes the database. */
  async finish(): Promise<FinalState> {
    await this.stop();
    const { name, databases, root, unfinished } = this.#options;
    const { findImbalances } = (await import(join(root, 'db/ledger/audit.ts'))) as {
      findImbalances: (sql: Sql) => Promise<Imbalance[]>;
    };
    const found = await databases.use(this.#database, async (sql) => {
      const [row] = await sql<{ processing: number; dead: number }[]>`
        select (select count(*)::int4 from task where status = 'processing') as processing,
          (select count(*)::int4 from outbox where status = 'dead') as dead`;
      const imbalances = (await findImbalances(sql)).length;
      return {
        lost: unfinished - (row?.processing ?? 0),
        dead_effects: row?.dead ?? 0,
        imbalances,
        // An older version may store different usage lines, so only the new one is compared.
        differences: name === 'new' ? await countDifferences(this.#books, sql) : 0,
      };
    });
    await databases.drop(this.#database);
    return found;
  }

  /**
   * Stops Weir, and reads the last calls that it made to the simulator. So these do not count for
   * the other version.
   */
  async stop(): Promise<void> {
    if (!this.#weir) return;
    await this.#weir.stop();
    this.#weir = undefined;
    await this.#books.collect();
  }

  /** @throws if Weir does not run. */
  get weir(): RunningWeir {
    if (!this.#weir) throw new Error(`${this.#options.name} is not started`);
    return this.#weir;
  }

  #startWeir(database: string): Promise<RunningWeir> {
    const { command, databases, simulator } = this.#options;
    const channels = [...taskChannels(simulator.url), chatChannel(simulator.url)];
    return startWeir({
      ...(command === undefined ? {} : { command }),
      env: { DATABASE_URL: databases.url(database), WEIR_BOOTSTRAP_BALANCE_USD: '1000000' },
      config: JSON.stringify({ channels, roles: ROLES }),
    });
  }

  /** Measures, then reads the simulator's books outside of the measured time. */
  #load(load: Load): Promise<InlineResult> {
    return this.#books.during(() => this.#measure(load));
  }

  async #measure({ connections, seconds }: Load): Promise<InlineResult> {
    const { name, simulator, wrk, folder } = this.#options;
    const target = targetOf(this.weir, false);
    const [before, began, ticks] = [await pollCount(simulator), performance.now(), readTicks()];
    const result = await measure(wrk, target, folder, { connections, seconds, stream: false });
    const flaw = flawOfMeasurement(result);
    if (flaw) throw new InvalidMeasurement(`${name}: ${flaw}`);
    this.#books.answers += result.answers + result.read;
    const polls = (await pollCount(simulator)) - before;
    const took_s = (performance.now() - began) / 1_000;
    const disturbed = isDisturbed(ticks, readTicks());
    return { rate: result.requests_per_s, polls: polls / took_s, disturbed };
  }
}

/** The number of unfinished tasks whose owner is a live replica. */
async function adopted(sql: Sql): Promise<number> {
  const [row] = await sql<{ adopted: number }[]>`
    select count(*)::int4 as adopted from actor join replica on replica.id = owner
    where kind = 'task' and live and replica.status = 'alive'`;
  // The count reads all actors, so it must not run all the time.
  await Bun.sleep(250);
  return row?.adopted ?? 0;
}

/** Reads the metric `weir_resident_actors` as text: `task 10000, webhook 3`. */
export function residentActorsIn(metrics: string): string {
  const found = [...metrics.matchAll(/^weir_resident_actors\{kind="([^"]+)"\} (\S+)$/gm)];
  return found.map(([, kind, count]) => `${kind} ${count}`).join(', ') || '-';
}
