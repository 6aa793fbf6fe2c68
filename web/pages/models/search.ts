import type { Model } from '../../api/types.ts';
import { leadingPrice } from '../../catalogue/price.ts';

/** What the page of models shows: its address has it. */
export interface ModelSearch {
  readonly q?: string | undefined;
  readonly category?: string | undefined;
  readonly vendor?: string | undefined;
  /** A capability or an operation, e.g. `vision` or `image-to-video`. */
  readonly can?: string | undefined;
  readonly sort?: Sort | undefined;
}

/** The orders of the list. The catalogue's own order is the first. */
export const SORTS = ['catalogue', 'name', 'price', 'rank', 'spent'] as const;
type Sort = (typeof SORTS)[number];

/** Reads the search of the address. What it does not know is left out. */
export function readModelSearch(given: Record<string, unknown>): ModelSearch {
  const text = (name: string) => {
    const value = given[name];
    return typeof value === 'string' && value !== '' ? value : undefined;
  };
  const sort = SORTS.find((each) => each === given['sort']);
  return {
    ...{ q: text('q'), category: text('category'), vendor: text('vendor'), can: text('can') },
    sort: sort === 'catalogue' ? undefined : sort,
  };
}

/** What a model can, as the filter names it. */
export const abilitiesOf = ({ capabilities, operations }: Model): readonly string[] => [
  ...capabilities,
  ...operations.filter((each) => each !== 'chat'),
];

/** Returns the models that fit a search, in its order. `spent` is USD by model. */
export function foundModels(
  models: readonly Model[],
  { q, category, vendor, can, sort }: ModelSearch,
  spent: ReadonlyMap<string, number>,
): Model[] {
  const words = (q ?? '').toLowerCase().split(/\s+/).filter(Boolean);
  const found = models.filter((model) => {
    if (category !== undefined && model.category !== category) return false;
    if (vendor !== undefined && model.owned_by !== vendor) return false;
    if (can !== undefined && !abilitiesOf(model).includes(can)) return false;
    const text = [model.id, ...model.aliases, model.owned_by, model.category, ...abilitiesOf(model)]
      .join(' ')
      .toLowerCase();
    return words.every((word) => text.includes(word));
  });
  return sort === undefined ? found : found.sort(ORDERS[sort](spent));
}

type Order = (a: Model, b: Model) => number;

const byName: Order = (a, b) => (a.id < b.id ? -1 : 1);
/** Models without a figure come last. */
const first = (value: number | undefined) => value ?? Number.POSITIVE_INFINITY;

const ORDERS: Record<Sort, (spent: ReadonlyMap<string, number>) => Order> = {
  catalogue: () => () => 0,
  name: () => byName,
  // A price by token and a price by image cannot be compared, so each unit stands by itself.
  price: () => (a, b) =>
    compare(a.pricing_unit, b.pricing_unit) ||
    compare(first(leadingPrice(a.pricing)?.usd), first(leadingPrice(b.pricing)?.usd)) ||
    byName(a, b),
  rank: () => (a, b) =>
    compare(a.category, b.category) ||
    compare(first(a.rank?.place), first(b.rank?.place)) ||
    byName(a, b),
  spent: (spent) => (a, b) =>
    compare(-(spent.get(a.id) ?? 0), -(spent.get(b.id) ?? 0)) || byName(a, b),
};

const compare = <Value extends string | number>(a: Value, b: Value): number =>
  a < b ? -1 : a > b ? 1 : 0;
