/**
 * Stops (SIGSTOP) one of three replicas, or their database, for a while under mixed load, again and
 * again. A pause may cost time, but no lease of another replica, no charge and no held money.
 */
import { Random } from '../sim/random.ts';
import { findMoneyFaults } from '../support/money-faults.ts';
import { pauseDatabase, pauseProcess } from '../support/pauses.ts';
import { until } from '../support/until.ts';
import type { RunningWeir } from '../support/weir.ts';
import { comparePauseBooks } from './pause-books.ts';
import { metricOf, PauseLoad, type PauseWorld, probe, startPauseWorld } from './pause-world.ts';

export interface PauseOptions {
  seed: number;
  pauses: number;
  target: 'replica' | 'database' | 'all';
  min_ms: number;
  max_ms: number;
  /** Called at once with each violation, because a run that is stopped early would lose them. */
  onViolation: (violation: string) => void;
  /** Called before each pause. */
  onPause?: (what: string) => void;
}

export interface PauseReport {
  seed: number;
  pauses: number;
  calls: number;
  whole: number;
  refused: number;
  broken: number;
  tasks: number;
  batches: number;
  /** How often a paused replica was declared dead, as it must be after a long pause. */
  declared_dead: number;
  /** Calls of other replicas that got no 200 while one was paused. */
  refused_elsewhere: number;
  /** The longest time from the end of a pause of the database until every replica admitted a call. */
  slowest_return_ms: number;
  absorbed_nano_usd: number;
  violations: string[];
}

/** How soon every replica must admit calls after the database came back. */
const BACK_WITHIN_MS = 5_000;
const HELD_WITHIN_MS = 60_000;
const WORK_WITHIN_MS = 180_000;
const LOOK_EVERY_MS = 250;

export async function runPauses(options: PauseOptions): Promise<PauseReport> {
  const world = await startPauseWorld();
  const run = new PauseRun(world, options);
  try {
    return await run.run();
  } finally {
    run.resume();
    await world.stop();
  }
}

class PauseRun {
  private readonly random: Random;
  private readonly violations: string[] = [];
  private undo: () => void = () => undefined;
  private slowest_return_ms = 0;
  private refused_elsewhere = 0;

  constructor(
    private readonly world: PauseWorld,
    private readonly options: PauseOptions,
  ) {
    this.random = new Random(options.seed);
  }

  async run(): Promise<PauseReport> {
    const load = new PauseLoad(this.world);
    await Bun.sleep(3_000);
    for (let turn = 0; turn < this.options.pauses; turn += 1) {
      await this.pauseOnce(turn);
      await Bun.sleep(1_000 + this.random.below(4_000));
    }
    await load.stop();
    await this.waitForWork();
    await this.checkHeld();
    for (const fault of await findMoneyFaults(this.world.database.sql)) {
      this.violate(`${fault.what} ${fault.id} is off by ${fault.nano_usd}`);
    }
    for (const [at, replica] of this.world.replicas.entries()) {
      const unowned = (await metricOf(replica, 'weir_money_unowned')) ?? 0;
      if (unowned > 0) this.violate(`replica ${at}: ${unowned} grants or holds have no owner`);
    }
    const { calls: booked } = await this.world.simulator.closedBooks();
    const books = await comparePauseBooks(this.world.database.sql, load.calls, booked);
    for (const violation of books.violations) this.violate(violation);
    const count = (outcome: string) => load.calls.filter((each) => each.outcome === outcome).length;
    const dead = await this.world.database.sql`select 1 from replica where status = 'dead'`;
    return {
      seed: this.options.seed,
      pauses: this.options.pauses,
      calls: load.calls.length,
      whole: count('whole'),
      refused: count('refused'),
      broken: count('broken'),
      tasks: load.calls.filter(({ task_id }) => task_id !== undefined).length,
      batches: load.batches.length,
      declared_dead: dead.length,
      refused_elsewhere: this.refused_elsewhere,
      slowest_return_ms: Math.round(this.slowest_return_ms),
      absorbed_nano_usd: books.absorbed,
      violations: this.violations,
    };
  }

  /** Lets the paused processes run again. */
  resume(): void {
    this.undo();
    this.undo = () => undefined;
  }

  private violate(violation: string): void {
    this.violations.push(violation);
    this.options.onViolation(`seed ${this.options.seed}: ${violation}`);
  }

  private async pauseOnce(turn: number): Promise<void> {
    const { target, min_ms, max_ms } = this.options;
    const { replicas } = this.world;
    const duration_ms = min_ms + this.random.below(max_ms - min_ms + 1);
    // Each replica in turn, then the database.
    const at = target === 'database' ? replicas.length : turn % (replicas.length + 1);
    const victim = replicas[target === 'replica' ? turn % replicas.length : at];
    const what = victim ? `replica ${replicas.indexOf(victim)}` : 'database';
    this.options.onPause?.(`pause ${turn}: ${what} for ${duration_ms} ms`);
    const before = await this.leases(victim);
    this.undo = victim ? pauseProcess(victim.pid) : pauseDatabase(this.world.postgres.pid);
    if (victim) await this.watchOthers(victim, duration_ms);
    else await Bun.sleep(duration_ms);
    this.resume();
    if (!victim) await this.checkReturn(turn);
    // The others must keep their leases while the paused one finds out what it missed.
    await Bun.sleep(1_000);
    await this.checkLeases(before, `pause ${turn} of ${what}, ${duration_ms} ms`, victim);
  }

  /** Calls the replicas that are not paused. Each one must stay ready. */
  private async watchOthers(victim: RunningWeir, duration_ms: number): Promise<void> {
    const others = this.world.replicas.filter((each) => each !== victim);
    const end = performance.now() + duration_ms;
    while (performance.now() < end) {
      await Promise.all(
        others.map(async (replica, at) => {
          const status = await probe(replica, this.world.keys[at] ?? '', BACK_WITHIN_MS);
          if (status !== 200) this.refused_elsewhere += 1;
        }),
      );
      await Bun.sleep(LOOK_EVERY_MS);
    }
  }

  private async checkReturn(turn: number): Promise<void> {
    const from = performance.now();
    await Promise.all(
      this.world.replicas.map(async (replica, at) => {
        while (performance.now() - from < 2 * BACK_WITHIN_MS) {
          if ((await probe(replica, this.world.keys[at] ?? '', BACK_WITHIN_MS)) === 200) break;
          await Bun.sleep(50);
        }
        const took_ms = performance.now() - from;
        this.slowest_return_ms = Math.max(this.slowest_return_ms, took_ms);
        if (took_ms > BACK_WITHIN_MS) {
          this.violate(
            `pause ${turn}: replica ${at} admitted no call for ${Math.round(took_ms)} ms`,
          );
        }
      }),
    );
  }

  /** How often each replica was declared dead and missed its lease. The victim is left out. */
  private leases(victim: RunningWeir | undefined) {
    return Promise.all(
      this.world.replicas.map(async (replica) => {
        if (replica === victim) return undefined;
        return {
          fenced: await metricOf(replica, 'weir_replica_fenced_total'),
          lapses: await metricOf(replica, 'weir_lease_lapses_total'),
        };
      }),
    );
  }

  private async checkLeases(
    before: Awaited<ReturnType<PauseRun['leases']>>,
    when: string,
    victim: RunningWeir | undefined,
  ): Promise<void> {
    const now = await this.leases(victim);
    for (const [at, each] of now.entries()) {
      const earlier = before[at];
      if (!each || !earlier) continue;
      if (each.fenced !== earlier.fenced) this.violate(`${when}: replica ${at} was fenced`);
      // While the database is away, nobody can renew a lease.
      if (victim && each.lapses !== earlier.lapses) {
        this.violate(`${when}: replica ${at} missed its lease`);
      }
    }
  }

  private async waitForWork(): Promise<void> {
    const { sql } = this.world.database;
    await until(
      'every task and batch has ended',
      async () => {
        const [row] = await sql<{ busy: number }[]>`
          select (select count(*) from task where status not in ('completed', 'failed'))::int4
            + (select count(*) from batch_item join message_batch on message_batch.id = batch_id
                where result is null and message_batch.status <> 'received')::int4 as busy`;
        return row?.busy === 0;
      },
      WORK_WITHIN_MS,
    ).catch((error) => this.violate(String(error)));
  }

  private async checkHeld(): Promise<void> {
    const { sql } = this.world.database;
    await until(
      'no money is held',
      async () => {
        const [row] = await sql<{ held: number }[]>`
          select ((select sum(held_nano_usd) from organization)
            + (select sum(held_nano_usd) from api_key))::int8 as held`;
        return row?.held === 0;
      },
      HELD_WITHIN_MS,
    ).catch(async (error) => {
      const open = await sql`
        select id, replica_id, granted_nano_usd, settled_nano_usd from quota_grant
        where status = 'open' union all
        select id, reference, amount_nano_usd, 0 from hold where status = 'held' limit 20`;
      this.violate(`${error}: ${JSON.stringify(open)}`);
    });
  }
}
