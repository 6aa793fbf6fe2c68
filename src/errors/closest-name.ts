import { distance } from 'fastest-levenshtein';

/** A name is not suggested if it differs in more than this share of its letters. */
const MAX_DIFFERENCE = 0.5;
const MAX_COMPARED_CHARS = 100;

/** Returns the name that is closest to `given`; undefined if no name is close. */
export function closestName(given: string, names: readonly string[]): string | undefined {
  const wanted = given.slice(0, MAX_COMPARED_CHARS).toLowerCase();
  let best: { name: string; difference: number } | undefined;
  for (const name of names) {
    const difference =
      distance(wanted, name.toLowerCase()) / Math.max(wanted.length, name.length, 1);
    if (difference <= MAX_DIFFERENCE && difference < (best?.difference ?? 1)) {
      best = { name, difference };
    }
  }
  return best?.name;
}
