/** Compares Weir's charges with the answers that the simulator delivered. */
import type { Sql } from '../db/client.ts';
import { compareBooks } from '../test/support/books/compare-books.ts';
import { findMoneyNotAtRest } from '../test/support/books/money-at-rest.ts';
import { type ProviderWork, takeCalls } from '../test/support/books/provider-work.ts';

/**
 * The simulator keeps only the last 500,000 calls of an account. So the calls of each measurement are
 * taken after it, outside of the measured time.
 */
export class SimulatorBooks {
  /** The work of all measurements so far. */
  readonly work: ProviderWork = { calls: [], jobs: [], forgotten: 0 };

  /** Complete answers that the clients of these measurements received. */
  answers = 0;

  constructor(
    readonly simulator_url: string,
    /** Only the work of this account of the simulator is read. */
    private readonly account: string,
  ) {}

  /** Returns a copy, for a database that is copied with the usage lines of these measurements. */
  copy(): SimulatorBooks {
    const copy = new SimulatorBooks(this.simulator_url, this.account);
    copy.work.calls.push(...this.work.calls);
    copy.work.forgotten = this.work.forgotten;
    copy.answers = this.answers;
    return copy;
  }

  /** Runs one measurement. Adds its calls once those that the simulator knows have ended. */
  async during<Result>(measure: () => Promise<Result>): Promise<Result> {
    const result = await measure();
    await this.collect();
    return result;
  }

  /**
   * Adds the calls since the last time. wrk leaves its last requests unanswered; on a busy machine
   * Weir may send these to the simulator after the measurement. So collect again after Weir stopped.
   */
  async collect(): Promise<void> {
    const { calls, forgotten } = await takeCalls(this.simulator_url, this.account);
    for (const call of calls) this.work.calls.push(call);
    this.work.forgotten += forgotten;
  }
}

/** The result of the comparison. */
export interface Audit {
  /** One sentence for the results. */
  text: string;
  /** False if the run must fail. */
  agree: boolean;
}

/**
 * Returns the number of differences between the calls and their usage lines, and prints them. All
 * calls have the same body, so there is no seed.
 */
export async function countDifferences(books: SimulatorBooks, sql: Sql): Promise<number> {
  const { simulator_url, work, answers } = books;
  return (await compareBooks({ simulator_url, sql, seed: 'none', work, answers })).length;
}

/** Compares the calls of a whole run with the database of a Weir that has stopped. */
export async function auditRun(books: SimulatorBooks, sql: Sql): Promise<Audit> {
  await books.collect();
  const differences = await countDifferences(books, sql);
  const { work, answers } = books;
  const at_rest = await findMoneyNotAtRest(sql, { are_grants_returned: true });
  for (const violation of at_rest) console.error(violation);
  const [lines] = await sql<{ completed: number; partial: number }[]>`
    select count(*) filter (where outcome = 'completed')::int4 as completed,
      count(*) filter (where outcome = 'partial')::int4 as partial from usage_line`;
  const wrong = differences + at_rest.length;
  const text =
    `After the run: the simulator received ${work.calls.length} calls of Weir. Weir charged ` +
    `${lines?.completed} complete answers and ${lines?.partial} partial ones. ` +
    `Clients received ${answers} answers. Ledger and books, compared call by call, ` +
    (wrong === 0 ? 'agree.' : `have ${wrong} differences.`);
  return { text, agree: wrong === 0 };
}
