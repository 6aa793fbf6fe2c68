/** The least memory that is taken at a time, bytes. Whoever has few texts wastes at most this. */
const MIN_BYTES = 4 * 1024;
/** The most memory that is taken at a time for texts that need less, bytes. */
const MAX_BYTES = 512 * 1024;
/** The share of the bytes in use that may be taken in advance. */
const MAX_SHARE = 1 / 8;
/** UTF-8 needs at most this for a character of a string, bytes. */
const MAX_BYTES_PER_CHAR = 3;

/** A piece of memory with texts. */
export interface Slab {
  readonly slabs: Slabs;
  readonly memory: Buffer;
  /** How many packed texts are in it. */
  live: number;
}

/** What has two texts in a slab. `slab` is undefined while it has none. */
export interface TextHolder {
  slab: Slab | undefined;
  from: number;
  /** Where the second text begins. */
  middle: number;
  until: number;
}

/**
 * Keeps texts in a few large pieces of memory, the slabs. The collector of memory never reads these, but it reads
 * each string that lives. Once a slab has no text any more, it is used again.
 */
export class Slabs {
  private current = this.newSlab(0);
  private used = 0;
  private spare: Slab | undefined;

  /** `inUse` returns what the owner of all texts has, bytes: a new slab is a part of it. */
  constructor(private readonly inUse: () => number) {}

  /** Packs a text that is in pieces, and another one. Nothing is made for it: the holder says itself where they are. */
  pack(holder: TextHolder, pieces: readonly string[], second: string): void {
    const first = pieces.some(endsWithinCharacter) ? [pieces.join('')] : pieces;
    let chars = second.length;
    for (const piece of first) chars += piece.length;
    // To count the bytes would cost as much as to write them.
    if (this.used + chars * MAX_BYTES_PER_CHAR > this.current.memory.length) {
      let bytes = Buffer.byteLength(second);
      for (const piece of first) bytes += Buffer.byteLength(piece);
      this.makeRoom(bytes);
    }
    const { memory } = this.current;
    holder.from = this.used;
    for (const piece of first) this.used += memory.write(piece, this.used);
    holder.middle = this.used;
    this.used += memory.write(second, this.used);
    holder.until = this.used;
    this.hold(holder);
  }

  /** Moves packed texts out of an older slab, so that it can be used again. */
  move(holder: TextHolder): void {
    const { slab: older, from, middle, until } = holder;
    this.makeRoom(until - from);
    if (!older || older === this.current) return;
    holder.from = this.used;
    holder.middle = this.used + middle - from;
    this.used += older.memory.copy(this.current.memory, this.used, from, until);
    holder.until = this.used;
    this.hold(holder);
    this.release(older);
  }

  private hold(holder: TextHolder): void {
    holder.slab = this.current;
    this.current.live += 1;
  }

  /** Notes that a text less is in a slab. */
  release(slab: Slab): void {
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
      this.current = this.newSlab(Math.max(bytes, ahead));
    }
    this.used = 0;
  }

  private newSlab(bytes: number): Slab {
    return { slabs: this, memory: Buffer.allocUnsafeSlow(bytes), live: 0 };
  }
}

/** Returns the two texts of a holder; undefined if it has none. */
export function textsOf({ slab, from, middle, until }: TextHolder): [string, string] | undefined {
  if (!slab) return undefined;
  const { memory } = slab;
  return [memory.toString('utf8', from, middle), memory.toString('utf8', middle, until)];
}

/** Forgets the texts of a holder. */
export function releaseTexts(holder: TextHolder): void {
  const { slab } = holder;
  holder.slab = undefined;
  slab?.slabs.release(slab);
}

/** True if a text ends with the first half of a character, whose other half alone has no form in UTF-8. */
function endsWithinCharacter(text: string): boolean {
  return (text.charCodeAt(text.length - 1) & 0xfc00) === 0xd800;
}
