/**
 * Compares every token price of the catalogue with two lists that strangers wrote: the package
 * `@pydantic/genai-prices`, and a dated copy of LiteLLM's list. Each cell of the table is one model,
 * one kind of token and one length of the input. A difference needs a reason.
 */
import { describe, expect, test } from 'bun:test';
import { calcPrice } from '@pydantic/genai-prices';
import { builtInModels } from '../../src/catalogue/built-in.ts';
import { type TokenPrice, tokenPrice } from '../../src/catalogue/price.ts';
import litellm from './price-lists/litellm.json';

const COMPARED_AT = new Date('2026-11-21T00:00:00Z');

/** The kinds of tokens, and the name of each in `@pydantic/genai-prices`. */
const KINDS = {
  input: 'input_mtok',
  cached_input: 'cache_read_mtok',
  cache_write: 'cache_write_mtok',
  cache_write_1h: 'cache_write_1h_mtok',
  output: 'output_mtok',
  audio_input: 'input_audio_mtok',
  cached_audio_input: 'cache_audio_read_mtok',
} as const;
type Kind = keyof typeof KINDS;

/** What a kind costs if its own price is missing. */
const FALLBACKS: Partial<Record<Kind, Kind>> = {
  cached_input: 'input',
  cache_write: 'input',
  cache_write_1h: 'cache_write',
  audio_input: 'input',
  cached_audio_input: 'cached_input',
};

type Prices = Partial<Record<Kind | 'web_search', number>>;

function priceOf(prices: Prices, kind: Kind): number | undefined {
  const fallback = FALLBACKS[kind];
  return prices[kind] ?? (fallback && priceOf(prices, fallback));
}

/** Reads the prices of `@pydantic/genai-prices`. `long` selects those of long inputs. */
function genaiPrices(model: string, vendor: string, long: boolean): Prices {
  const list = calcPrice({ input_tokens: 1 }, model, {
    ...{ providerId: vendor, timestamp: COMPARED_AT },
  })?.model_price;
  const read = (name: string): number | undefined => {
    const price = list?.[name];
    if (typeof price === 'number' || price === undefined) return price;
    return long ? (price.tiers[0]?.price ?? price.base) : price.base;
  };
  const searches = read('web_searches_kcount');
  const prices = Object.entries(KINDS).map(([kind, name]) => [kind, read(name)]);
  return {
    ...Object.fromEntries(prices),
    ...(searches === undefined ? {} : { web_search: searches / 1_000 }),
  };
}

type Row = Prices & { long?: Prices };

function litellmPrices(model: string, long: boolean): Prices | undefined {
  const row = (litellm.models as Record<string, Row | undefined>)[model];
  return row && (long ? { ...row, ...row.long } : row);
}

const PREVIEW = 'the list has the price of web_search_preview, which Weir refuses';
const NOT_OFFERED = 'grounding with Google Search is refused by name';
const NOT_LISTED = 'the list has no price of web searches for this model';
/** The model, the kind and the length of each difference to LiteLLM, and its reason. */
const REASONS: Readonly<Record<string, string>> = {
  'gpt-4o web_search': NOT_LISTED,
  'gpt-5.4 web_search': NOT_LISTED,
  'claude-haiku-4-5 web_search': NOT_LISTED,
  'gpt-4o-mini web_search': PREVIEW,
  'gpt-4.1 web_search': PREVIEW,
  'gpt-4.1-mini web_search': PREVIEW,
  ...Object.fromEntries(
    builtInModels()
      .filter(({ category, owned_by }) => category === 'chat' && owned_by === 'google')
      .map(({ id }) => [`${id} web_search`, NOT_OFFERED]),
  ),
  ...Object.fromEntries(
    ['input', 'cached_input', 'cache_write', 'cache_write_1h', 'output'].map((kind) => [
      `claude-sonnet-4-5 ${kind} long`,
      'only the other list has the price above 200,000 tokens, which is the higher one',
    ]),
  ),
};
/** The audio prices follow from these rows, because a missing price is that of the text. */
const LONG_AUDIO = /^claude-sonnet-4-5 (cached_)?audio_input long$/;

const models = builtInModels().filter(({ category }) => category === 'chat');

/** Returns what a stranger's list and Weir charge for each kind, in pico-USD, if they differ. */
function differences(own: TokenPrice, list: Prices): [Kind, number, number][] {
  return (Object.keys(KINDS) as Kind[]).flatMap((kind) => {
    const theirs = Math.round((priceOf(list, kind) ?? Number.NaN) * 1_000_000);
    const ours = priceOf(own, kind) ?? Number.NaN;
    return theirs === ours ? [] : [[kind, ours, theirs] as [Kind, number, number]];
  });
}

describe.each(models)('the prices of $id', ({ id, owned_by, price }) => {
  const own = tokenPrice(price);
  const isLong = own.long !== undefined;

  test.each(isLong ? [false, true] : [false])('long: %p, like genai-prices', (long) => {
    const tier = long ? (own.long?.price ?? own) : own;
    const list = genaiPrices(id, owned_by, long);
    expect(differences(tier, list)).toEqual([]);
    expect((own.web_search ?? 0) / 1e12).toBe(list.web_search ?? 0);
  });

  test.each(isLong ? [false, true] : [false])('long: %p, like LiteLLM', (long) => {
    const tier = long ? (own.long?.price ?? own) : own;
    const list = litellmPrices(id, long);
    if (!list) {
      // Retired models are in no list.
      expect(['claude-opus-4-1', 'gemini-3-pro-preview']).toContain(id);
      return;
    }
    const searches = (own.web_search ?? 0) / 1e12 === (list.web_search ?? 0);
    const found = [
      ...differences(tier, list).map(([kind]) => `${id} ${kind}${long ? ' long' : ''}`),
      ...(searches ? [] : [`${id} web_search`]),
    ];
    expect(found.filter((name) => !(name in REASONS) && !LONG_AUDIO.test(name))).toEqual([]);
  });
});

test('every reason is still needed', () => {
  const found = models.flatMap(({ id, price }) => {
    const own = tokenPrice(price);
    const [base, long] = [litellmPrices(id, false), litellmPrices(id, true)];
    if (!(base && long)) return [`${id} web_search`];
    const isSame = (own.web_search ?? 0) / 1e12 === (base.web_search ?? 0);
    const longer = own.long ? differences(own.long.price, long) : [];
    return [
      ...(isSame ? [] : [`${id} web_search`]),
      ...differences(own, base).map(([kind]) => `${id} ${kind}`),
      ...longer.map(([kind]) => `${id} ${kind} long`),
    ];
  });
  expect(Object.keys(REASONS).filter((name) => !found.includes(name))).toEqual([]);
});
