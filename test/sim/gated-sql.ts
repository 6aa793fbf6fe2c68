import type { PendingQuery, Row, Sql } from 'postgres';

export type StepOutcome = 'done' | 'killed' | 'nothing';

/** A lost connection, with the driver's error code. */
class ConnectionCut extends Error {
  readonly code = 'CONNECTION_CLOSED';
}

/**
 * A database client for a schedule. Every statement and transaction waits until the schedule runs
 * it. The connection may break before or after the commit. After a kill no answer comes.
 */
export class GatedSql {
  /** Replaces the database client of a replica. */
  readonly sql: Sql;
  private readonly steps: ((calm: boolean) => Promise<StepOutcome>)[] = [];

  constructor(
    real: Sql,
    private readonly faultAt: (point: 'before' | 'after') => 'none' | 'cut' | 'kill',
  ) {
    const gated = (query: PendingQuery<Row[]>) => {
      const run = query.then.bind(query);
      let result: Promise<unknown> | undefined;
      // The driver runs a query when somebody awaits it. A part of another query is never awaited.
      // biome-ignore lint/suspicious/noThenProperty: a query of the driver is a thenable.
      query.then = (onRows, onError) => {
        result ??= this.gate(() => run((rows) => [...rows]));
        return result.then(onRows as never, onError);
      };
      return query;
    };
    const tag = (strings: TemplateStringsArray, ...values: never[]) =>
      gated(real(strings, ...values));
    const unsafe = (...query: Parameters<Sql['unsafe']>) => gated(real.unsafe(...query));
    const begin = (work: Parameters<Sql['begin']>[1]) => this.gate(() => real.begin(work));
    this.sql = Object.assign(tag, { begin, unsafe }) as unknown as Sql;
  }

  /** The number of waiting transactions. */
  get waiting(): number {
    return this.steps.length;
  }

  /** Runs the oldest waiting transaction; `calm` = without faults. */
  async step(mood?: 'calm'): Promise<StepOutcome> {
    const step = this.steps.shift();
    return step ? step(mood === 'calm') : 'nothing';
  }

  private gate<Result>(work: () => Promise<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.steps.push(async (calm) => {
        const before = calm ? 'none' : this.faultAt('before');
        if (before === 'kill') return 'killed';
        if (before === 'cut') {
          reject(new ConnectionCut('cut before the commit'));
          return 'done';
        }
        const after = calm ? 'none' : this.faultAt('after');
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
