import type { CatalogueModel } from './catalogue.ts';
import { type ChargePart, chargeParts } from './charge-parts.ts';
import { directParts, directPrice } from './direct-price.ts';
import {
  DIRECT_OPERATIONS,
  FAMILIES,
  type Family,
  isChatFamily,
  isDirectFamily,
} from './families.ts';
import { tokenPrice } from './price.ts';
import type { PriceDeclaration } from './schema.ts';

/** Returns what is recorded of the price of a model. The note of a source is for operators only. */
export function soldAt({ id, family, declaration }: CatalogueModel) {
  const { price, pricing_provenance } = declaration;
  const provenance = pricing_provenance
    ? { source: pricing_provenance.source, date: pricing_provenance.date }
    : null;
  return { model: id, family, price, provenance };
}

/** What a usage line counts. */
export interface CountedCall {
  readonly input_tokens: number;
  readonly cached_input_tokens: number;
  readonly cache_write_tokens: number;
  readonly output_tokens: number;
  /** The part of all input tokens that is audio. */
  readonly audio_tokens: number;
  /** Seconds, characters and requests of a call that is not chat. */
  readonly units: Readonly<Record<string, number>>;
  /** Counts that only few chat calls have. */
  readonly counts: Readonly<Record<string, number>>;
}

/**
 * Returns the parts of the charge of a call at a price on record. Returns undefined if the family of the
 * model is unknown, or if its charges do not follow from such counts, as those of generations.
 */
export function partsAt(
  recorded: { readonly family: string; readonly price: object },
  call: CountedCall,
): ChargePart[] | undefined {
  const family = FAMILIES.find((each): each is Family => each === recorded.family);
  const price: PriceDeclaration = recorded.price;
  if (family === undefined) return undefined;
  if (isDirectFamily(family)) {
    const { input_tokens, output_tokens, units } = call;
    const usage = { ...units, input_tokens, output_tokens };
    return directParts(directPrice(DIRECT_OPERATIONS[family], price), usage);
  }
  if (!isChatFamily(family)) return undefined;
  const { counts, audio_tokens, units: _, ...tokens } = call;
  const { cached_audio_tokens = 0 } = counts;
  const audio = { audio_input_tokens: audio_tokens - cached_audio_tokens };
  return chargeParts({ ...tokens, ...audio, ...counts }, tokenPrice(price));
}
