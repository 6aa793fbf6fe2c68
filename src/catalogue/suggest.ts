import { distance } from 'fastest-levenshtein';
import type { CatalogueModel } from './catalogue.ts';

const MAX_SUGGESTIONS = 3;
/** Names that differ in more than this share of their letters are not meant. */
const MAX_DIFFERENCE = 0.5;
/** Names longer than this are compared by their beginning: the cost grows with the square. */
const MAX_COMPARED_CHARS = 100;

export interface Suggestions {
  did_you_mean?: string;
  suggestions: { id: string }[];
}

/**
 * Models with names like the refused one. `callable` are those that this key can call now, so every
 * suggestion works; the refused name itself is never among them (P13).
 */
export function suggestModels(refused: string, callable: Iterable<CatalogueModel>): Suggestions {
  const asked = refused.slice(0, MAX_COMPARED_CHARS).toLowerCase();
  const close = [...callable]
    .filter((model) => model.id !== refused)
    .map((model) => ({
      id: model.id,
      difference: Math.min(
        ...[model.id, ...model.aliases].map(
          (name) => distance(asked, name.toLowerCase()) / Math.max(asked.length, name.length, 1),
        ),
      ),
    }))
    .filter(({ difference }) => difference <= MAX_DIFFERENCE)
    .sort((a, b) => a.difference - b.difference || a.id.localeCompare(b.id))
    .slice(0, MAX_SUGGESTIONS);
  const [best] = close;
  return {
    ...(best ? { did_you_mean: best.id } : {}),
    suggestions: close.map(({ id }) => ({ id })),
  };
}
