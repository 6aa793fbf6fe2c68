/**
 * Two replicas of the real lane and quota actors on a real PostgreSQL, in an order that a seed
 * decides, with every mishap that the ledger must survive: lost connections, a database that is away
 * for seconds, processes that are killed or stop for a while, a stopped replica that is declared
 * dead and registers anew, calls that are charged twice, clients that leave while their stream
 * extends its reservation, charges above reservations and holds. Several keys of one organization
 * share its balance with durable holds. Time is virtual. The same seed gives the same run.
 */
import type { Sql } from 'postgres';
import type { MoneyHints } from '../../src/actors/money/money-hints.ts';
import { FragileClients } from './fragile-clients.ts';
import { FragileReplica, type FragileWorld } from './fragile-replica.ts';
import { applyHints, type Hint } from './hints.ts';
import { checkBooks, checkMemory } from './mishap-checks.ts';
import { Random } from './random.ts';
import { VirtualClock } from './virtual-clock.ts';

export interface MishapRun {
  seed: number;
  trace: string[];
  /** How often each mishap happened. */
  counts: Record<string, number>;
  /** Violated invariants; there must be none. */
  violations: string[];
}

const DEPOSIT = 1_000;
const CAPS: readonly number[] = [700, 500];
const MAX_STEPS = 1_500;
/** Timers up to this long may fire while transactions wait. */
const SHORT_WAIT_MS = 100;
/** After this time without calls, every grant was swept twice and returned. */
const QUIET_MS = 40_000;
/** A mishap may still delay other replicas for this long after its end. */
const AFTERMATH_MS = 8_000;

/** Runs one schedule. The database must have no other use. */
export async function runMishaps(sql: Sql, seed: number): Promise<MishapRun> {
  const schedule = new MishapSchedule(sql, seed);
  await schedule.prepare();
  await schedule.play();
  return schedule.result;
}

class MishapSchedule implements FragileWorld {
  readonly random: Random;
  readonly clock = new VirtualClock();
  readonly result: MishapRun;
  readonly keys = CAPS.map((_, number) => `key_${number}`);
  readonly clients: FragileClients;
  replicas: FragileReplica[] = [];
  private readonly gone: FragileReplica[] = [];
  /** Dead replicas that are being reaped (false), or were (true). */
  private readonly reaped = new Map<string, boolean>();
  private hints: Hint<FragileReplica>[] = [];
  private awayUntil = 0;
  private disturbedUntil = 0;
  private mishapsLeft: number;
  private readonly faults: number;
  /** If true, timers fire only when nothing else can happen, so nobody is slow. */
  private readonly isPrompt: boolean;
  private isEnding = false;

  constructor(
    readonly sql: Sql,
    seed: number,
  ) {
    this.random = new Random(seed);
    this.result = { seed, trace: [], counts: {}, violations: [] };
    this.mishapsLeft = this.random.below(4);
    this.faults = this.random.pick([0, 0.05, 0.2]);
    this.isPrompt = this.random.chance(0.5);
    this.clients = new FragileClients(
      this,
      'org',
      DEPOSIT,
      new Map(this.keys.map((key, at) => [key, CAPS[at] ?? 0])),
    );
  }

  uuid(): string {
    return Bun.randomUUIDv7();
  }

  log(line: string): void {
    this.result.trace.push(`${this.clock.now()} ${line}`);
  }

  count(name: string): void {
    this.result.counts[name] = (this.result.counts[name] ?? 0) + 1;
  }

  violate(violation: string): void {
    this.log(`VIOLATION ${violation}`);
    this.result.violations.push(violation);
  }

  /** True if the overruns of this moment may miss money that a mishap holds back. */
  get isDisturbed(): boolean {
    const isStopped = this.replicas.some(({ isPaused, life }) => isPaused || life !== 'alive');
    const isUnreaped = this.deadIds.some((id) => !this.reaped.get(id));
    return !this.isPrompt || isStopped || isUnreaped || this.clock.now() < this.disturbedUntil;
  }

  faultAt(point: 'before' | 'after'): 'none' | 'cut' | 'kill' {
    const isAway = this.clock.now() < this.awayUntil;
    if (!isAway && (this.isEnding || !this.random.chance(this.faults / 2))) return 'none';
    this.disturbedUntil = this.clock.now() + AFTERMATH_MS;
    this.log(`cut ${point} commit`);
    this.count('cuts');
    return 'cut';
  }

  async prepare(): Promise<void> {
    const caps = this.keys.map(
      (key, at) => `('${key}', 'org', 'sim', '${key}', 'sk-', ${CAPS[at]}, ${CAPS[at]})`,
    );
    await this.sql.unsafe(`
      delete from usage_line; delete from hold; delete from quota_grant; delete from api_key;
      delete from deposit; delete from organization; delete from replica;
      select setval('recall_seq', 1, false);
      insert into organization (id, name, deposited_nano_usd, balance_nano_usd)
        values ('org', 'sim', ${DEPOSIT}, ${DEPOSIT});
      insert into deposit (id, organization_id, amount_nano_usd)
        values ('${Bun.randomUUIDv7()}', 'org', ${DEPOSIT});
      insert into api_key (id, organization_id, name, key_hash, key_prefix, limit_nano_usd, ceiling_nano_usd)
        values ${caps.join()};
      insert into replica (id, lease_until)
        values ('A', now() + interval '1 day'), ('B', now() + interval '1 day')`);
    this.replicas = ['A', 'B'].map((name) => new FragileReplica(this, name, name));
  }

  async play(): Promise<void> {
    for (let step = 0; step < MAX_STEPS; step += 1) {
      if (this.clients.haveEnded && this.result.violations.length === 0) return this.finish();
      await this.random.pick(this.choices())();
      await this.settleDown();
      if (this.random.chance(0.02)) await checkMemory(this);
      if (this.result.violations.length > 0) return;
    }
    this.violate(`no end after ${MAX_STEPS} steps`);
  }

  /** Waits for all microtasks: everything except transactions runs in them. */
  private async settleDown(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    this.clients.books.observe(this.isDisturbed);
  }

  private choices(): (() => Promise<void> | void)[] {
    const choices: (() => Promise<void> | void)[] = [];
    for (const replica of this.replicas) {
      if (replica.hasStep) {
        const step = async () => void (await replica.runStep());
        choices.push(step, step);
      }
      if (replica.isPaused) choices.push(() => this.resume(replica));
      else if (['doomed', 'renamed', 'registered'].includes(replica.life)) {
        choices.push(() => replica.registerAnew());
      }
    }
    if (this.hints.length > 0) choices.push(() => this.deliverHint());
    const busy = this.hints.length > 0 || this.replicas.some(({ hasStep }) => hasStep);
    const isShort = !this.isPrompt && this.clock.nextInMs <= SHORT_WAIT_MS;
    if (this.clock.pending > 0 && (!busy || isShort)) choices.push(() => this.clock.fireNext());
    for (const id of this.deadIds) if (!this.reaped.has(id)) choices.push(() => this.reap(id));
    if (this.isEnding) return choices;
    choices.push(...this.clients.choices());
    if (this.mishapsLeft > 0 && this.random.chance(0.15)) choices.push(() => this.mishap());
    return choices;
  }

  private mishap(): void {
    this.mishapsLeft -= 1;
    this.disturbedUntil = this.clock.now() + AFTERMATH_MS;
    const replica = this.random.pick(this.replicas);
    const mishap = this.random.below(4);
    if (mishap === 0) {
      this.awayUntil = this.clock.now() + 2_000 + this.random.below(5_000);
      this.log(`the database is away until ${this.awayUntil}`);
      this.count('outages');
    } else if (replica.isPaused || replica.life !== 'alive') {
      return;
    } else if (mishap === 1) {
      this.count('kills');
      this.kill(replica);
    } else {
      this.count('pauses');
      replica.pause();
      // The lease ends before or during what the others do next.
      if (this.random.chance(0.7)) replica.doom();
    }
  }

  private kill(replica: FragileReplica): void {
    replica.kill();
    this.gone.push(replica);
    // What it committed last was not published. The others notice its silence, sooner or later.
    this.hints.push({ type: 'gap', from: replica });
    this.clients.onKilled(replica);
    const next = new FragileReplica(this, `${replica.name}'`, `${replica.name}'`);
    next.life = 'renamed';
    this.replicas = this.replicas.map((each) => (each === replica ? next : each));
  }

  private resume(replica: FragileReplica): void {
    this.disturbedUntil = this.clock.now() + AFTERMATH_MS;
    replica.resume();
  }

  /** The reaper looks again for open grants of dead replicas, so a reaping is repeated. */
  private reap(id: string): void {
    const reaper = this.random.pick(this.replicas);
    if (reaper.isPaused) return;
    this.reaped.set(id, false);
    this.log(`${reaper.name} reaps ${id}`);
    this.count('reapings');
    reaper.lane.submit({ type: 'REAP', replica_id: id }).then(
      () => this.reaped.set(id, true),
      () => this.reaped.delete(id),
    );
  }

  publish(from: FragileReplica, hints: MoneyHints | undefined): void {
    if (from.life === 'killed') return;
    const published: Hint<FragileReplica>[] = hints
      ? [
          ...hints.recalls.map((recall) => ({ type: 'recall' as const, from, recall })),
          ...hints.organization_ids.map((organization_id) => ({
            type: 'money' as const,
            from,
            organization_id,
          })),
        ]
      : [{ type: 'unknown_money', from }];
    for (const hint of published) applyHints(from.quotas, hint);
    this.hints.push(...published);
  }

  private deliverHint(): void {
    const [hint] = this.hints.splice(this.random.below(this.hints.length), 1);
    if (!hint || (!this.isPrompt && this.random.chance(0.1))) return;
    for (const replica of this.replicas) {
      if (replica !== hint.from) applyHints(replica.quotas, hint);
    }
  }

  private get deadIds(): string[] {
    return [...this.gone, ...this.replicas].flatMap(({ dead_ids }) => dead_ids);
  }

  /** Lets everything end without faults. Then the sweeps must have returned all money. */
  private async finish(): Promise<void> {
    this.isEnding = true;
    this.awayUntil = 0;
    for (const replica of this.replicas) if (replica.isPaused) this.resume(replica);
    await this.untilQuiet(QUIET_MS / 4);
    // The reaper polls, so it finds grants that were opened while it declared their replica dead.
    this.reaped.clear();
    await this.untilQuiet(QUIET_MS);
    await checkMemory(this);
    await checkBooks(this);
  }

  /** Plays until nothing but sweeps happens for a time. */
  private async untilQuiet(durationMs: number): Promise<void> {
    let quietSince = this.clock.now();
    for (let step = 0; step < MAX_STEPS; step += 1) {
      const choices = this.choices();
      if (choices.length > 1) quietSince = this.clock.now();
      if (this.clock.now() - quietSince > durationMs) return;
      await this.random.pick(choices)();
      await this.settleDown();
    }
    this.violate('the replicas never come to rest');
  }
}
