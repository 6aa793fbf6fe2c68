import type { Model } from '../api/types.ts';

type Pricing = Model['pricing'];

/** One price of a model, e.g. $2.50 per million input tokens. */
export interface Price {
  readonly what: string;
  readonly usd: number;
  /** `per million tokens` */
  readonly per: string;
}

const TOKENS = 'per million tokens';

/** The names of prices, in the order in which a page shows them. */
const NAMES: Readonly<Record<string, readonly [what: string, per: string]>> = {
  input_usd_per_mtok: ['Input', TOKENS],
  cached_input_usd_per_mtok: ['Cached input', TOKENS],
  cache_write_usd_per_mtok: ['Cache write', TOKENS],
  cache_write_1h_usd_per_mtok: ['Cache write, kept for an hour', TOKENS],
  audio_input_usd_per_mtok: ['Audio input', TOKENS],
  cached_audio_input_usd_per_mtok: ['Cached audio input', TOKENS],
  image_input_usd_per_mtok: ['Image input', TOKENS],
  output_usd_per_mtok: ['Output', TOKENS],
  usd_per_mchar: ['Text', 'per million characters'],
  usd_per_image: ['Image', 'per image'],
  usd_per_further_megapixel: ['Each megapixel after the first', 'per megapixel'],
  usd_per_second: ['Duration', 'per second'],
  usd_per_song: ['Song', 'per song'],
  usd_per_request: ['Request', 'per request'],
  usd_per_web_search: ['Web search of the provider', 'per search'],
};

/** Returns all prices of a model that are not for some calls only. */
export function pricesOf(pricing: Pricing): Price[] {
  return namedPrices(pricing as Readonly<Record<string, unknown>>);
}

function namedPrices(given: Readonly<Record<string, unknown>>): Price[] {
  return Object.entries(NAMES).flatMap(([name, [what, per]]) => {
    const usd = given[name];
    return typeof usd === 'number' ? [{ what, usd, per }] : [];
  });
}

/** Prices for some calls: those with many input tokens, or with certain parameters. */
export function conditionalPrices(pricing: Pricing): { when: string; prices: Price[] }[] {
  const { long_context, tiers = [] } = pricing;
  const [base] = pricesOf(pricing);
  return [
    ...(long_context
      ? [
          {
            when: `More than ${long_context.above_input_tokens.toLocaleString('en-US')} input tokens`,
            prices: namedPrices(long_context),
          },
        ]
      : []),
    ...tiers.map(({ when, usd }) => ({
      when: Object.entries(when)
        .map(([name, value]) => `${name} ${value}`)
        .join(', '),
      prices: [{ what: base?.what ?? 'Call', usd, per: base?.per ?? 'per call' }],
    })),
  ];
}

/** The price by which models of one unit are compared, as the server ranks them. */
export function leadingPrice(pricing: Pricing): Price | undefined {
  const prices = pricesOf(pricing);
  return (
    prices.find(({ per }) => per !== TOKENS && per !== 'per search') ??
    prices.find(({ what }) => what === 'Output') ??
    prices[0]
  );
}
