import type { DirectOperation } from './families.ts';
import { chargeFor, picoPerToken } from './price.ts';
import type { PriceDeclaration } from './schema.ts';

/** What a direct call used, each in the unit of its price; what is left out is none. */
export interface DirectUsage {
  readonly input_tokens?: number;
  readonly output_tokens?: number;
  /** Of sound, begun ones whole. */
  readonly seconds?: number;
  /** Of text, as the provider counts: code points. */
  readonly characters?: number;
  /** E.g. a search of up to 100 documents. */
  readonly requests?: number;
}

interface UnitPrice {
  readonly unit: keyof DirectUsage;
  /** Pico-USD of one. */
  readonly pico_usd: number;
}

/** What counts for a price, each unit with its own; the first names the price. */
export type DirectPrice = readonly [UnitPrice, UnitPrice?];

const PICO_PER_USD = 1_000_000_000_000;

interface Counted {
  readonly member: keyof PriceDeclaration;
  readonly unit: keyof DirectUsage;
  /** How many units the price is for. */
  readonly per: number;
}

const INPUT_TOKENS = {
  member: 'input_usd_per_mtok',
  unit: 'input_tokens',
  per: 1_000_000,
} as const;
const OUTPUT_TOKENS = {
  member: 'output_usd_per_mtok',
  unit: 'output_tokens',
  per: 1_000_000,
} as const;
const CHARACTERS = { member: 'usd_per_mchar', unit: 'characters', per: 1_000_000 } as const;
const SECONDS = { member: 'usd_per_second', unit: 'seconds', per: 1 } as const;
const REQUESTS = { member: 'usd_per_request', unit: 'requests', per: 1 } as const;

/** The prices that an operation can have: one of them, all its members. */
export const DIRECT_PRICES: Record<
  DirectOperation,
  readonly (readonly [Counted] | readonly [Counted, Counted])[]
> = {
  embedding: [[INPUT_TOKENS]],
  stt: [[SECONDS]],
  tts: [[CHARACTERS], [INPUT_TOKENS, OUTPUT_TOKENS]],
  rerank: [[REQUESTS]],
  translation: [[CHARACTERS]],
};

/** Throws unless the declaration has a price of its operation. */
export function directPrice(operation: DirectOperation, declared: PriceDeclaration): DirectPrice {
  const counted = DIRECT_PRICES[operation].find((each) =>
    each.every(({ member }) => declared[member] !== undefined),
  );
  if (!counted) throw new Error(`no price of ${operation}`);
  const [first, second] = counted;
  const of = ({ member, unit, per }: Counted): UnitPrice => {
    const usd = Number(declared[member]);
    const pico_usd = per === 1 ? Math.ceil(usd * PICO_PER_USD - 1e-3) : picoPerToken(usd);
    return { unit, pico_usd };
  };
  return second ? [of(first), of(second)] : [of(first)];
}

/** Nano-USD, rounded up once. */
export function directCharge([first, second]: DirectPrice, usage: DirectUsage): number {
  const amount = (price?: UnitPrice) => (price ? Math.ceil(usage[price.unit] ?? 0) : 0);
  return chargeFor(
    {
      input_tokens: amount(first),
      output_tokens: amount(second),
      ...{ cached_input_tokens: 0, cache_write_tokens: 0 },
    },
    { input: first.pico_usd, output: second?.pico_usd ?? 0, cached_input: 0, cache_write: 0 },
  );
}
