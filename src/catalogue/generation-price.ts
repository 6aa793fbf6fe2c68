import type { GenerationUsage } from '../protocols/generation-usage.ts';
import type { ChargePart } from './charge-parts.ts';
import {
  maxImageTokens,
  maxInputImageTokens,
  maxPartialTokens,
  megapixelsOf,
} from './image-tokens.ts';
import type { GenerationInput } from './inputs.ts';
import { picoPerToken } from './price.ts';
import type { Offers, PriceDeclaration } from './schema.ts';

/** Units in which a generation is priced (spec: `pricing_unit`). */
export type GenerationUnit = 'image' | 'second' | 'song' | 'request';

/** A price for calls that have every parameter value in `when`. */
interface PriceTier {
  readonly when: Readonly<Record<string, string | number | boolean>>;
  readonly nano_usd: number;
}

/** The price of a generation, by one unit or by tokens. */
export type GenerationPrice =
  | {
      readonly unit: GenerationUnit;
      readonly nano_usd: number;
      readonly tiers: readonly PriceTier[];
      /** Nano-USD for each megapixel of an image after its first megapixel. */
      readonly further_megapixel_nano_usd: number;
    }
  | {
      readonly unit: 'token';
      /** Pico-USD per token, like the three prices below. */
      readonly text_input: number;
      readonly cached_input: number;
      readonly image_input: number;
      readonly output: number;
    };

/** The part of a GenerationModel that its price depends on. */
interface PricedModel {
  readonly price: GenerationPrice;
  readonly offers: Offers;
}

const NANO_PER_USD = 1_000_000_000;
const PICO_PER_NANO = 1_000;
const UNITS: readonly GenerationUnit[] = ['image', 'second', 'song', 'request'];
const TOKEN_KINDS = ['text_input', 'cached_input', 'image_input', 'output'] as const;
/** Songs of one request if the declaration has no `songs`. Suno-type models produce two songs. */
const DEFAULT_SONGS = 2;

/**
 * Returns the units that a declaration has prices for. A usable declaration has exactly one unit.
 */
export function declaredUnits(declared: PriceDeclaration): (GenerationUnit | 'token')[] {
  const byUnit = UNITS.filter((unit) => declared[`usd_per_${unit}`] !== undefined);
  return declared.output_usd_per_mtok === undefined ? byUnit : [...byUnit, 'token'];
}

/** Returns the declared price in integers. Throws unless the declaration has exactly one unit. */
export function generationPrice(declared: PriceDeclaration): GenerationPrice {
  const [unit, ...others] = declaredUnits(declared);
  if (unit === undefined || others.length > 0)
    throw new Error('a price must have exactly one unit');
  if (unit !== 'token') {
    return {
      unit,
      nano_usd: toNanoUsd(declared[`usd_per_${unit}`] ?? 0),
      tiers: (declared.tiers ?? []).map(({ when, usd }) => ({ when, nano_usd: toNanoUsd(usd) })),
      further_megapixel_nano_usd: toNanoUsd(declared.usd_per_further_megapixel ?? 0),
    };
  }
  const text = declared.input_usd_per_mtok;
  if (text === undefined) throw new Error('a price by tokens requires input_usd_per_mtok');
  return {
    unit,
    text_input: picoPerToken(text),
    cached_input: picoPerToken(declared.cached_input_usd_per_mtok ?? text),
    image_input: picoPerToken(declared.image_input_usd_per_mtok ?? text),
    output: picoPerToken(declared.output_usd_per_mtok ?? 0),
  };
}

function toNanoUsd(usd: number): number {
  // Rounds up to whole nano-USD, so that a very small price does not become 0. A difference below
  // 0.001 nano-USD comes from floating point and is ignored.
  const exact = usd * NANO_PER_USD;
  const rounded = Math.round(exact);
  return rounded > 0 && Math.abs(exact - rounded) < 1e-3 ? rounded : Math.ceil(exact);
}

/**
 * Returns the upper bound of a generation's charge in nano-USD. It is the amount of the
 * generation's hold. For a price by tokens, the bytes of the prompt and the number of input images
 * give the most input tokens. The size, the quality and the number of images give the most
 * output tokens.
 */
export function estimateGeneration(model: PricedModel, input: GenerationInput): number {
  const { price } = model;
  if (price.unit === 'token') return chargeForTokens(price, mostTokens(input));
  return requireSafeInteger(
    requestedUnits(input, price.unit, model.offers) * unitPrice(price, input).nano_usd,
  );
}

/** Returns the most tokens of a generation. */
function mostTokens(input: GenerationInput): NonNullable<GenerationUsage['tokens']> {
  return {
    text_input: Buffer.byteLength(input.prompt ?? '') + PROMPT_OVERHEAD_TOKENS,
    image_input: input.scene === 'image' ? maxInputImageTokens(input) : 0,
    cached_input: 0,
    output: maxOutputTokens(input),
  };
}

/** Tokens of the instructions that a provider adds to a prompt. */
const PROMPT_OVERHEAD_TOKENS = 100;

/** What Weir measured of a video. A member is missing if it could not be measured. */
export interface MeasuredVideo {
  readonly seconds?: number;
  /** A resolution as the tiers of a price name it: `480p`, `720p`, `1080p` or `4k`. */
  readonly resolution?: string;
}

/**
 * Returns the charge of a generation in nano-USD. The charge follows the usage that the provider
 * reports, but never exceeds what was requested: the estimate covers it (P17). If the provider
 * reports no usage, the charge follows the request and the number of results. If a request leaves
 * the length or the resolution to its source video, the `measured` value counts. If it could not be
 * measured, the upper bound counts. `outputs` is the number of results. Without results the charge
 * is 0 (P12).
 */
export function priceGeneration(
  model: PricedModel,
  input: GenerationInput,
  usage: GenerationUsage,
  outputs: number,
  measured: MeasuredVideo = {},
): number {
  const { price } = model;
  if (outputs === 0) return 0;
  if (price.unit === 'token') return chargeForTokens(price, usage.tokens ?? mostTokens(input));
  const { used, unit_price } = usedUnits(model.offers, price, input, usage, outputs, measured);
  return requireSafeInteger(Math.ceil(used * unit_price.nano_usd));
}

/** Returns the parts of which `priceGeneration` is the sum, with the same arguments. */
export function generationParts(
  model: PricedModel,
  input: GenerationInput,
  usage: GenerationUsage,
  outputs: number,
  measured: MeasuredVideo = {},
): ChargePart[] {
  const { price, offers } = model;
  if (outputs === 0) return [];
  if (price.unit === 'token') {
    const tokens = usage.tokens ?? mostTokens(input);
    return TOKEN_KINDS.filter((kind) => tokens[kind] > 0).map((kind) => ({
      ...{ kind: `${kind}_tokens`, quantity: tokens[kind], unit: 'token' },
      pico_usd: price[kind],
    }));
  }
  const { used, unit_price } = usedUnits(offers, price, input, usage, outputs, measured);
  const { when, megapixels } = unit_price;
  const further = price.further_megapixel_nano_usd;
  const nano_usd = unit_price.nano_usd - megapixels * further;
  return [
    {
      ...{ kind: `${price.unit}s`, quantity: used, unit: price.unit },
      pico_usd: nano_usd * PICO_PER_NANO,
      ...(when ? { when } : {}),
    },
    ...(megapixels > 0
      ? [
          {
            ...{ kind: 'further_megapixels', quantity: used * megapixels },
            ...{ unit: 'megapixel' as const, pico_usd: further * PICO_PER_NANO },
          },
        ]
      : []),
  ];
}

/** Returns the units that a generation is charged for, and the price of one. */
function usedUnits(
  offers: Offers,
  price: UnitPrice,
  input: GenerationInput,
  usage: GenerationUsage,
  outputs: number,
  measured: MeasuredVideo,
): { used: number; unit_price: PriceOfUnit } {
  const requested = requestedUnits(input, price.unit, offers);
  const reported = {
    image: usage.images ?? outputs,
    second: usage.seconds ?? (followsSource(input) ? measured.seconds : undefined) ?? requested,
    song: usage.songs ?? outputs,
    request: 1,
  }[price.unit];
  // If the source video is longer than the contract allows, the provider bills its real length. So
  // the charge is not limited to `requested` here.
  const used = followsSource(input) ? reported : Math.min(reported, requested);
  const parameters =
    input.scene === 'video' && input.resolution === undefined && measured.resolution !== undefined
      ? { ...input, resolution: measured.resolution }
      : input;
  return { used, unit_price: unitPrice(price, parameters) };
}

/** True if the request is for a video that will be as long as its source video. */
export function followsSource(input: GenerationInput): boolean {
  return input.scene === 'video' && input.duration === undefined;
}

/** The most pixels of a video's shorter edge for each resolution. A larger video counts as `4k`. */
const SHORTER_EDGES: readonly [resolution: string, pixels: number][] = [
  ['480p', 480],
  ['720p', 720],
  ['1080p', 1_080],
];

/** Returns the resolution of a video with these edges, as the tiers of a price name it. */
export function resolutionOf(width: number, height: number): string {
  const shorter = Math.min(width, height);
  return SHORTER_EDGES.find(([, pixels]) => shorter <= pixels)?.[0] ?? '4k';
}

type UnitPrice = Exclude<GenerationPrice, { unit: 'token' }>;
type TokenPrices = Extract<GenerationPrice, { unit: 'token' }>;

/**
 * Returns the most units that a call can use. If a video is as long as its source video, this is
 * the length of the longest source that the model accepts.
 */
function requestedUnits(input: GenerationInput, unit: GenerationUnit, offers: Offers): number {
  switch (unit) {
    case 'image':
      return input.scene === 'image' ? input.n : 1;
    case 'second':
      if (input.scene === 'audio') return input.duration;
      if (input.scene !== 'video') return 1;
      return input.duration ?? offers.max_source_seconds ?? 1;
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

/** The price of one unit. */
interface PriceOfUnit {
  readonly nano_usd: number;
  /** The parameters to which the price applies; undefined for the price without parameters. */
  readonly when: PriceTier['when'] | undefined;
  /** The megapixels after the first one that `nano_usd` includes. */
  readonly megapixels: number;
}

/**
 * Returns the price of one unit. If the source video decides the resolution, several tiers of the price
 * may apply. Then the most expensive of them counts.
 */
function unitPrice(price: UnitPrice, input: GenerationInput): PriceOfUnit {
  const parameters = input as unknown as Readonly<Record<string, unknown>>;
  const isOpen = (name: string) =>
    name === 'resolution' && input.scene === 'video' && input.resolution === undefined;
  const possible = price.tiers.filter(({ when }) =>
    Object.entries(when).every(([name, value]) => isOpen(name) || parameters[name] === value),
  );
  const certain = possible.findIndex(({ when }) => !Object.keys(when).some(isOpen));
  const tiers = certain < 0 ? possible : possible.slice(0, certain + 1);
  const candidates = [
    ...tiers,
    ...(certain < 0 ? [{ when: undefined, nano_usd: price.nano_usd }] : []),
  ];
  const highest = candidates.reduce((a, b) => (b.nano_usd > a.nano_usd ? b : a));
  const megapixels =
    price.further_megapixel_nano_usd > 0 && input.scene === 'image'
      ? megapixelsOf(input.size) - 1
      : 0;
  return {
    nano_usd: highest.nano_usd + megapixels * price.further_megapixel_nano_usd,
    ...{ when: highest.when, megapixels },
  };
}

function maxOutputTokens(input: GenerationInput): number {
  if (input.scene !== 'image') return 0;
  return maxImageTokens(input) * input.n + maxPartialTokens(input);
}

/**
 * Returns the charge of these tokens in nano-USD, rounded up once. Whole and fractional nano-USD
 * are summed separately, so that every product is exact. Throws RangeError if the sum is not exact.
 */
function chargeForTokens(
  price: TokenPrices,
  tokens: NonNullable<GenerationUsage['tokens']>,
): number {
  let whole = 0;
  let pico = 0;
  for (const kind of TOKEN_KINDS) {
    const rest = price[kind] % PICO_PER_NANO;
    whole += tokens[kind] * ((price[kind] - rest) / PICO_PER_NANO);
    pico += tokens[kind] * rest;
  }
  return requireSafeInteger(whole + Math.ceil(pico / PICO_PER_NANO));
}

function requireSafeInteger(nano_usd: number): number {
  if (!Number.isSafeInteger(nano_usd)) {
    throw new RangeError('the amount is too large to be counted exactly');
  }
  return nano_usd;
}
