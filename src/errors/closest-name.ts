import { distance } from 'fastest-levenshtein';

/** The largest edit distance of a suggested name, as a share of the longer name. */
const MAX_DIFFERENCE = 0.5;
const MAX_COMPARED_CHARS = 100;

/** Returns the name that is most similar to `given`; undefined if no name is similar enough. */
export function closestName(given: string, names: readonly string[]): string | undefined {
  const wanted = given.slice(0, MAX_COMPARED_CHARS).toLowerCase();
  let best: { name: string; difference: number } | undefined;
  for (const name of names) {
    const difference =
      editsBetween(wanted, name.toLowerCase()) / Math.max(wanted.length, name.length, 1);
    if (difference <= MAX_DIFFERENCE && difference < (best?.difference ?? 1)) {
      best = { name, difference };
    }
  }
  return best?.name;
}

/** Returns the edit distance of two texts. Two swapped neighbours count as one edit. */
function editsBetween(one: string, other: string): number {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at += 1;
  const swapped = one.slice(0, at) + (one[at + 1] ?? '') + (one[at] ?? '') + one.slice(at + 2);
  return swapped === other && one !== other ? 1 : distance(one, other);
}
