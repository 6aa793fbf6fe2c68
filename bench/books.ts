/** Compares Weir's charges with the answers that the simulator delivered. */
import { findImbalances } from '../db/ledger/audit.ts';
import { builtInModels } from '../src/catalogue/built-in.ts';
import { Catalogue } from '../src/catalogue/catalogue.ts';
import { chargeFor } from '../src/catalogue/price.ts';
import { withDatabaseOf } from '../test/chaos/database-of.ts';
import { until } from '../test/support/until.ts';
import { MODEL, WEIR_ACCOUNT } from './contenders.ts';

/** Calls of Weir's account in the simulator's books, by outcome. */
export interface BookedCalls {
  calls: number;
  whole: number;
  aborted: number;
  prompt_tokens: number;
  completion_tokens: number;
}

/** Weir's ledger after it stopped. */
export interface Ledger {
  /** Charged calls whose answer was complete. */
  completed: number;
  completed_nano_usd: number;
  /** Charged calls whose client disconnected early. */
  partial: number;
  partial_nano_usd: number;
  held_nano_usd: number;
  imbalances: string[];
}

interface Totals {
  calls: number;
  outcomes: Record<'running' | 'whole' | 'aborted', number>;
  prompt_tokens: number;
  completion_tokens: number;
}

/**
 * The simulator keeps only the last 200,000 calls. So the calls of each measurement are counted
 * separately.
 */
export class SimulatorBooks {
  readonly #url: string;
  readonly total: BookedCalls = {
    calls: 0,
    whole: 0,
    aborted: 0,
    prompt_tokens: 0,
    completion_tokens: 0,
  };

  constructor(simulatorUrl: string) {
    this.#url = `${simulatorUrl}/_sim/books`;
  }

  /** Runs one measurement. Adds its calls to the sums once all of them have ended. */
  async during<Result>(work: () => Promise<Result>): Promise<Result> {
    await fetch(this.#url, { method: 'DELETE' });
    const result = await work();
    const totals = await until('the simulator ends all calls of Weir', async () => {
      const response = await fetch(`${this.#url}?calls=0&account=${WEIR_ACCOUNT}`);
      const { totals } = (await response.json()) as { totals: Totals };
      return totals.outcomes.running === 0 && totals;
    });
    this.total.calls += totals.calls;
    this.total.whole += totals.outcomes.whole;
    this.total.aborted += totals.outcomes.aborted;
    this.total.prompt_tokens += totals.prompt_tokens;
    this.total.completion_tokens += totals.completion_tokens;
    return result;
  }
}

/** Reads the ledger of a stopped Weir. */
export function readLedger(data: string): Promise<Ledger> {
  return withDatabaseOf(data, async (sql) => {
    const rows = await sql<{ outcome: string; lines: number; charged: number }[]>`
      select outcome, count(*)::int8 as lines, sum(charged_nano_usd)::int8 as charged
      from usage_line group by outcome`;
    const [held] = await sql<{ nano_usd: number }[]>`
      select sum(held_nano_usd)::int8 as nano_usd from organization`;
    const imbalances = await findImbalances(sql);
    const of = (outcome: string) => rows.find((row) => row.outcome === outcome);
    return {
      completed: of('completed')?.lines ?? 0,
      completed_nano_usd: of('completed')?.charged ?? 0,
      partial: of('partial')?.lines ?? 0,
      partial_nano_usd: of('partial')?.charged ?? 0,
      held_nano_usd: held?.nano_usd ?? 0,
      imbalances: imbalances.map(({ what, nano_usd }) => `${what} is off by ${nano_usd}`),
    };
  });
}

/**
 * Returns the differences between the clients, the ledger and the simulator's books; empty if all
 * three agree. If a client disconnects before Weir has received the answer, the call may be charged
 * or not.
 */
export function bookErrors(answers: number, ledger: Ledger, delivered: BookedCalls): string[] {
  const errors = [...ledger.imbalances];
  const price = ledger.completed * pricePerCall(delivered);
  const charges = ledger.completed + ledger.partial;
  if (ledger.held_nano_usd !== 0) errors.push(`${ledger.held_nano_usd} nano-USD are still held`);
  if (ledger.completed < answers) {
    errors.push(`clients received ${answers} answers, ${ledger.completed} are charged as complete`);
  }
  if (ledger.completed > delivered.whole) {
    errors.push(
      `${ledger.completed} answers are charged as complete, the simulator completed ${delivered.whole}`,
    );
  }
  if (charges > delivered.calls) {
    errors.push(`${charges} calls are charged, the simulator received ${delivered.calls}`);
  }
  if (ledger.completed_nano_usd !== price) {
    errors.push(`${ledger.completed_nano_usd} nano-USD are charged instead of ${price}`);
  }
  if (ledger.partial_nano_usd > ledger.partial * pricePerCall(delivered)) {
    errors.push('a call whose client disconnected was charged more than a complete call');
  }
  return errors;
}

/**
 * The price of one call in nano-USD. All calls are equal, so each call has the mean number of
 * tokens.
 */
function pricePerCall({ calls, prompt_tokens, completion_tokens }: BookedCalls): number {
  const model = new Catalogue(builtInModels()).find(MODEL);
  if (model?.kind !== 'chat' || calls === 0) return 0;
  const usage = {
    input_tokens: prompt_tokens / calls,
    output_tokens: completion_tokens / calls,
    cached_input_tokens: 0,
    cache_write_tokens: 0,
  };
  return chargeFor(usage, model.price);
}
