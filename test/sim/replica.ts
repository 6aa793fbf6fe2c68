import type { Sql } from 'postgres';
import type { Clock, Ids } from '../../src/actors/clock.ts';
import { Lane } from '../../src/actors/lane.ts';
import { Quotas } from '../../src/actors/quotas.ts';

/** What a simulated replica needs of the schedule that it lives in. */
export interface World extends Ids {
  readonly sql: Sql;
  readonly clock: Clock;
  /** Decides what happens at a commit point. */
  faultAt(point: 'before' | 'after'): 'none' | 'cut' | 'kill';
  say(line: string): void;
}

type Outcome = 'done' | 'killed' | 'nothing';

/** A connection that broke: the driver says no more than this. */
class ConnectionCut extends Error {
  readonly code = 'CONNECTION_CLOSED';
}

/**
 * One replica: a real lane and real quota actors whose every transaction waits until the schedule
 * runs it (`runStep`). Killed, it never answers again: its promises stay open for ever.
 */
export class SimulatedReplica {
  readonly lane: Lane;
  readonly quotas: Quotas;
  reaped = false;
  /** Who is giving this one up. */
  reaper: SimulatedReplica | undefined;
  private readonly steps: ((calm: boolean) => Promise<Outcome>)[] = [];

  constructor(
    private readonly world: World,
    readonly name: string,
    readonly id: string,
  ) {
    this.lane = new Lane({
      sql: this.gatedSql(),
      clock: world.clock,
      onError: (error) => world.say(`${name} lane: ${String(error)}`),
    });
    this.quotas = new Quotas({
      lane: this.lane,
      clock: world.clock,
      ids: world,
      replicaId: () => id,
      mayAdmit: () => true,
      onFenced: () => world.say(`${name} fenced`),
    });
  }

  /** True if a transaction waits to be run. */
  get hasStep(): boolean {
    return this.steps.length > 0;
  }

  /** Runs the oldest waiting transaction; `calm` = without faults. */
  async runStep(mood?: 'calm'): Promise<Outcome> {
    const step = this.steps.shift();
    return step ? step(mood === 'calm') : 'nothing';
  }

  /** The lane uses a client as a tag (one statement) and by `begin` (a transaction): both are gated. */
  private gatedSql(): Sql {
    const { sql } = this.world;
    const tag = (strings: TemplateStringsArray, ...values: never[]) =>
      this.gate(async () => [...(await sql(strings, ...values))]);
    const begin = (work: Parameters<Sql['begin']>[1]) => this.gate(() => sql.begin(work));
    return Object.assign(tag, { begin }) as unknown as Sql;
  }

  private gate<Result>(work: () => Promise<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.steps.push(async (calm) => {
        const before = calm ? 'none' : this.world.faultAt('before');
        if (before === 'kill') return 'killed';
        if (before === 'cut') {
          reject(new ConnectionCut('cut before the commit'));
          return 'done';
        }
        const after = calm ? 'none' : this.world.faultAt('after');
        try {
          const result = await work();
          if (after === 'kill') return 'killed';
          if (after === 'cut') reject(new ConnectionCut('cut after the commit'));
          else resolve(result);
        } catch (error) {
          reject(error);
        }
        return 'done';
      });
    });
  }
}
