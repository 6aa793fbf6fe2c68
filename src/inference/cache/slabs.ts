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
  readonly id: number;
  readonly memory: Buffer;
  /** How many groups of texts are in it. */
  live: number;
}

/** Where a group of three texts lies, one after the other. */
export interface PackedTexts {
  /** The id of the slab. */
  slab: number;
  from: number;
  /** Where the second text begins. */
  second: number;
  /** Where the third text begins. */
  third: number;
  until: number;
}

/**
 * Keeps texts in a few large pieces of memory, the slabs. The collector of memory never reads these, but it reads
 * each string that lives. Once a slab has no text any more, it is used again.
 */
export class Slabs {
  /** The slabs with texts, and the current one. */
  private readonly known = new Map<number, Slab>();
  private made = 0;
  private current = this.newSlab(Buffer.allocUnsafeSlow(0));
  private used = 0;
  private spare: Buffer | undefined;

  /** `inUse` returns what the owner of all texts has, bytes: a new slab is a part of it. */
  constructor(private readonly inUse: () => number) {}

  /** Packs three texts, of which the second one may be in pieces. Says in `packed` where they are. */
  pack(
    packed: PackedTexts,
    first: string,
    second: string | readonly string[],
    third: string,
  ): void {
    // Half a character has no form of its own.
    if (typeof second !== 'string' && second.some(endsWithinCharacter)) {
      this.pack(packed, first, second.join(''), third);
      return;
    }
    const chars = first.length + lengthOf(second) + third.length;
    // To count the bytes would cost as much as to write them.
    if (this.used + chars * MAX_BYTES_PER_CHAR > this.current.memory.length) {
      this.makeRoom(Buffer.byteLength(first) + bytesOf(second) + Buffer.byteLength(third));
    }
    packed.from = this.used;
    this.write(first);
    packed.second = this.used;
    if (typeof second === 'string') this.write(second);
    else for (const piece of second) this.write(piece);
    packed.third = this.used;
    this.write(third);
    packed.until = this.used;
    packed.slab = this.hold();
  }

  /** Moves packed texts out of an older slab, so that it can be used again. */
  move(packed: PackedTexts): void {
    const { slab, from, until } = packed;
    this.makeRoom(until - from);
    const older = this.known.get(slab);
    if (!older || older === this.current) return;
    const distance = this.used - from;
    this.used += older.memory.copy(this.current.memory, this.used, from, until);
    packed.from += distance;
    packed.second += distance;
    packed.third += distance;
    packed.until += distance;
    packed.slab = this.hold();
    this.release(slab);
  }

  /** Returns packed texts. They must not have been released. */
  read(packed: PackedTexts): [string, string, string] {
    const { second, third, until } = packed;
    const memory = this.memoryOf(packed);
    return [
      this.readFirst(packed),
      memory.toString('utf8', second, third),
      memory.toString('utf8', third, until),
    ];
  }

  /** Returns the first one of three packed texts. */
  readFirst(packed: PackedTexts): string {
    return this.memoryOf(packed).toString('utf8', packed.from, packed.second);
  }

  /** Forgets a group of texts in a slab. */
  release(id: number): void {
    const slab = this.known.get(id);
    if (!slab) return;
    slab.live -= 1;
    if (slab.live > 0 || slab === this.current) return;
    this.known.delete(id);
    if (slab.memory.length === MAX_BYTES) this.spare ??= slab.memory;
  }

  private memoryOf({ slab }: PackedTexts): Buffer {
    const memory = this.known.get(slab)?.memory;
    if (!memory) throw new RangeError(`there is no slab ${slab}`);
    return memory;
  }

  private write(text: string): void {
    this.used += this.current.memory.write(text, this.used);
  }

  private hold(): number {
    this.current.live += 1;
    return this.current.id;
  }

  private makeRoom(bytes: number): void {
    const { current, spare } = this;
    if (this.used + bytes <= current.memory.length) return;
    this.used = 0;
    if (current.live === 0) this.known.delete(current.id);
    if (spare && bytes <= MAX_BYTES) {
      this.spare = undefined;
      this.current = this.newSlab(spare);
    } else {
      const share = Math.floor(this.inUse() * MAX_SHARE);
      const ahead = Math.min(MAX_BYTES, Math.max(MIN_BYTES, share));
      this.current = this.newSlab(Buffer.allocUnsafeSlow(Math.max(bytes, ahead)));
    }
  }

  /** Memory that is used again has a new id. So nobody can read it for a text that was released. */
  private newSlab(memory: Buffer): Slab {
    this.made += 1;
    const slab = { id: this.made, memory, live: 0 };
    this.known.set(slab.id, slab);
    return slab;
  }
}

function lengthOf(text: string | readonly string[]): number {
  if (typeof text === 'string') return text.length;
  let length = 0;
  for (const piece of text) length += piece.length;
  return length;
}

function bytesOf(text: string | readonly string[]): number {
  if (typeof text === 'string') return Buffer.byteLength(text);
  let bytes = 0;
  for (const piece of text) bytes += Buffer.byteLength(piece);
  return bytes;
}

/** True if a text ends with the first half of a character, whose other half alone has no form in UTF-8. */
function endsWithinCharacter(text: string): boolean {
  return (text.charCodeAt(text.length - 1) & 0xfc00) === 0xd800;
}
