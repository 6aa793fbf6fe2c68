/**
 * Two replicas of the real durable runtime, with their live actors, on a real PostgreSQL, in an
 * order that a seed decides. Every transaction and every poll is a step. At each step the connection
 * may be cut before or after the commit. The replica may be killed there, also during an effect, or
 * declared dead while it lives. Time is virtual, also in the database. The same seed gives the same
 * run.
 */
import type { Sql } from 'postgres';
import { adoptActors } from '../../db/actors/store.ts';
import { retireReplica } from '../../db/replicas.ts';
import { type Commit, DurableActors } from '../../src/actors/durable/durable.ts';
import { InspectionFeed } from '../../src/actors/durable/inspection.ts';
import { Outbox } from '../../src/actors/durable/outbox.ts';
import { Registry } from '../../src/actors/durable/registry.ts';
import { Timers } from '../../src/actors/durable/timers.ts';
import { replayAll } from '../support/histories.ts';
import { noHints } from '../support/money-hints.ts';
import { courierKind, versionedCourier } from './courier.ts';
import { GatedSql, type StepOutcome } from './gated-sql.ts';
import { LiveActorsCheck } from './live.ts';
import { Random } from './random.ts';
import { SlowReads } from './slow-reads.ts';
import { VirtualClock } from './virtual-clock.ts';

export interface DurableRunOptions {
  seed: number;
  actors: number;
  faults: number;
  kills: number;
}

export interface DurableRun {
  seed: number;
  trace: string[];
  events: number;
  faults: number;
  kills: number;
  /** How many changes the watchers of live actors got. */
  watched: number;
  violations: string[];
}

const MAX_STEPS = 3_000;
/** A step of this length passivates idle actors. */
const LONG_PAUSE_MS = 70_000;

class DurableReplica {
  readonly gate: GatedSql;
  readonly actors: DurableActors;
  readonly outbox: Outbox;
  readonly timers: Timers;
  readonly registry: Registry;
  /** What the live actors read. */
  readonly reads: SlowReads;
  alive = true;
  /** True from the moment when it was declared dead until it registers under a new id. */
  isFenced = false;

  constructor(
    readonly world: DurableSchedule,
    public id: string,
  ) {
    this.gate = new GatedSql(world.sql, (point) => world.faultAt(point));
    this.reads = new SlowReads(world.sql, () => world.isReadCut());
    const { sql } = this.gate;
    const { clock } = world;
    const onError = (error: unknown) => world.log(`${this.id}: ${String(error)}`);
    const replicaId = () => this.id;
    this.actors = new DurableActors({
      sql,
      clock,
      ids: { uuid: () => Bun.randomUUIDv7() },
      kinds: [courierKind({ act: (effect, actor, key) => world.act(this, effect, actor, key) })],
      replica_id: replicaId,
      hints: noHints,
      onError,
      onCommitted: (commit) => this.committed(commit),
    });
    const feed = new InspectionFeed();
    const { kinds } = this.actors;
    const shared = { clock, kinds, feed, replica_id: replicaId, onError };
    this.registry = new Registry({ ...shared, sql: this.reads.sql });
    this.registry.start();
    const random = () => world.random.next();
    this.outbox = new Outbox({
      sql,
      clock,
      actors: this.actors,
      replica_id: replicaId,
      random,
      onError,
    });
    this.timers = new Timers({ sql, clock, actors: this.actors, replica_id: replicaId, onError });
  }

  private committed({ events, repeated }: Commit): void {
    this.registry.onCommitted(events);
    for (const last of repeated) this.registry.onRepeated(last);
    this.world.live.announce(this, [...events, ...repeated]);
    for (const { id, event, seq, taken } of events) {
      this.world.log(`${this.id} ${id} #${seq} ${event.type}${taken ? '' : ' (ignored)'}`);
    }
  }
}

/** Runs one schedule on an otherwise empty database. */
export async function runDurableSchedule(
  sql: Sql,
  options: DurableRunOptions,
): Promise<DurableRun> {
  const schedule = new DurableSchedule(sql, options);
  await schedule.play();
  await schedule.check();
  return schedule.result;
}

class DurableSchedule {
  readonly random: Random;
  readonly clock = new VirtualClock();
  readonly result: DurableRun;
  readonly live: LiveActorsCheck;
  private replicas: DurableReplica[] = [];
  private killsLeft: number;
  /** Executed effects, by idempotency key. */
  private readonly acted = new Map<string, { effect: string; actor: string; times: number }>();
  /** Running effects. The schedule decides when they end. */
  private readonly pending: { replica: DurableReplica; end: () => void }[] = [];
  private sent = 0;
  /** Actors whose command has no answer yet, and the replica that got the command. */
  private readonly unanswered = new Map<string, DurableReplica>();

  constructor(
    readonly sql: Sql,
    private readonly options: DurableRunOptions,
  ) {
    this.random = new Random(options.seed);
    this.killsLeft = options.kills;
    const { seed } = options;
    this.result = { seed, trace: [], events: 0, faults: 0, kills: 0, watched: 0, violations: [] };
    this.live = new LiveActorsCheck({
      sql,
      random: this.random,
      replicas: () => this.replicas,
      log: (line) => this.log(line),
      onViolation: (violation) => this.result.violations.push(violation),
    });
  }

  log(line: string): void {
    this.result.trace.push(`${this.clock.now()} ${line}`);
  }

  faultAt(point: 'before' | 'after'): 'none' | 'cut' | 'kill' {
    if (!this.random.chance(this.options.faults / 2)) return 'none';
    if (this.killsLeft > 0 && this.random.chance(0.3)) {
      this.killsLeft -= 1;
      return 'kill';
    }
    this.result.faults += 1;
    this.log(`cut ${point} commit`);
    return 'cut';
  }

  /** A lost connection of a live actor's read. */
  isReadCut(): boolean {
    return this.random.chance(this.options.faults / 4);
  }

  act(
    replica: DurableReplica,
    effect: string,
    actor: string,
    key: string,
  ): Promise<'done' | 'failed'> {
    return new Promise((resolve, reject) => {
      this.pending.push({
        replica,
        end: () => {
          if (this.random.chance(0.15))
            return reject(new Error('the answer was lost before the act'));
          const known = this.acted.get(key);
          this.acted.set(key, { effect, actor, times: (known?.times ?? 0) + 1 });
          if (this.random.chance(0.15))
            return reject(new Error('the answer was lost after the act'));
          resolve('done');
        },
      });
    });
  }

  async play(): Promise<void> {
    // Deleting a few rows is cheaper than truncating their tables.
    await this.sql.unsafe(
      'delete from outbox; delete from timer; delete from actor_event; delete from actor; delete from replica',
    );
    await this.setDatabaseTime();
    this.replicas = [await this.boot(), await this.boot()];
    for (let step = 0; step < MAX_STEPS; step += 1) {
      if (this.live.haveEnded(this.options.actors)) {
        await this.live.end();
        this.result.watched = this.live.watched;
        return;
      }
      await this.random.pick(this.choices())();
      await new Promise((resolve) => setImmediate(resolve));
      this.live.checkNow();
      if (this.result.violations.length > 0) return;
    }
    this.result.violations.push(`not every actor ended within ${MAX_STEPS} steps`);
  }

  private choices(): (() => Promise<void> | void)[] {
    const choices: (() => Promise<void> | void)[] = [];
    for (const replica of this.replicas) {
      if (replica.gate.waiting > 0)
        choices.push(
          () => this.step(replica),
          () => this.step(replica),
        );
      else {
        choices.push(() => void replica.timers.poll().catch(() => undefined));
        choices.push(() => void replica.outbox.poll().catch(() => undefined));
        choices.push(() => this.adopt(replica));
      }
      if (replica.isFenced) choices.push(() => this.registerAnew(replica));
    }
    const effects = this.pending.filter(({ replica }) => replica.alive);
    for (const effect of effects) {
      choices.push(() => {
        this.pending.splice(this.pending.indexOf(effect), 1);
        effect.end();
      });
    }
    if (this.sent < this.options.actors) choices.push(() => this.send());
    else if (this.random.chance(0.2)) choices.push(() => this.nudge());
    choices.push(...this.live.choices());
    if (this.random.chance(0.02)) choices.push(() => this.fence());
    choices.push(() => this.pass());
    return choices;
  }

  private async step(replica: DurableReplica): Promise<void> {
    const outcome: StepOutcome = await replica.gate.step();
    await this.live.readLogs();
    if (outcome !== 'killed') return;
    this.result.kills += 1;
    this.log(`kill ${replica.id}`);
    replica.alive = false;
    void replica.registry.stop();
    this.live.onDeath(replica);
    await retireReplica(this.sql, replica.id);
    const next = await this.boot();
    this.replicas = this.replicas.map((each) => (each === replica ? next : each));
    for (const [id, addressee] of this.unanswered) {
      if (addressee === replica) this.sendUntilAnswered(next, id, false);
    }
  }

  private async boot(): Promise<DurableReplica> {
    return new DurableReplica(this, await this.register());
  }

  /** Returns the id of a new replica. */
  private async register(): Promise<string> {
    const id = `durable-${this.options.seed}-${crypto.randomUUID().slice(0, 8)}`;
    await this
      .sql`insert into replica (id, lease_until) values (${id}, weir_now() + interval '1 day')`;
    return id;
  }

  /** Declares a replica dead that lives, as others do if it was silent for too long. */
  private async fence(): Promise<void> {
    const replica = this.random.pick(this.replicas);
    this.log(`${replica.id} is declared dead`);
    replica.isFenced = true;
    await retireReplica(this.sql, replica.id);
  }

  private async registerAnew(replica: DurableReplica): Promise<void> {
    replica.id = await this.register();
    replica.isFenced = false;
    replica.registry.onFenced();
  }

  private send(): void {
    this.sent += 1;
    const replica = this.random.pick(this.replicas);
    this.sendUntilAnswered(replica, `actor-${this.sent}`, true);
  }

  /** Sends an event that no state takes, or a second SEND; neither may change a state. */
  private nudge(): void {
    const id = `actor-${1 + this.random.below(this.options.actors)}`;
    const replica = this.random.pick(this.replicas);
    const event = { type: this.random.chance(0.5) ? 'NUDGE' : 'SEND' };
    replica.actors.send({ kind: 'courier', id, event }).catch(() => undefined);
  }

  /** Sends a command, and repeats it until it is answered. */
  private sendUntilAnswered(replica: DurableReplica, id: string, isFirst: boolean): void {
    if (!isFirst) this.log(`${id} is sent again`);
    this.unanswered.set(id, replica);
    replica.actors.send({ kind: 'courier', id, event: { type: 'SEND' }, create: true }).then(
      ({ type }) => {
        if (type === 'fenced') this.sendUntilAnswered(this.random.pick(this.replicas), id, false);
        else this.unanswered.delete(id);
      },
      () => this.sendUntilAnswered(this.random.pick(this.replicas), id, false),
    );
  }

  private async adopt(replica: DurableReplica): Promise<void> {
    const adopted = await adoptActors(this.sql, replica.id, 100);
    if (adopted.length > 0) this.log(`${adopted.length} adopted`);
    if (adopted.length > 0) replica.registry.onAdopted();
  }

  private async pass(): Promise<void> {
    if (this.random.chance(0.03)) this.clock.advance(LONG_PAUSE_MS);
    else if (this.random.chance(0.5)) this.clock.fireNext();
    else this.clock.advance(this.random.below(2_000));
    await this.setDatabaseTime();
  }

  private async setDatabaseTime(): Promise<void> {
    const now = new Date(1_800_000_000_000 + this.clock.now()).toISOString();
    await this.sql`select set_config('weir.now', ${now}, false)`;
  }

  /**
   * Checks that each event log replays to the stored hashes and states. The live actors were
   * compared with the same replay after each step (`LiveActorsCheck`).
   */
  async check(): Promise<void> {
    const { violations } = this.result;
    const { events, problems } = await replayAll(this.sql, { courier: versionedCourier });
    this.result.events = events;
    violations.push(...problems);
    const actors = await this.sql<{ id: string; state: string }[]>`select id, state from actor`;
    for (const { id, state } of actors) this.checkEffects(id, state);
    const [left] = await this.sql<{ effects: number }[]>`
      select count(*)::int4 as effects from outbox where status = 'pending'`;
    // An ended actor's pending effects still run, but their reports are ignored.
    if (left && left.effects > actors.length) violations.push(`${left.effects} effects are left`);
  }

  private checkEffects(actor: string, state: string): void {
    const keys = (effect: string) =>
      [...this.acted].filter(([, each]) => each.actor === actor && each.effect === effect).length;
    if (keys('deliver') > 1) this.result.violations.push(`${actor} was delivered under two keys`);
    if (state === 'delivered' && keys('deliver') !== 1) {
      this.result.violations.push(`${actor} was never delivered`);
    }
    if (keys('takeBack') > 1) this.result.violations.push(`${actor} was taken back twice`);
  }
}
