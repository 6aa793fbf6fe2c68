import type { ChargedUnit, ChargePart } from './charge-parts.ts';
import type { DirectOperation } from './families.ts';
import { chargeFor, picoPerToken } from './price.ts';
import type { PriceDeclaration } from './schema.ts';

/** The usage of a direct call, by unit. A missing unit counts as 0. */
export interface DirectUsage {
  readonly input_tokens?: number;
  readonly output_tokens?: number;
  /** Seconds of audio, rounded up. */
  readonly seconds?: number;
  /** Characters of text. Providers count code points. */
  readonly characters?: number;
  /** Number of search units. A query with up to 100 documents is one unit. */
  readonly requests?: number;
}

interface UnitPrice {
  readonly unit: keyof DirectUsage;
  /** Pico-USD for one unit. */
  readonly pico_usd: number;
}

/** One price per unit. The first unit is the published pricing unit. */
export type DirectPrice = readonly [UnitPrice, UnitPrice?];

const PICO_PER_USD = 1_000_000_000_000;

interface DeclaredUnit {
  readonly member: keyof PriceDeclaration;
  readonly unit: keyof DirectUsage;
  /** The number of units that the declared price pays for. */
  readonly units_per_price: number;
}

const INPUT_TOKENS = {
  member: 'input_usd_per_mtok',
  unit: 'input_tokens',
  units_per_price: 1_000_000,
} as const;
const OUTPUT_TOKENS = {
  member: 'output_usd_per_mtok',
  unit: 'output_tokens',
  units_per_price: 1_000_000,
} as const;
const CHARACTERS = {
  member: 'usd_per_mchar',
  unit: 'characters',
  units_per_price: 1_000_000,
} as const;
const SECONDS = { member: 'usd_per_second', unit: 'seconds', units_per_price: 1 } as const;
const REQUESTS = { member: 'usd_per_request', unit: 'requests', units_per_price: 1 } as const;

/**
 * The units by which each operation can be priced. Each operation has one or more lists of units. A
 * model's declaration must have a price for every unit of one list.
 */
export const DIRECT_PRICES: Record<
  DirectOperation,
  readonly (readonly [DeclaredUnit] | readonly [DeclaredUnit, DeclaredUnit])[]
> = {
  embedding: [[INPUT_TOKENS]],
  stt: [[SECONDS]],
  tts: [[CHARACTERS], [INPUT_TOKENS, OUTPUT_TOKENS]],
  rerank: [[REQUESTS]],
  translation: [[CHARACTERS]],
};

/**
 * Returns the declared price in pico-USD. Throws if the model has no declared price for the operation.
 */
export function directPrice(operation: DirectOperation, declared: PriceDeclaration): DirectPrice {
  const declaredUnits = DIRECT_PRICES[operation].find((units) =>
    units.every(({ member }) => declared[member] !== undefined),
  );
  if (!declaredUnits) throw new Error(`the model has no declared price for ${operation}`);
  const [first, second] = declaredUnits;
  const unitPrice = ({ member, unit, units_per_price }: DeclaredUnit): UnitPrice => {
    const usd = Number(declared[member]);
    const pico_usd =
      units_per_price === 1 ? Math.ceil(usd * PICO_PER_USD - 1e-3) : picoPerToken(usd);
    return { unit, pico_usd };
  };
  return second ? [unitPrice(first), unitPrice(second)] : [unitPrice(first)];
}

/** Returns the charge of a direct call in nano-USD. Only the sum is rounded up. */
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

const CHARGED: Record<keyof DirectUsage, ChargedUnit> = {
  input_tokens: 'token',
  output_tokens: 'token',
  seconds: 'second',
  characters: 'character',
  requests: 'request',
};

/** Returns the parts of which `directCharge` is the sum. A part without units is left out. */
export function directParts(price: DirectPrice, usage: DirectUsage): ChargePart[] {
  return price.flatMap((each) => {
    const quantity = each ? Math.ceil(usage[each.unit] ?? 0) : 0;
    if (!each || quantity === 0) return [];
    return [{ kind: each.unit, quantity, unit: CHARGED[each.unit], pico_usd: each.pico_usd }];
  });
}
