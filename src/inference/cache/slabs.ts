/** The least memory that is taken at a time, bytes. Whoever has few texts wastes at most this. */
const MIN_BYTES = 4 * 1024;
/** The most memory that is taken at a time for texts that need less, bytes. */
const MAX_BYTES = 512 * 1024;
/** The share of the bytes in use that may be taken in advance. */
const MAX_SHARE = 1 / 8;
/** UTF-8 needs at most this for a character of a string, bytes. */
const MAX_BYTES_PER_CHAR = 3;

/** A piece of memory with texts. */
interface Slab {
  readonly memory: Buffer;
  /** How many packed texts are in it. */
  live: number;
}

/** Two texts in a slab. */
export interface PackedTexts {
  readonly slabs: Slabs;
  readonly slab: Slab;
  readonly from: number;
  /** Where the second text begins. */
  readonly middle: number;
  readonly until: number;
}

const newSlab = (bytes: number): Slab => ({ memory: Buffer.allocUnsafeSlow(bytes), live: 0 });

/**
 * Keeps texts in a few large pieces of memory, the slabs. The collector of memory never reads these, but it reads
 * each string that lives. Once a slab has no text any more, it is used again.
 */
export class Slabs {
  private current = newSlab(0);
  private used = 0;
  private spare: Slab | undefined;

  /** `inUse` returns what the owner of all texts has, bytes: a new slab is a part of it. */
  constructor(private readonly inUse: () => number) {}

  /** Packs a text that is in pieces, and another one. */
  pack(pieces: readonly string[], second: string): PackedTexts {
    const first = pieces.some(endsWithinCharacter) ? [pieces.join('')] : pieces;
    let chars = second.length;
    for (const piece of first) chars += piece.length;
    // To count the bytes would cost as much as to write them.
    if (this.used + chars * MAX_BYTES_PER_CHAR > this.current.memory.length) {
      let bytes = Buffer.byteLength(second);
      for (const piece of first) bytes += Buffer.byteLength(piece);
      this.makeRoom(bytes);
    }
    const { current: slab, used: from } = this;
    for (const piece of first) this.used += slab.memory.write(piece, this.used);
    const middle = this.used;
    this.used += slab.memory.write(second, middle);
    slab.live += 1;
    return { slabs: this, slab, from, middle, until: this.used };
  }

  /** Moves texts out of an older slab, so that it can be used again. */
  move(packed: PackedTexts): PackedTexts {
    const { slab: older, from: start, middle, until } = packed;
    this.makeRoom(until - start);
    const { current: slab, used: from } = this;
    if (slab === older) return packed;
    this.used += older.memory.copy(slab.memory, from, start, until);
    slab.live += 1;
    this.release(packed);
    return { slabs: this, slab, from, middle: from + middle - start, until: this.used };
  }

  /** Forgets texts. They must not be read afterwards. */
  release({ slab }: PackedTexts): void {
    slab.live -= 1;
    if (slab.live === 0 && slab !== this.current && slab.memory.length === MAX_BYTES) {
      this.spare ??= slab;
    }
  }

  private makeRoom(bytes: number): void {
    const { current, spare } = this;
    if (this.used + bytes <= current.memory.length) return;
    if (spare && bytes <= MAX_BYTES) {
      this.spare = undefined;
      this.current = spare;
    } else {
      const share = Math.floor(this.inUse() * MAX_SHARE);
      const ahead = Math.min(MAX_BYTES, Math.max(MIN_BYTES, share));
      this.current = newSlab(Math.max(bytes, ahead));
    }
    this.used = 0;
  }
}

/** Returns the two texts. */
export function textsOf({ slab: { memory }, from, middle, until }: PackedTexts): [string, string] {
  return [memory.toString('utf8', from, middle), memory.toString('utf8', middle, until)];
}

/** True if a text ends with the first half of a character, whose other half alone has no form in UTF-8. */
function endsWithinCharacter(text: string): boolean {
  return (text.charCodeAt(text.length - 1) & 0xfc00) === 0xd800;
}
