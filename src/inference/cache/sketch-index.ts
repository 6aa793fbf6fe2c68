/** The number of slots of an index with few sketches. All numbers of slots are powers of two. */
const MIN_SLOTS = 16;
/** A slot has a place and, beside it in memory, its sketch. So a search reads one line of the processor's cache. */
const SLOT = 2;
const EMPTY = -1;

/**
 * The place of the newest entry of each sketch. It is a hash table in a typed array, because the collector of memory
 * never reads it. It reads a `Map` with fifty thousand entries again each time that one of them changed (see
 * `Places`).
 */
export class SketchIndex {
  /** The number of sketches. */
  size = 0;
  private table = newTable(MIN_SLOTS);
  /** Nobody can choose texts whose sketches all meet in one slot, because this odd number is random. */
  private readonly factor = Math.floor(Math.random() * 2 ** 32) | 1;

  /** The length of the table. */
  get slots(): number {
    return this.table.length / SLOT;
  }

  /** Returns the place of a sketch; undefined if there is none. A sketch is a whole number of 32 bits. */
  get(sketch: number): number | undefined {
    const place = this.table[this.find(sketch)];
    return place === EMPTY ? undefined : place;
  }

  /** Notes the place of a sketch: a whole number from 0. */
  set(sketch: number, place: number): void {
    const at = this.find(sketch);
    if (this.table[at] === EMPTY) this.size += 1;
    this.table[at] = place;
    this.table[at + 1] = sketch;
    // In a full table, a search for what is not there would not end.
    if (2 * this.size > this.slots) this.grow();
  }

  /** Removes a sketch. Those behind it that would be in its slot, if it had been empty, move up (Knuth 6.4, algorithm R). */
  delete(sketch: number): void {
    const { table } = this;
    let free = this.find(sketch);
    if (table[free] === EMPTY) return;
    this.size -= 1;
    for (let at = this.after(free); table[at] !== EMPTY; at = this.after(at)) {
      const home = this.homeOf(table[at + 1] ?? 0);
      if (this.distance(home, at) < this.distance(free, at)) continue;
      table.copyWithin(free, at, at + SLOT);
      free = at;
    }
    table[free] = EMPTY;
  }

  /** Returns where the slot of a sketch begins, or the empty slot where it would be. */
  private find(sketch: number): number {
    const { table } = this;
    let at = this.homeOf(sketch);
    while (table[at] !== EMPTY && table[at + 1] !== sketch) at = this.after(at);
    return at;
  }

  /** Returns the slot where a search for a sketch begins. */
  private homeOf(sketch: number): number {
    return SLOT * (Math.imul(sketch, this.factor) >>> Math.clz32(this.slots - 1));
  }

  private after(at: number): number {
    return (at + SLOT) & (this.table.length - 1);
  }

  /** How far a search goes from one slot to another one. After the last slot comes the first one. */
  private distance(from: number, to: number): number {
    return (to - from) & (this.table.length - 1);
  }

  /** Makes room for as many sketches again. */
  private grow(): void {
    const { table } = this;
    this.table = newTable(2 * this.slots);
    for (let at = 0; at < table.length; at += SLOT) {
      const [place = EMPTY, sketch = 0] = [table[at], table[at + 1]];
      if (place === EMPTY) continue;
      const free = this.find(sketch);
      this.table[free] = place;
      this.table[free + 1] = sketch;
    }
  }
}

const newTable = (slots: number) => new Float64Array(SLOT * slots).fill(EMPTY);
