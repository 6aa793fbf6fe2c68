import type { Sql } from 'postgres';
import type { Clock, IdSource } from '../../src/actors/clock.ts';
import type { BudgetedTags } from '../../src/actors/money/budgeted-tags.ts';
import { Lane } from '../../src/actors/money/lane.ts';
import type { MoneyHints } from '../../src/actors/money/money-hints.ts';
import { Quotas } from '../../src/actors/money/quotas.ts';
import { GatedSql, type StepOutcome } from './gated-sql.ts';

/** The part of a schedule that a simulated replica uses. */
export interface World extends IdSource {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly budgeted: BudgetedTags;
  /** Decides what happens at a commit point. */
  faultAt(point: 'before' | 'after'): 'none' | 'cut' | 'kill';
  log(line: string): void;
  /** Called after a commit of `from` with its hints; undefined = they are not known. */
  publish(from: SimulatedReplica, hints: MoneyHints | undefined): void;
}

/** One replica: a real lane and real quota actors. The schedule runs each of their transactions. */
export class SimulatedReplica {
  readonly lane: Lane;
  readonly quotas: Quotas;
  reaped = false;
  /** The replica that reaps this one. */
  reaper: SimulatedReplica | undefined;
  private readonly gate: GatedSql;

  constructor(
    world: World,
    readonly name: string,
    readonly id: string,
  ) {
    this.gate = new GatedSql(world.sql, (point) => world.faultAt(point));
    this.lane = new Lane({
      sql: this.gate.sql,
      clock: world.clock,
      hints: {
        publish: (hints) => world.publish(this, hints),
        publishUnknown: () => world.publish(this, undefined),
      },
      onError: (error) => world.log(`${name} lane: ${String(error)}`),
    });
    this.quotas = new Quotas({
      lane: this.lane,
      clock: world.clock,
      budgeted: world.budgeted,
      ids: world,
      replica_id: () => id,
      mayAdmit: () => true,
      onFenced: () => world.log(`${name} fenced`),
    });
  }

  /** True if a transaction waits to be run. */
  get hasStep(): boolean {
    return this.gate.waiting > 0;
  }

  /** Runs the oldest waiting transaction; `calm` = without faults. */
  runStep(mood?: 'calm'): Promise<StepOutcome> {
    return this.gate.step(mood);
  }
}
