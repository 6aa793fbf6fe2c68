/**
 * What must be charged after a history: the work in the books of the simulated providers at published
 * prices. Nothing here comes from Weir's amounts.
 */
import type { Sql } from '../../../db/client.ts';
import { type Pair, pairUp, type Witness } from '../../support/books/pairing.ts';
import type { ProviderWork } from '../../support/books/provider-work.ts';
import { publishedJobPrice, publishedTokenPrice } from '../../support/books/published-prices.ts';
import { readUsageLines } from '../../support/books/usage-lines.ts';

/** One charge, in nano-USD. */
export interface Expected {
  readonly request_id: string;
  readonly model: string;
  readonly scene: string;
  readonly price: bigint;
  readonly input_tokens: number;
  readonly output_tokens: number;
}

/**
 * Returns the charges of the work that usage lines name. A complete answer has the tokens of the
 * provider's books, and a part has those of its line, which `compareBooks` judges.
 */
export async function expectCharges(
  sql: Sql,
  work: ProviderWork,
  witnesses: readonly Witness[],
): Promise<Map<string, Expected>> {
  const { pairs } = pairUp(await readUsageLines(sql), work, witnesses);
  return new Map(pairs.map((pair) => [pair.line.request_id, expectedOf(pair)]));
}

function expectedOf({ line, work }: Pair): Expected {
  const { request_id, model, model_vendor, scene } = line;
  const isWhole = work.type === 'call' && line.outcome === 'completed' && !line.estimated;
  const tokens = isWhole ? work.tokens : line;
  const price =
    work.type === 'job'
      ? publishedJobPrice(model, work)
      : publishedTokenPrice(model, model_vendor, tokens);
  if (price === undefined) throw new Error(`no published price of ${model} is known`);
  const { input_tokens, output_tokens } = tokens;
  return { request_id, model, scene, price: BigInt(price), input_tokens, output_tokens };
}
