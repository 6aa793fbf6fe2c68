import { distance } from 'fastest-levenshtein';
import type { CatalogueModel } from './catalogue.ts';

const MAX_SUGGESTIONS = 3;
/** A name that differs more than this from the refused name is not suggested, 0 to 1. */
const MAX_DIFFERENCE = 0.5;
/**
 * Only this many characters from the start of a name are compared, because the work grows with the
 * square of the length.
 */
const MAX_COMPARED_CHARS = 100;
/** A shorter name is not completed, because it is the start of too many names. */
const MIN_COMPARED_CHARS = 2;

/** A vendor before a name, e.g. `openai/gpt-4o`, `openai:gpt-4o` or `us.anthropic.claude-…`. */
const VENDOR = /^(?:.*\/|[a-z-]+:|(?:[a-z]+\.)+)/;
/** A date or version after a name, e.g. `-2024-11-20`, `-20241120`, `-latest`, `@001` or `-v1:0`. */
const VERSION =
  /(?:[-_@](?:\d{4}-\d\d-\d\d|\d\d-\d{2,4}|\d{8}|\d{6}|\d{4}|0\d\d|latest|preview|beta|exp|v\d+)|:[a-z0-9]+)$/;
const SEPARATOR = /[-_.:/@ ]/;

/** Each vendor or version that is left out of a name adds this to its difference. */
const LEFT_OUT = 0.005;
/** The bounds of the difference if the refused name is the start of a model's name. */
const SHORTER = { min: 0.02, max: 0.06 };
/** The bounds of the difference if a model's name is the start of the refused name. */
const LONGER = { min: 0.3, max: 0.5 };

export interface Suggestions {
  did_you_mean?: string;
  suggestions: { id: string }[];
}

/**
 * Returns models whose names are similar to the refused name. A name is also similar if it differs
 * only by a vendor, a date or a version, or if one name is the start of the other. `known` are the
 * models that may be suggested: for a call, those that the client's key can call now; for the models
 * of a key, all. The refused name itself is never suggested (P13).
 */
export function suggestModels(refused: string, known: Iterable<CatalogueModel>): Suggestions {
  const wanted = spellingsOf(refused.slice(0, MAX_COMPARED_CHARS).toLowerCase());
  const similar = [...known]
    .filter((model) => model.id !== refused)
    .map((model) => ({
      id: model.id,
      difference: Math.min(
        ...[model.id, ...model.aliases].map((name) => differenceOf(wanted, name.toLowerCase())),
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

/** Returns the name, the name without its vendor, and each of them without its versions. */
function spellingsOf(name: string): string[] {
  const spellings = new Set([name, name.replace(VENDOR, '')]);
  // A set also yields what is added to it during the loop.
  for (const spelling of spellings) spellings.add(spelling.replace(VERSION, ''));
  return [...spellings].filter(({ length }) => length >= MIN_COMPARED_CHARS);
}

/** Returns how much a model's name differs from the closest spelling, 0 to 1. */
function differenceOf(spellings: readonly string[], name: string): number {
  const differences = spellings.map(
    (spelling, left_out) => left_out * LEFT_OUT + differenceBetween(spelling, name),
  );
  return Math.min(1, ...differences);
}

function differenceBetween(wanted: string, name: string): number {
  if (startsWithPart(name, wanted)) return between(SHORTER, wanted.length / name.length);
  const edits = distance(wanted, name) / Math.max(wanted.length, name.length);
  if (!startsWithPart(wanted, name)) return edits;
  return Math.min(edits, between(LONGER, name.length / wanted.length));
}

/** True if `start` is the start of `text`, and a separator follows. */
function startsWithPart(text: string, start: string): boolean {
  return text.startsWith(start) && SEPARATOR.test(text.charAt(start.length));
}

/** Returns `max` if the names share nothing, and `min` if the shorter one is nearly the longer. */
function between({ min, max }: { min: number; max: number }, shared: number): number {
  return max - (max - min) * shared;
}
