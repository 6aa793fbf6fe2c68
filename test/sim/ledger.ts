/**
 * Two replicas of the real lane and quota actors on a real PostgreSQL, in one process. A seed
 * decides the order. Every transaction is one step. At each step the schedule may cut the
 * connection before or after the commit (outcome unknown), or kill the replica there. Time is
 * virtual. Hints reach their sender at once. To other replicas they may be late, out of order or
 * lost, with a gap or without. The same seed gives the same run.
 */
import type { Sql } from 'postgres';
import { findImbalances } from '../../db/ledger/audit.ts';
import { readLastRecall } from '../../db/ledger/replicas.ts';
import { BudgetedTags } from '../../src/actors/money/budgeted-tags.ts';
import type { MoneyHints } from '../../src/actors/money/money-hints.ts';
import type { Reservation } from '../../src/actors/money/reservation.ts';
import { WeirError } from '../../src/errors/weir-error.ts';
import { idleOf } from '../../src/machines/quota.ts';
import { makeCap, type SimulatedBudget, tagsOfCall } from './budget.ts';
import { actuallyFree, type Call, usageOf } from './calls.ts';
import { applyHints, type Hint } from './hints.ts';
import { Random } from './random.ts';
import { SimulatedReplica, type World } from './replica.ts';
import { VirtualClock } from './virtual-clock.ts';

export interface LedgerRunOptions {
  seed: number;
  /** Calls that are started. */
  calls: number;
  /** Calls that the cap pays for. */
  capCalls: number;
  /** Set if a budget is the cap, and the key has none. */
  budget?: SimulatedBudget;
  /** Chance of a fault at a commit point, 0–1. */
  faults: number;
  /** Replicas that may be killed in the run. */
  kills: number;
}

export interface LedgerRun {
  seed: number;
  /** What happened, in order: equal for equal seeds. */
  trace: string[];
  served: number;
  refused: number;
  /** Refusals for money that was there; there must be none. */
  falseRefusals: string[];
  faults: number;
  kills: number;
  /** Violated invariants; there must be none. */
  violations: string[];
}

const CALL_PRICE = 100;
const MAX_STEPS = 4_000;
/** Timers up to this long may fire while transactions wait. */
const SHORT_WAIT_MS = 100;

/** Runs one schedule in the organization and key named after its seed. */
export async function runLedgerSchedule(sql: Sql, options: LedgerRunOptions): Promise<LedgerRun> {
  const run = new LedgerSchedule(sql, options);
  await run.prepare();
  try {
    await run.play();
    await run.finish();
  } finally {
    await run.end();
  }
  return run.result;
}

class LedgerSchedule implements World {
  readonly random: Random;
  readonly clock = new VirtualClock();
  budgeted = new BudgetedTags();
  readonly result: LedgerRun;
  readonly keyId: string;
  readonly organizationId: string;
  readonly cap: number;
  private readonly calls: Call[] = [];
  private replicas: SimulatedReplica[] = [];
  private readonly dead: SimulatedReplica[] = [];
  private readonly hints: Hint<SimulatedReplica>[] = [];
  private ids = 0;
  private killsLeft: number;

  constructor(
    readonly sql: Sql,
    private readonly options: LedgerRunOptions,
  ) {
    this.random = new Random(options.seed);
    this.killsLeft = options.kills;
    this.keyId = `key_${options.seed}_${crypto.randomUUID().slice(0, 8)}`;
    this.organizationId = this.keyId.replace('key', 'org');
    this.cap = CALL_PRICE * options.capCalls;
    this.result = {
      seed: options.seed,
      trace: [],
      served: 0,
      refused: 0,
      falseRefusals: [],
      faults: 0,
      kills: 0,
      violations: [],
    };
  }

  log(line: string): void {
    this.result.trace.push(`${this.clock.now()} ${line}`);
  }

  /** Ids are random, because runs share a database; the seed decides their order and use. */
  uuid(): string {
    this.ids += 1;
    return Bun.randomUUIDv7();
  }

  faultAt(point: 'before' | 'after'): 'none' | 'cut' | 'kill' {
    if (!this.random.chance(this.options.faults / 2)) return 'none';
    if (this.killsLeft > 0 && this.random.chance(0.3)) {
      this.killsLeft -= 1;
      this.result.kills += 1;
      return 'kill';
    }
    this.result.faults += 1;
    this.log(`cut ${point} commit`);
    return 'cut';
  }

  async prepare(): Promise<void> {
    const { sql } = this;
    const deposit = this.cap * 10;
    const limit = this.options.budget ? null : this.cap;
    // The numbers of recalls decide what a gap does, so they must not depend on earlier runs.
    await sql`select setval('recall_seq', 1, false)`;
    await sql`insert into organization (id, name, deposited_nano_usd, balance_nano_usd)
      values (${this.organizationId}, 'sim', ${deposit}, ${deposit})`;
    await sql`insert into deposit (id, organization_id, amount_nano_usd)
      values (${Bun.randomUUIDv7()}, ${this.organizationId}, ${deposit})`;
    await sql`insert into api_key
      (id, organization_id, name, key_hash, key_prefix, limit_nano_usd, ceiling_nano_usd)
      values (${this.keyId}, ${this.organizationId}, 'sim', ${this.keyId}, 'sk-', ${limit}, ${limit})`;
    this.budgeted = await makeCap(sql, this.organizationId, this.options.budget, this.cap);
    this.replicas = [await this.boot('A'), await this.boot('B')];
  }

  private async boot(name: string): Promise<SimulatedReplica> {
    const replica = new SimulatedReplica(this, name, `${this.keyId}-${name}`);
    await this
      .sql`insert into replica (id, lease_until) values (${replica.id}, now() + interval '1 day')`;
    return replica;
  }

  async play(): Promise<void> {
    let started = 0;
    for (let step = 0; step < MAX_STEPS; step += 1) {
      const choices: (() => Promise<void> | void)[] = [];
      for (const replica of this.replicas) {
        if (replica.hasStep)
          choices.push(
            () => this.step(replica),
            () => this.step(replica),
          );
      }
      const running = this.calls.filter((call) => call.state === 'running');
      for (const call of running) choices.push(() => this.endCall(call));
      if (started < this.options.calls) {
        choices.push(() => {
          started += 1;
          this.start(started);
        });
      }
      if (this.hints.length > 0) choices.push(() => this.deliverHint());
      // Long timers fire only if nothing else can happen: the database is slow, not stopped.
      const busy = this.hints.length > 0 || this.replicas.some((replica) => replica.hasStep);
      if (this.clock.pending > 0 && (!busy || this.clock.nextInMs <= SHORT_WAIT_MS)) {
        choices.push(() => this.clock.fireNext());
      }
      for (const deadReplica of this.dead) {
        const busy = deadReplica.reaper && this.replicas.includes(deadReplica.reaper);
        if (!deadReplica.reaped && !busy) choices.push(() => this.reap(deadReplica));
      }
      const open = this.calls.some((call) =>
        ['waiting', 'running', 'settling'].includes(call.state),
      );
      if (
        started >= this.options.calls &&
        !open &&
        !this.dead.some((deadReplica) => !deadReplica.reaped)
      )
        return;
      await this.random.pick(choices)();
      await this.runMicrotasks();
      this.checkReplicas();
    }
    this.result.violations.push(`no end after ${MAX_STEPS} steps`);
  }

  /** Resolves after all microtasks: everything except transactions runs in them. */
  private runMicrotasks(): Promise<void> {
    return new Promise((resolve) => setImmediate(resolve));
  }

  private async step(replica: SimulatedReplica): Promise<void> {
    if ((await replica.runStep()) !== 'killed') return;
    this.log(`kill ${replica.name}`);
    // What it committed last was not published. The others notice its silence, sooner or later.
    this.hints.push({ type: 'gap', from: replica });
    this.dead.push(replica);
    for (const call of this.calls) {
      if (call.replica === replica && !['settled', 'released', 'refused'].includes(call.state)) {
        call.unknown = call.state === 'settling';
        call.state = 'lost';
      }
    }
    const next = await this.boot(`${replica.name}'`);
    this.replicas = this.replicas.map((each) => (each === replica ? next : each));
  }

  publish(from: SimulatedReplica, hints: MoneyHints | undefined): void {
    if (!this.replicas.includes(from)) return;
    const published: Hint<SimulatedReplica>[] = hints
      ? [
          ...hints.recalls.map((recall) => ({ type: 'recall' as const, from, recall })),
          ...hints.organization_ids.map((id) => ({
            type: 'money' as const,
            from,
            organization_id: id,
          })),
        ]
      : [{ type: 'unknown_money', from }];
    for (const hint of published) applyHints(from.quotas, hint);
    this.hints.push(...published);
  }

  private start(number: number): void {
    const replica = this.random.pick(this.replicas);
    const exact = this.random.chance(0.5);
    const amount = exact ? CALL_PRICE : CALL_PRICE + this.random.below(CALL_PRICE);
    const call: Call = {
      name: `call ${number}`,
      replica,
      amount,
      actual: exact ? CALL_PRICE : 1 + this.random.below(amount),
      state: 'waiting',
    };
    this.calls.push(call);
    this.log(`${call.name} asks ${replica.name} for ${amount}`);
    const key = { id: this.keyId, organization_id: this.organizationId };
    const tags = tagsOfCall(this.random, this.options.budget, call.name);
    Promise.resolve()
      .then(() =>
        replica.quotas
          .getOrCreate(key, tags)
          .reserve({ amount, minimum: () => Math.min(amount, CALL_PRICE) }),
      )
      .then((reservation) => this.admitted(call, reservation))
      .catch((error: unknown) => this.refused(call, error));
  }

  private admitted(call: Call, reservation: Reservation): void {
    if (call.state !== 'waiting') return;
    call.reservation = reservation;
    call.state = 'running';
    this.log(`${call.name} runs with ${reservation.amount}`);
  }

  private refused(call: Call, error: unknown): void {
    if (call.state !== 'waiting') return;
    call.state = 'refused';
    const id = error instanceof WeirError ? error.id : String(error);
    this.log(`${call.name} refused: ${id}`);
    if (id === 'service_unavailable') return;
    this.result.refused += 1;
    const free = actuallyFree(this.cap, this.calls, this.dead);
    const needed = id === 'quota_in_flight' ? call.amount : Math.min(call.amount, CALL_PRICE);
    const honest = id === 'quota_in_flight' || id === 'quota_exceeded';
    if (!honest || free >= needed) {
      this.result.falseRefusals.push(`${call.name}: ${id} while ${free} of ${this.cap} are free`);
    }
  }

  private endCall(call: Call): void {
    const { reservation } = call;
    if (!reservation) return;
    if (this.random.chance(0.15)) {
      call.state = 'released';
      this.log(`${call.name} released`);
      reservation.release();
      return;
    }
    call.state = 'settling';
    call.actual = Math.min(call.actual, reservation.amount);
    this.log(`${call.name} settles ${call.actual}`);
    reservation.settle(usageOf(this.organizationId, this.keyId), call.actual).then(
      (settled) => {
        if (call.state === 'lost') return;
        call.state = 'settled';
        this.result.served += 1;
        this.log(`${call.name} settled`);
        if (settled.charged !== call.actual || settled.overrun !== 0) {
          this.result.violations.push(`${call.name} was charged ${JSON.stringify(settled)}`);
        }
      },
      (error: unknown) => {
        if (call.state !== 'lost') this.result.violations.push(`${call.name}: ${String(error)}`);
      },
    );
  }

  private async deliverHint(): Promise<void> {
    const [hint] = this.hints.splice(this.random.below(this.hints.length), 1);
    if (!hint) return;
    if (hint.type !== 'gap' && this.random.chance(0.1)) {
      this.log(`hint lost: ${hint.type}`);
      // The last hints of a replica may be lost without a trace for a long time.
      if (this.random.chance(0.5)) this.hints.push({ type: 'gap', from: hint.from });
      return;
    }
    const last_recall = hint.type === 'gap' ? await readLastRecall(this.sql) : 0;
    for (const replica of this.replicas) {
      if (replica !== hint.from) applyHints(replica.quotas, hint, last_recall);
    }
  }

  private reap(deadReplica: SimulatedReplica): void {
    this.log(`reap ${deadReplica.name}`);
    deadReplica.reaper = this.random.pick(this.replicas);
    deadReplica.reaper.lane.submit({ type: 'REAP', replica_id: deadReplica.id }).then(
      () => {
        deadReplica.reaped = true;
      },
      (error: unknown) => {
        deadReplica.reaper = undefined;
        this.log(`reaping failed: ${String(error)}`);
      },
    );
  }

  /** Checks P2 in memory: no replica admits calls beyond its grant. */
  private checkReplicas(): void {
    for (const replica of this.replicas) {
      for (const actor of replica.quotas.all()) {
        if (idleOf(actor.snapshot.context) >= 0) continue;
        this.result.violations.push(`${replica.name} admitted beyond its grant`);
      }
    }
  }

  /** Returns all unused money, then checks that all sums are exact. */
  async finish(): Promise<void> {
    for (const replica of this.replicas) {
      const closing = replica.quotas.close();
      let closed = false;
      closing.finally(() => {
        closed = true;
      });
      for (let step = 0; step < 200 && !closed; step += 1) {
        if (replica.hasStep) await replica.runStep('calm');
        else if (this.clock.pending > 0) this.clock.fireNext();
        await this.runMicrotasks();
      }
    }
    await this.checkBooks();
  }

  private async checkBooks(): Promise<void> {
    const imbalances = await findImbalances(this.sql);
    const names = [this.keyId, this.organizationId];
    const ours = imbalances.filter(({ id, what }) => names.includes(id) || /^budget /.test(what));
    this.result.violations.push(...ours.map((each) => `${each.what} is off by ${each.nano_usd}`));
    const [key] = await this.sql<{ used: number; held: number; lines: number }[]>`
      select used_nano_usd as used, held_nano_usd as held,
        (select coalesce(sum(charged_nano_usd), 0)::int8 from usage_line where key_id = ${this.keyId}) as lines
      from api_key where id = ${this.keyId}`;
    const served = this.calls
      .filter((call) => call.state === 'settled')
      .reduce((sum, call) => sum + call.actual, 0);
    const unknown = this.calls
      .filter((call) => call.unknown)
      .reduce((sum, call) => sum + call.actual, 0);
    if (!key) return;
    if (key.held !== 0) this.result.violations.push(`${key.held} is still held`);
    if (key.used > this.cap) this.result.violations.push(`used ${key.used} of ${this.cap}`);
    if (key.used !== key.lines) this.result.violations.push(`used ${key.used}, lines ${key.lines}`);
    if (key.used < served || key.used > served + unknown) {
      this.result.violations.push(`charged ${key.used} for ${served} served, ${unknown} unknown`);
    }
  }

  /** Deletes all rows of the run, because the audit of the next run reads every row. */
  async end(): Promise<void> {
    const { sql, keyId, organizationId } = this;
    await sql`delete from usage_line where key_id = ${keyId}`;
    await sql`delete from quota_grant where key_id = ${keyId}`;
    await sql`delete from budget where organization_id = ${organizationId}`;
    await sql`delete from api_key where id = ${keyId}`;
    await sql`delete from deposit where organization_id = ${organizationId}`;
    await sql`delete from organization where id = ${organizationId}`;
    await sql`delete from replica`;
  }
}
