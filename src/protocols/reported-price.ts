import { isObject } from '../json/object.ts';

const NANO_PER_USD = 1_000_000_000;
/** xAI counts prices in ticks: 10,000,000,000 are one USD (xAI docs: Cost Tracking). */
const TICKS_PER_NANO_USD = 10;
/** A higher price of one call is impossible. */
const MAX_USD = 100_000;

/**
 * The members of `usage` that say what the operator pays. They are for the operator only, so they are
 * removed from answers.
 */
const PRICES = ['cost', 'cost_details', 'cost_in_usd_ticks', 'is_byok'];

/** Returns the names of the prices in a reported usage object; undefined if there are none. */
export function pricesIn(usage: unknown): string[] | undefined {
  if (!isObject(usage)) return undefined;
  // Nearly every answer comes here, and few have a price.
  let names: string[] | undefined;
  for (const name of PRICES) {
    if (!(name in usage)) continue;
    names ??= [];
    names.push(name);
  }
  return names;
}

/**
 * Returns what the operator pays for a call, nano-USD, if the provider reported it in `usage`.
 * Undefined without a report, and for an impossible one. The sources of the names:
 *
 * - `cost_in_usd_ticks`: xAI docs, Cost Tracking.
 * - `cost`, in credits of one USD each: OpenRouter docs, Usage Accounting.
 * - `cost.total_cost`, in USD: the schemas of Perplexity's API, ResponsesCost and EmbeddingsUsage.
 */
export function reportedPrice(usage: unknown): number | undefined {
  if (!isObject(usage)) return undefined;
  const { cost, cost_in_usd_ticks: ticks } = usage;
  if (ticks !== undefined) return nanoUsd(ticks, 1 / TICKS_PER_NANO_USD);
  if (cost === undefined || cost === null) return undefined;
  return nanoUsd(isObject(cost) ? cost['total_cost'] : cost, NANO_PER_USD);
}

function nanoUsd(amount: unknown, nano_per_unit: number): number | undefined {
  if (typeof amount !== 'number' || !(amount >= 0)) return undefined;
  const nano = Math.round(amount * nano_per_unit);
  return nano <= MAX_USD * NANO_PER_USD ? nano : undefined;
}
