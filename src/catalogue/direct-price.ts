import type { DirectOperation } from './families.ts';
import { picoPerToken, priceOf } from './price.ts';
import type { PriceDeclaration } from './schema.ts';

/** What a direct call used, each in the unit of its price; what is left out is none. */
export interface DirectUsage {
  readonly input_tokens?: number;
  /** Of sound, begun ones whole. */
  readonly seconds?: number;
  /** Of text, as the provider counts: code points. */
  readonly characters?: number;
  /** E.g. a search of up to 100 documents. */
  readonly requests?: number;
}

export interface DirectPrice {
  readonly unit: keyof DirectUsage;
  /** Pico-USD of one. */
  readonly pico_usd: number;
}

const PICO_PER_USD = 1_000_000_000_000;

/** The one member of a price that counts for an operation, its unit, and how many units it is for. */
export const DIRECT_PRICES = {
  embedding: { member: 'input_usd_per_mtok', unit: 'input_tokens', per: 1_000_000 },
  stt: { member: 'usd_per_second', unit: 'seconds', per: 1 },
  tts: { member: 'usd_per_mchar', unit: 'characters', per: 1_000_000 },
  rerank: { member: 'usd_per_request', unit: 'requests', per: 1 },
  translation: { member: 'usd_per_mchar', unit: 'characters', per: 1_000_000 },
} as const satisfies Record<
  DirectOperation,
  { member: keyof PriceDeclaration; unit: keyof DirectUsage; per: number }
>;

/** Throws unless the declaration has the price of its operation. */
export function directPrice(operation: DirectOperation, declared: PriceDeclaration): DirectPrice {
  const { member, unit, per } = DIRECT_PRICES[operation];
  const usd = declared[member];
  if (usd === undefined) throw new Error(`a price of ${operation} needs ${member}`);
  const pico_usd = per === 1 ? Math.ceil(usd * PICO_PER_USD - 1e-3) : picoPerToken(usd);
  return { unit, pico_usd };
}

/** Nano-USD, rounded up once. */
export function directCharge({ unit, pico_usd }: DirectPrice, usage: DirectUsage): number {
  return priceOf(
    {
      input_tokens: Math.ceil(usage[unit] ?? 0),
      ...{ cached_input_tokens: 0, cache_write_tokens: 0, output_tokens: 0 },
    },
    { input: pico_usd, cached_input: 0, cache_write: 0, output: 0 },
  );
}
