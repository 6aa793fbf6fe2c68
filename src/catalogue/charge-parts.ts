import type { TokenUsage } from '../protocols/token-usage.ts';
import { priceAtLength, type TokenPrice } from './price.ts';

/** A part of a charge: a number of units, each at a price. */
export interface ChargePart {
  /** What is counted, e.g. `cached_input_tokens`. */
  readonly kind: string;
  readonly quantity: number;
  readonly unit: ChargedUnit;
  /** Pico-USD of one unit. */
  readonly pico_usd: number;
  /** What the price depends on, e.g. `{ resolution: '1080p' }`. Missing if it always applies. */
  readonly when?: Readonly<Record<string, string | number | boolean>>;
}

/** What one price pays for. */
export type ChargedUnit =
  | 'token'
  | 'search'
  | 'second'
  | 'character'
  | 'request'
  | 'image'
  | 'megapixel'
  | 'song';

/** Returns the parts of which `chargeFor` is the sum. A part without units is left out. */
export function chargeParts(usage: TokenUsage, listed: TokenPrice): ChargePart[] {
  const { input_tokens, cached_input_tokens, cache_write_tokens } = usage;
  const all_tokens = input_tokens + cached_input_tokens + cache_write_tokens;
  const price = priceAtLength(all_tokens, listed);
  const { cache_write_1h_tokens: long = 0, audio_input_tokens: audio = 0 } = usage;
  const { cached_audio_tokens: cached_audio = 0, web_searches = 0 } = usage;
  const when =
    price !== listed && listed.long ? { when: { input_tokens_above: listed.long.above } } : {};
  const tokens = (kind: string, quantity: number, pico_usd: number): ChargePart => ({
    ...{ kind, quantity, unit: 'token', pico_usd },
    ...when,
  });
  const parts: ChargePart[] = [
    tokens('input_tokens', input_tokens - audio, price.input),
    tokens('audio_input_tokens', audio, price.audio_input ?? price.input),
    tokens('cached_input_tokens', cached_input_tokens - cached_audio, price.cached_input),
    tokens('cached_audio_tokens', cached_audio, price.cached_audio_input ?? price.cached_input),
    tokens('cache_write_tokens', cache_write_tokens - long, price.cache_write),
    tokens('cache_write_1h_tokens', long, price.cache_write_1h ?? price.cache_write),
    tokens('output_tokens', usage.output_tokens, price.output),
    {
      kind: 'web_searches',
      quantity: web_searches,
      unit: 'search',
      pico_usd: price.web_search ?? 0,
    },
  ];
  return parts.filter(({ quantity }) => quantity > 0);
}
