import type { GenerationUsage } from '../protocols/generation-usage.ts';
import { maxImageRequestTokens, maxImageTokens, megapixelsOf } from './image-tokens.ts';
import type { GenerationInput } from './inputs.ts';
import { picoPerToken } from './price.ts';
import type { Offers, PriceDeclaration } from './schema.ts';

/** Units in which a generation is priced (spec: `pricing_unit`). */
export type GenerationUnit = 'image' | 'second' | 'song' | 'request';

/** The price of some calls: those whose checked parameters are all as `when` says. */
interface Tier {
  readonly when: Readonly<Record<string, string | number | boolean>>;
  readonly nano_usd: number;
}

export type GenerationPrice =
  | {
      readonly unit: GenerationUnit;
      readonly nano_usd: number;
      readonly tiers: readonly Tier[];
      /** For each million pixels after an image's first. */
      readonly further_megapixel_nano_usd: number;
    }
  | {
      readonly unit: 'token';
      /** Pico-USD a token. */
      readonly text_input: number;
      readonly cached_input: number;
      readonly image_input: number;
      readonly output: number;
    };

/** The part of a GenerationModel that its price depends on. */
interface Priced {
  readonly price: GenerationPrice;
  readonly offers: Offers;
}

const NANO_PER_USD = 1_000_000_000;
const PICO_PER_NANO = 1_000;
const UNITS: readonly GenerationUnit[] = ['image', 'second', 'song', 'request'];
/** Songs of one request where the model's declaration does not say: what Suno-type models yield. */
const DEFAULT_SONGS = 2;

/** The units that a declaration has a price in; exactly one makes a usable declaration. */
export function declaredUnits(declared: PriceDeclaration): (GenerationUnit | 'token')[] {
  const byUnit = UNITS.filter((unit) => declared[`usd_per_${unit}`] !== undefined);
  return declared.output_usd_per_mtok === undefined ? byUnit : [...byUnit, 'token'];
}

/** The declared price in integers. Throws unless it is in exactly one unit. */
export function generationPrice(declared: PriceDeclaration): GenerationPrice {
  const [unit, ...others] = declaredUnits(declared);
  if (unit === undefined || others.length > 0) throw new Error('a price needs exactly one unit');
  if (unit !== 'token') {
    return {
      unit,
      nano_usd: nano(declared[`usd_per_${unit}`] ?? 0),
      tiers: (declared.tiers ?? []).map(({ when, usd }) => ({ when, nano_usd: nano(usd) })),
      further_megapixel_nano_usd: nano(declared.usd_per_further_megapixel ?? 0),
    };
  }
  const text = declared.input_usd_per_mtok;
  if (text === undefined) throw new Error('a price by tokens needs input_usd_per_mtok');
  return {
    unit,
    text_input: picoPerToken(text),
    cached_input: picoPerToken(declared.cached_input_usd_per_mtok ?? text),
    image_input: picoPerToken(declared.image_input_usd_per_mtok ?? text),
    output: picoPerToken(declared.output_usd_per_mtok ?? 0),
  };
}

function nano(usd: number): number {
  // What is truly below a nano-USD is rounded up, never to free.
  const exact = usd * NANO_PER_USD;
  const rounded = Math.round(exact);
  return Math.abs(exact - rounded) < 1e-3 ? rounded : Math.ceil(exact);
}

/**
 * The most that a generation can cost, nano-USD: what its hold sets aside (design 4). Tokens are
 * bounded by the bytes of the prompt and by the largest picture of the asked kind.
 */
export function estimateGeneration(model: Priced, input: GenerationInput): number {
  const { price } = model;
  if (price.unit === 'token') {
    return tokenSum(price, {
      text_input: Buffer.byteLength(input.prompt ?? '') + PROMPT_OVERHEAD_TOKENS,
      image_input: input.scene === 'image' ? maxImageRequestTokens(input) : 0,
      cached_input: 0,
      output: askedTokens(input),
    });
  }
  return exact(asked(input, price.unit, model.offers) * unitPrice(price, input));
}

/** Instructions that a provider puts around a prompt. */
const PROMPT_OVERHEAD_TOKENS = 100;

/**
 * What a generation costs, nano-USD: by what the provider says it used, else by what came out, else
 * by what was asked. `outputs` = how many were made; nothing made costs nothing (P12).
 */
export function priceGeneration(
  model: Priced,
  input: GenerationInput,
  usage: GenerationUsage,
  outputs: number,
): number {
  const { price } = model;
  if (outputs === 0) return 0;
  if (price.unit === 'token') {
    if (usage.tokens) return tokenSum(price, usage.tokens);
    return estimateGeneration(model, input);
  }
  const used = {
    image: usage.images ?? outputs,
    second: usage.seconds ?? asked(input, 'second', model.offers) * outputs,
    song: usage.songs ?? outputs,
    request: 1,
  }[price.unit];
  return exact(Math.ceil(used * unitPrice(price, input)));
}

type UnitPrice = Exclude<GenerationPrice, { unit: 'token' }>;
type TokenPrices = Extract<GenerationPrice, { unit: 'token' }>;

/** How many units a call asks for at most. */
function asked(input: GenerationInput, unit: GenerationUnit, offers: Offers): number {
  switch (unit) {
    case 'image':
      return input.scene === 'image' ? input.n : 1;
    case 'second':
      return input.scene === 'video' || input.scene === 'audio' ? input.duration : 1;
    case 'song':
      return input.scene === 'music' && input.action === 'MUSIC'
        ? (offers.songs ?? DEFAULT_SONGS)
        : 1;
    case 'request':
      return 1;
    default:
      return unit satisfies never;
  }
}

function unitPrice(price: UnitPrice, input: GenerationInput): number {
  const parameters = input as unknown as Readonly<Record<string, unknown>>;
  const tier = price.tiers.find(({ when }) =>
    Object.entries(when).every(([name, value]) => parameters[name] === value),
  );
  const further =
    price.further_megapixel_nano_usd > 0 && input.scene === 'image'
      ? (megapixelsOf(input.size) - 1) * price.further_megapixel_nano_usd
      : 0;
  return (tier?.nano_usd ?? price.nano_usd) + further;
}

function askedTokens(input: GenerationInput): number {
  return input.scene === 'image' ? maxImageTokens(input) * input.n : 0;
}

/** The sum, rounded up once; whole and broken nano-USD apart, so that every product is exact. */
function tokenSum(price: TokenPrices, tokens: NonNullable<GenerationUsage['tokens']>): number {
  let whole = 0;
  let broken = 0;
  for (const kind of ['text_input', 'cached_input', 'image_input', 'output'] as const) {
    const rest = price[kind] % PICO_PER_NANO;
    whole += tokens[kind] * ((price[kind] - rest) / PICO_PER_NANO);
    broken += tokens[kind] * rest;
  }
  return exact(whole + Math.ceil(broken / PICO_PER_NANO));
}

function exact(nano_usd: number): number {
  if (!Number.isSafeInteger(nano_usd)) {
    throw new RangeError('a price beyond what is counted exactly');
  }
  return nano_usd;
}
