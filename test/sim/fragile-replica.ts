import type { Sql } from 'postgres';
import type { Clock, IdSource } from '../../src/actors/clock.ts';
import { Lane } from '../../src/actors/money/lane.ts';
import type { MoneyHints } from '../../src/actors/money/money-hints.ts';
import { Quotas } from '../../src/actors/money/quotas.ts';
import { GatedSql, type StepOutcome } from './gated-sql.ts';

/** The part of a schedule that a fragile replica uses. */
export interface FragileWorld extends IdSource {
  readonly sql: Sql;
  readonly clock: Clock;
  faultAt(point: 'before' | 'after'): 'none' | 'cut' | 'kill';
  log(line: string): void;
  publish(from: FragileReplica, hints: MoneyHints | undefined): void;
}

/** A clock that stops with its process. Timers that ended meanwhile fire when it continues. */
class PausableClock implements Clock {
  isPaused = false;
  private late: (() => void)[] = [];

  constructor(private readonly clock: Clock) {}

  now(): number {
    return this.clock.now();
  }

  after(delayMs: number, callback: () => void): () => void {
    const cancel = this.clock.after(delayMs, () => {
      if (this.isPaused) this.late.push(callback);
      else callback();
    });
    return () => {
      cancel();
      this.late = this.late.filter((each) => each !== callback);
    };
  }

  resume(): void {
    this.isPaused = false;
    for (const callback of this.late.splice(0)) callback();
  }
}

/**
 * A real lane and real quota actors in a process that may stop for a while. While it stops, another
 * replica may declare it dead. It notices this later, and registers under a new id in three steps.
 */
export class FragileReplica {
  readonly lane: Lane;
  readonly quotas: Quotas;
  /** `doomed`: another replica reaps it. `renamed`: it has a new id that is not registered yet. */
  life: 'alive' | 'doomed' | 'renamed' | 'registered' | 'killed' = 'alive';
  /** Ids under which it was declared dead. */
  readonly dead_ids: string[] = [];
  private readonly gate: GatedSql;
  private readonly clock: PausableClock;
  private names = 1;

  constructor(
    private readonly world: FragileWorld,
    readonly name: string,
    public id: string,
  ) {
    this.gate = new GatedSql(world.sql, (point) => world.faultAt(point));
    this.clock = new PausableClock(world.clock);
    this.lane = new Lane({
      sql: this.gate.sql,
      clock: this.clock,
      hints: {
        publish: (hints) => world.publish(this, hints),
        publishUnknown: () => world.publish(this, undefined),
      },
      onError: (error) => world.log(`${name} lane: ${String(error)}`),
    });
    this.quotas = new Quotas({
      lane: this.lane,
      clock: this.clock,
      ids: world,
      replica_id: () => this.id,
      mayAdmit: () => this.life === 'alive' || this.life === 'registered',
      onFenced: () => world.log(`${name}: a grant is closed`),
    });
  }

  get isPaused(): boolean {
    return this.clock.isPaused;
  }

  /** True if a transaction waits, and the process can run it. */
  get hasStep(): boolean {
    return !this.isPaused && this.life !== 'killed' && this.gate.waiting > 0;
  }

  /** Runs the oldest waiting transaction. */
  runStep(): Promise<StepOutcome> {
    return this.gate.step();
  }

  pause(): void {
    this.world.log(`${this.name} stops`);
    this.clock.isPaused = true;
  }

  resume(): void {
    this.world.log(`${this.name} continues`);
    this.clock.resume();
  }

  /** Another replica declares it dead, sooner or later. */
  doom(): void {
    this.life = 'doomed';
    this.dead_ids.push(this.id);
  }

  kill(): void {
    this.world.log(`kill ${this.name}`);
    this.dead_ids.push(this.id);
    this.life = 'killed';
    this.clock.isPaused = true;
  }

  /** The next step of a replica that was declared dead: new id, new row, end of the old grants. */
  async registerAnew(): Promise<void> {
    if (this.life === 'doomed') {
      this.names += 1;
      this.id = `${this.id.replace(/~.*/, '')}~${this.names}`;
      this.life = 'renamed';
    } else if (this.life === 'renamed') {
      await this.world.sql`
        insert into replica (id, lease_until) values (${this.id}, now() + interval '1 day')`;
      this.life = 'registered';
    } else {
      this.quotas.fence();
      this.life = 'alive';
    }
    this.world.log(`${this.name} is ${this.life} as ${this.names}`);
  }
}
