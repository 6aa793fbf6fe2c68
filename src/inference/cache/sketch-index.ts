/** The number of slots of an index with few sketches. */
const MIN_SLOTS = 16;
const EMPTY = -1;
/** What was removed. A search must go on behind it. */
const REMOVED = -2;

/**
 * The place of the newest entry of each sketch. It is a hash table in typed arrays, because the collector of memory
 * never reads these. It reads a `Map` with fifty thousand entries again each time that one of them changed (see
 * `Places`).
 */
export class SketchIndex {
  /** The number of sketches. */
  size = 0;
  /** The slots that are not empty. */
  private used = 0;
  private sketches = new Int32Array(MIN_SLOTS);
  private places = new Float64Array(MIN_SLOTS).fill(EMPTY);
  /** Nobody can choose texts whose sketches all meet in one slot, because this odd number is random. */
  private readonly factor = Math.floor(Math.random() * 2 ** 32) | 1;

  /** The length of the table. */
  get slots(): number {
    return this.places.length;
  }

  /** Returns the place of a sketch; undefined if there is none. A sketch is a whole number of 32 bits. */
  get(sketch: number): number | undefined {
    const place = this.places[this.slotOf(sketch)] ?? EMPTY;
    return place < 0 ? undefined : place;
  }

  /** Notes the place of a sketch: a whole number from 0. */
  set(sketch: number, place: number): void {
    const slot = this.slotOf(sketch);
    if ((this.places[slot] ?? EMPTY) < 0) {
      this.size += 1;
      this.used += 1;
    }
    this.sketches[slot] = sketch;
    this.places[slot] = place;
    // In a full table, a search for what is not there would not end.
    if (2 * this.used > this.places.length) this.rebuild();
  }

  delete(sketch: number): void {
    const slot = this.slotOf(sketch);
    if ((this.places[slot] ?? EMPTY) < 0) return;
    this.places[slot] = REMOVED;
    this.size -= 1;
  }

  /** Returns the slot of a sketch, or the empty slot where it would be. */
  private slotOf(sketch: number): number {
    const { sketches, places } = this;
    const last = places.length - 1;
    let slot = Math.imul(sketch, this.factor) >>> Math.clz32(last);
    for (let place = places[slot]; place !== EMPTY; place = places[slot]) {
      if (place !== REMOVED && sketches[slot] === sketch) return slot;
      slot = (slot + 1) & last;
    }
    return slot;
  }

  /** Makes room for as many sketches again, and forgets what was removed. */
  private rebuild(): void {
    const { sketches, places } = this;
    let slots = MIN_SLOTS;
    while (slots < 4 * this.size) slots *= 2;
    this.sketches = new Int32Array(slots);
    this.places = new Float64Array(slots).fill(EMPTY);
    this.used = this.size;
    for (let slot = 0; slot < places.length; slot += 1) {
      const [sketch = 0, place = EMPTY] = [sketches[slot], places[slot]];
      if (place < 0) continue;
      const free = this.slotOf(sketch);
      this.sketches[free] = sketch;
      this.places[free] = place;
    }
  }
}
