/** Which of two models costs less, by their list prices. */
import type { CatalogueModel } from './catalogue.ts';

/** The highest prices of a model's units. Prices of different models under one name can be compared. */
type Rates = Readonly<Record<string, number>>;

/**
 * True if a call of `model` costs less than one of `other`: both have prices of the same units, no price is
 * higher, and one is lower. Models of which each is cheaper in one unit do not cost less than each other.
 */
export function costsLess(model: CatalogueModel, other: CatalogueModel): boolean {
  const rates = ratesOf(model);
  const others = ratesOf(other);
  const names = Object.keys(rates);
  if (names.length !== Object.keys(others).length) return false;
  const pairs = names.map((name) => [rates[name] ?? 0, others[name] ?? -1] as const);
  return pairs.every(([own, its]) => own <= its) && pairs.some(([own, its]) => own < its);
}

/**
 * True if a call of one model could be sent to the other: both are of one kind. Vectors of different models cannot
 * be compared, so an embedding never comes from another model.
 */
export function isSameKind(model: CatalogueModel, other: CatalogueModel): boolean {
  if (model.kind === 'chat') return other.kind === 'chat';
  if (model.kind === 'generation')
    return other.kind === 'generation' && model.scene === other.scene;
  const { operation } = model;
  return other.kind === 'direct' && operation === other.operation && operation !== 'embedding';
}

function ratesOf(model: CatalogueModel): Rates {
  switch (model.kind) {
    case 'chat': {
      const { input, output, long } = model.price;
      return {
        ...{ input, output },
        long_input: long?.price.input ?? input,
        long_output: long?.price.output ?? output,
      };
    }
    case 'direct':
      return Object.fromEntries(
        model.price.flatMap((each) => (each ? [[each.unit, each.pico_usd]] : [])),
      );
    case 'generation': {
      const { price } = model;
      if (price.unit === 'token') {
        const { text_input, image_input, output } = price;
        return { text_input, image_input, output };
      }
      const most = Math.max(price.nano_usd, ...price.tiers.map(({ nano_usd }) => nano_usd));
      return {
        [price.unit]: price.nano_usd,
        [`${price.unit} at most`]: most,
        further_megapixel: price.further_megapixel_nano_usd,
      };
    }
    default:
      return model satisfies never;
  }
}
