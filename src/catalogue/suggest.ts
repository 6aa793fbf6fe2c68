import { distance } from 'fastest-levenshtein';
import type { CatalogueModel } from './catalogue.ts';

const MAX_SUGGESTIONS = 3;
/** The largest edit distance of a suggestion, as a share of the longer name. */
const MAX_DIFFERENCE = 0.5;
/**
 * Only this many leading characters of a name are compared, because the work grows with the square
 * of the length.
 */
const MAX_COMPARED_CHARS = 100;

export interface Suggestions {
  did_you_mean?: string;
  suggestions: { id: string }[];
}

/**
 * Returns models with names similar to the refused one. `callable` are the models that the client's
 * key can call now, so every suggestion works. The refused name itself is never suggested (P13).
 */
export function suggestModels(refused: string, callable: Iterable<CatalogueModel>): Suggestions {
  const wanted = refused.slice(0, MAX_COMPARED_CHARS).toLowerCase();
  const similar = [...callable]
    .filter((model) => model.id !== refused)
    .map((model) => ({
      id: model.id,
      difference: Math.min(
        ...[model.id, ...model.aliases].map(
          (name) => distance(wanted, name.toLowerCase()) / Math.max(wanted.length, name.length, 1),
        ),
      ),
    }))
    .filter(({ difference }) => difference <= MAX_DIFFERENCE)
    .sort((a, b) => a.difference - b.difference || a.id.localeCompare(b.id))
    .slice(0, MAX_SUGGESTIONS);
  const [best] = similar;
  return {
    ...(best ? { did_you_mean: best.id } : {}),
    suggestions: similar.map(({ id }) => ({ id })),
  };
}
