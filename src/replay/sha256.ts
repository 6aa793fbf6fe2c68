/** Rounds of SHA-256, and 32-bit words of a block (FIPS 180-4). */
const ROUNDS = 64;
const BLOCK_WORDS = 16;
const BLOCK_BYTES = 64;
const LENGTH_BYTES = 8;
const WORD_BITS = 32;
const TWO_TO_32 = 2 ** 32;

/** The first primes: their roots give the constants. */
const PRIMES = Array.from({ length: 312 }, (_, number) => number)
  .slice(2)
  .filter(
    (number) => !Array.from({ length: number }, (_, n) => n).some((n) => n > 1 && number % n === 0),
  );

/** The first 32 bits of the fraction of a number. */
const fraction = (root: number): number => ((root - Math.floor(root)) * TWO_TO_32) >>> 0;

const CONSTANTS = PRIMES.slice(0, ROUNDS).map((prime) => fraction(Math.cbrt(prime)));
const START = PRIMES.slice(0, 8).map((prime) => fraction(Math.sqrt(prime)));

const rotate = (word: number, bits: number): number =>
  (word >>> bits) | (word << (WORD_BITS - bits));

/**
 * Returns the SHA-256 of a text as hex digits. Browsers offer a hash only to pages with TLS, and only later;
 * a replay needs it at once. The server has a faster one.
 */
export function pureSha256(text: string): string {
  const state = Uint32Array.from(START);
  const view = new DataView(padded(new TextEncoder().encode(text)).buffer);
  for (let at = 0; at < view.byteLength; at += BLOCK_BYTES) addBlock(state, view, at);
  return [...state].map((word) => word.toString(16).padStart(8, '0')).join('');
}

/** Adds the bit 1, zeros, and the length in bits. */
function padded(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const blocks = Math.ceil((bytes.length + 1 + LENGTH_BYTES) / BLOCK_BYTES);
  const all = new Uint8Array(blocks * BLOCK_BYTES);
  all.set(bytes);
  all[bytes.length] = 0x80;
  new DataView(all.buffer).setBigUint64(all.length - LENGTH_BYTES, BigInt(bytes.length) * 8n);
  return all;
}

function addBlock(state: Uint32Array, view: DataView, at: number): void {
  const words = new Uint32Array(ROUNDS);
  for (let i = 0; i < ROUNDS; i += 1) {
    words[i] = i < BLOCK_WORDS ? view.getUint32(at + i * 4) : scheduled(words, i);
  }
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state;
  for (let i = 0; i < ROUNDS; i += 1) {
    const sum1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
    const choice = (e & f) ^ (~e & g);
    const first = (h + sum1 + choice + (CONSTANTS[i] ?? 0) + (words[i] ?? 0)) >>> 0;
    const sum0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
    const majority = (a & b) ^ (a & c) ^ (b & c);
    [h, g, f, e, d, c, b, a] = [
      g,
      f,
      e,
      (d + first) >>> 0,
      c,
      b,
      a,
      (first + sum0 + majority) >>> 0,
    ];
  }
  for (const [i, word] of [a, b, c, d, e, f, g, h].entries()) state[i] = (state[i] ?? 0) + word;
}

function scheduled(words: Uint32Array, i: number): number {
  const [early = 0, late = 0] = [words[i - 15], words[i - 2]];
  const s0 = rotate(early, 7) ^ rotate(early, 18) ^ (early >>> 3);
  const s1 = rotate(late, 17) ^ rotate(late, 19) ^ (late >>> 10);
  return ((words[i - 16] ?? 0) + s0 + (words[i - 7] ?? 0) + s1) >>> 0;
}
