/**
 * Two replicas of the real durable runtime on a real PostgreSQL, in an order that a seed decides.
 * Every transaction and every poll is a step. At each step the connection may be cut before or
 * after the commit. The replica may be killed there, also during an effect. Time is virtual, also
 * in the database.
 * The same seed gives the same run.
 */
import type { Sql } from 'postgres';
import { adoptActors } from '../../db/actors/store.ts';
import type { CommittedEvent } from '../../src/actors/durable/command.ts';
import { DurableActors } from '../../src/actors/durable/durable.ts';
import { InspectionFeed } from '../../src/actors/durable/inspection.ts';
import { Outbox } from '../../src/actors/durable/outbox.ts';
import { Registry } from '../../src/actors/durable/registry.ts';
import { Timers } from '../../src/actors/durable/timers.ts';
import { replayAll } from '../support/histories.ts';
import { courierKind, versionedCourier } from './courier.ts';
import { GatedSql, type StepOutcome } from './gated-sql.ts';
import { Random } from './random.ts';
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
  violations: string[];
}

const MAX_STEPS = 3_000;

class DurableReplica {
  readonly gate: GatedSql;
  readonly actors: DurableActors;
  readonly outbox: Outbox;
  readonly timers: Timers;
  readonly registry: Registry;
  alive = true;

  constructor(
    readonly world: DurableSchedule,
    readonly id: string,
  ) {
    this.gate = new GatedSql(world.sql, (point) => world.faultAt(point));
    const { sql } = this.gate;
    const { clock } = world;
    const onError = (error: unknown) => world.log(`${id}: ${String(error)}`);
    const replicaId = () => id;
    this.actors = new DurableActors({
      sql,
      clock,
      ids: { uuid: () => Bun.randomUUIDv7() },
      kinds: [courierKind({ act: (effect, actor, key) => world.act(this, effect, actor, key) })],
      replica_id: replicaId,
      onError,
      onCommitted: ({ events }) => this.committed(events),
    });
    const feed = new InspectionFeed(replicaId, () => clock.now());
    const { kinds } = this.actors;
    const registry = { sql: world.sql, clock, kinds, feed, replica_id: replicaId, onError };
    this.registry = new Registry(registry);
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

  private committed(events: readonly CommittedEvent[]): void {
    this.registry.onCommitted(events);
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
  private replicas: DurableReplica[] = [];
  private booted = 0;
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
    this.result = { seed: options.seed, trace: [], events: 0, faults: 0, kills: 0, violations: [] };
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
      if (this.sent >= this.options.actors && (await this.allEnded())) return;
      await this.random.pick(this.choices())();
      await new Promise((resolve) => setImmediate(resolve));
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
    choices.push(() => this.pass());
    return choices;
  }

  private async step(replica: DurableReplica): Promise<void> {
    const outcome: StepOutcome = await replica.gate.step();
    if (outcome !== 'killed') return;
    this.result.kills += 1;
    this.log(`kill ${replica.id}`);
    replica.alive = false;
    await this.sql`update replica set status = 'dead' where id = ${replica.id}`;
    const next = await this.boot();
    this.replicas = this.replicas.map((each) => (each === replica ? next : each));
    for (const [id, addressee] of this.unanswered) {
      if (addressee === replica) this.sendUntilAnswered(next, id, false);
    }
  }

  private async boot(): Promise<DurableReplica> {
    this.booted += 1;
    const id = `durable-${this.options.seed}-${crypto.randomUUID().slice(0, 8)}`;
    await this
      .sql`insert into replica (id, lease_until) values (${id}, weir_now() + interval '1 day')`;
    return new DurableReplica(this, id);
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
      () => this.unanswered.delete(id),
      () => this.sendUntilAnswered(this.random.pick(this.replicas), id, false),
    );
  }

  private async adopt(replica: DurableReplica): Promise<void> {
    const adopted = await adoptActors(this.sql, replica.id, 100);
    if (adopted.length > 0) this.log(`${adopted.length} adopted`);
    replica.registry.onAdopted(adopted);
  }

  private async pass(): Promise<void> {
    if (this.clock.pending > 0 && this.random.chance(0.5)) this.clock.fireNext();
    else this.clock.advance(this.random.below(2_000));
    await this.setDatabaseTime();
  }

  private async setDatabaseTime(): Promise<void> {
    const now = new Date(1_800_000_000_000 + this.clock.now()).toISOString();
    await this.sql`select set_config('weir.now', ${now}, false)`;
  }

  private async allEnded(): Promise<boolean> {
    const [row] = await this.sql<{ n: number; live: number }[]>`
      select count(*)::int4 as n, count(*) filter (where live)::int4 as live from actor`;
    return row?.n === this.options.actors && row.live === 0;
  }

  /** Checks that each event log replays to the stored state. */
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
