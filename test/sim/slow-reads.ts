import type { Sql } from 'postgres';

/**
 * A database client whose reads take two steps of a schedule: one runs the query, and a later one
 * gives its answer. So the answer may be old when it comes.
 */
export class SlowReads {
  /** Replaces the database client of the live actors. */
  readonly sql: Sql;
  private readonly steps: ((calm: boolean) => Promise<void>)[] = [];

  /** `isCut` tells whether the connection breaks at this point. */
  constructor(real: Sql, isCut: () => boolean) {
    const read = (strings: TemplateStringsArray, ...values: never[]) =>
      new Promise((resolve, reject) => {
        const cut = () => reject(new Error('the connection was cut'));
        this.steps.push(async (calm) => {
          if (!calm && isCut()) return cut();
          const rows = await real(strings, ...values);
          this.steps.push(async (calmNow) => (!calmNow && isCut() ? cut() : resolve(rows)));
        });
      });
    this.sql = read as unknown as Sql;
  }

  /** The number of queries and answers that wait for their step. */
  get waiting(): number {
    return this.steps.length;
  }

  /** Runs the oldest step; `calm` = without faults. */
  async step(mood?: 'calm'): Promise<void> {
    await this.steps.shift()?.(mood === 'calm');
  }
}
