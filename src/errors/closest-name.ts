import { distance } from 'fastest-levenshtein';

/** Names that differ in more than this share of their letters are not meant. */
const MAX_DIFFERENCE = 0.5;
const MAX_COMPARED_CHARS = 100;

/** The name that somebody who wrote `given` most likely meant; undefined = none is close. */
export function closestName(given: string, names: readonly string[]): string | undefined {
  const asked = given.slice(0, MAX_COMPARED_CHARS).toLowerCase();
  let best: { name: string; difference: number } | undefined;
  for (const name of names) {
    const difference = distance(asked, name.toLowerCase()) / Math.max(asked.length, name.length, 1);
    if (difference <= MAX_DIFFERENCE && difference < (best?.difference ?? 1)) {
      best = { name, difference };
    }
  }
  return best?.name;
}
