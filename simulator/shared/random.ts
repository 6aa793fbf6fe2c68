/**
 * Reproducible random numbers: one seed gives the same numbers on every machine and in every run.
 */

/** Folds a text into a 32-bit seed. */
export function hashText(text: string, seed = 0): number {
  return Bun.hash.xxHash32(text, seed);
}

/**
 * Returns the `index`-th 32-bit number of a seed (murmur3's finalizer). No state is kept, so the
 * numbers can be read in any order.
 */
export function numberAt(seed: number, index: number): number {
  let mixed = (seed ^ Math.imul(index + 1, 0x9e3779b9)) | 0;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}

/** `size` letters and digits from a seed, for ids of tool calls and for signatures. */
export function lettersFrom(seed: number, size: number): string {
  let letters = '';
  for (let index = 0; letters.length < size; index += 1) {
    letters += numberAt(seed, index).toString(36).padStart(7, '0');
  }
  return letters.slice(0, size);
}

const BOOT = lettersFrom(hashText(`${process.pid} ${Date.now()}`), 8);
let issued = 0;

/**
 * Returns an id that is unique, also across processes. Each id contains `SIM`, so that a test can
 * search a gateway's answers for it.
 */
export function newId(prefix: string): string {
  issued += 1;
  return `${prefix}SIM${BOOT}${issued.toString(36).padStart(9, '0')}`;
}
