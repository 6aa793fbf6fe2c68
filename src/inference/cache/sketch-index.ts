/** The number of slots of an index with few sketches. */
const MIN_SLOTS = 16;
/** A slot has a place and, beside it in memory, its sketch. So a search reads one line of the processor's cache. */
const SLOT = 2;
const EMPTY = -1;
/** What was removed. A search must go on behind it. */
const REMOVED = -2;

/**
 * The place of the newest entry of each sketch. It is a hash table in a typed array, because the collector of memory
 * never reads it. It reads a `Map` with fifty thousand entries again each time that one of them changed (see
 * `Places`).
 */
export class SketchIndex {
  /** The number of sketches. */
  size = 0;
  /** The slots that are not empty. */
  private used = 0;
  private table = newTable(MIN_SLOTS);
  /** Nobody can choose texts whose sketches all meet in one slot, because this odd number is random. */
  private readonly factor = Math.floor(Math.random() * 2 ** 32) | 1;

  /** The length of the table. */
  get slots(): number {
    return this.table.length / SLOT;
  }

  /** Returns the place of a sketch; undefined if there is none. A sketch is a whole number of 32 bits. */
  get(sketch: number): number | undefined {
    const place = this.table[this.find(sketch)] ?? EMPTY;
    return place < 0 ? undefined : place;
  }

  /** Notes the place of a sketch: a whole number from 0. */
  set(sketch: number, place: number): void {
    const at = this.find(sketch);
    if ((this.table[at] ?? EMPTY) < 0) {
      this.size += 1;
      this.used += 1;
    }
    this.table[at] = place;
    this.table[at + 1] = sketch;
    // In a full table, a search for what is not there would not end.
    if (2 * this.used > this.slots) this.rebuild();
  }

  delete(sketch: number): void {
    const at = this.find(sketch);
    if ((this.table[at] ?? EMPTY) < 0) return;
    this.table[at] = REMOVED;
    this.size -= 1;
  }

  /** Returns where the slot of a sketch begins, or the empty slot where it would be. */
  private find(sketch: number): number {
    const { table } = this;
    const last = this.slots - 1;
    let at = SLOT * (Math.imul(sketch, this.factor) >>> Math.clz32(last));
    for (let place = table[at]; place !== EMPTY; place = table[at]) {
      if (place !== REMOVED && table[at + 1] === sketch) return at;
      at = at === SLOT * last ? 0 : at + SLOT;
    }
    return at;
  }

  /** Makes room for as many sketches again, and forgets what was removed. */
  private rebuild(): void {
    const { table } = this;
    let slots = MIN_SLOTS;
    while (slots < 4 * this.size) slots *= 2;
    this.table = newTable(slots);
    this.used = this.size;
    for (let at = 0; at < table.length; at += SLOT) {
      const [place = EMPTY, sketch = 0] = [table[at], table[at + 1]];
      if (place < 0) continue;
      const free = this.find(sketch);
      this.table[free] = place;
      this.table[free + 1] = sketch;
    }
  }
}

const newTable = (slots: number) => new Float64Array(SLOT * slots).fill(EMPTY);
