import type { Catalogue, CatalogueModel } from './catalogue.ts';

/** A model of the catalogue that a provider has, and the provider's names for it. */
export interface ProvidedModel {
  readonly model: CatalogueModel;
  /** The provider's name that fits best. */
  readonly upstream_model: string;
  /** Further names of the provider for the same model, e.g. dated versions. */
  readonly other_upstream_models: readonly string[];
}

/** The date at the end of a provider's name, e.g. `-2024-08-06` or `-20250514`. */
const DATE = /-(?:\d{4}-\d{2}-\d{2}|\d{8})$/;

/**
 * Finds the models of the catalogue among the names that a provider lists. A name fits a model if it is
 * the model's id or alias, also with the owner before it (`openai/gpt-4o`), with dots for hyphens
 * (`claude-sonnet-4.5`), or with a date at its end. The id fits best, then an alias, then a dated name.
 * `unknown` are the names that fit no model. Both lists have the order of the catalogue and of the
 * provider.
 */
export function matchProviderModels(
  names: readonly string[],
  catalogue: Catalogue,
): { readonly provided: readonly ProvidedModel[]; readonly unknown: readonly string[] } {
  const spellings = spellingsOf(catalogue);
  const found = new Map<CatalogueModel, { name: string; rank: number }[]>();
  const unknown: string[] = [];
  for (const name of names) {
    const fit = fitOf(name, spellings);
    if (fit) found.set(fit.model, [...(found.get(fit.model) ?? []), { name, rank: fit.rank }]);
    else unknown.push(name);
  }
  const provided = catalogue.all().flatMap((model) => {
    const [best, ...others] = (found.get(model) ?? []).sort((a, b) => a.rank - b.rank);
    if (!best) return [];
    const other_upstream_models = others.map(({ name }) => name);
    return [{ model, upstream_model: best.name, other_upstream_models }];
  });
  return { provided, unknown };
}

interface Fit {
  readonly model: CatalogueModel;
  /** The lower, the better. */
  readonly rank: number;
}

/** Each id and alias of the catalogue as providers may spell it. */
function spellingsOf(catalogue: Catalogue): ReadonlyMap<string, Fit> {
  const spellings = new Map<string, Fit>();
  const models = catalogue.all();
  for (const model of models) {
    for (const alias of model.aliases) spellings.set(plain(alias), { model, rank: 1 });
  }
  for (const model of models) spellings.set(plain(model.id), { model, rank: 0 });
  return spellings;
}

function fitOf(name: string, spellings: ReadonlyMap<string, Fit>): Fit | undefined {
  const whole = fitOfUndated(name, spellings);
  if (whole || !DATE.test(name)) return whole;
  const dated = fitOfUndated(name.replace(DATE, ''), spellings);
  return dated && { ...dated, rank: dated.rank + 2 };
}

function fitOfUndated(name: string, spellings: ReadonlyMap<string, Fit>): Fit | undefined {
  const own = spellings.get(plain(name));
  const slash = name.indexOf('/');
  if (own || slash < 0) return own;
  // Of another owner, a model of the same name is another model.
  const fit = spellings.get(plain(name.slice(slash + 1)));
  return fit?.model.owned_by === name.slice(0, slash) ? fit : undefined;
}

function plain(name: string): string {
  return name.toLowerCase().replaceAll('.', '-');
}
