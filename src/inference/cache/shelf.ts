import type { Entry, NewEntry, StoredFacts } from './entry.ts';
import { NONE, PackedEntries } from './packed-entries.ts';
import { SketchIndex } from './sketch-index.ts';

/** How many of the oldest entries are compared to remove those of little value. */
const COMPARED = 16;
/** How many of them stay. */
const KEPT = 4;
/** They stay only if their value is this many times the least one. */
const WORTH_MOVING = 1.25;
/** With fewer entries, one is removed at a time. */
const MIN_FOR_MANY = 4 * COMPARED;
/** With fewer rows, free ones between others do not matter. */
const MIN_ROWS = 1_024;

/**
 * The entries of one organization, in the order of their rows. Evictions look at the oldest ones, and
 * let the best of them begin anew at the end. So memory is freed nearly in the order in which it was taken:
 * to remove entries at random places took several times the time.
 */
export class Shelf {
  bytes = 0;
  private readonly entries: PackedEntries;
  /** The newest entry of each sketch. Older ones follow in a chain. */
  private readonly bySketch = new SketchIndex();
  /** The entries that nobody finds yet. */
  private readonly unindexed: number[] = [];

  constructor(readonly organization_id: string) {
    this.entries = new PackedEntries(organization_id, () => this.bytes);
  }

  get size(): number {
    return this.entries.size;
  }

  /** True if an entry has the sketch. */
  mayHave(sketch: number): boolean {
    return this.bySketch.get(sketch) !== undefined;
  }

  /** Returns the newest entry with a sketch that `matches` what is wanted. */
  find<Wanted>(
    sketch: number,
    matches: (entry: Entry, wanted: Wanted) => boolean,
    wanted: Wanted,
  ): Entry | undefined {
    for (let at = this.newest(sketch); at !== NONE; at = this.entries.olderThan(at)) {
      const entry = this.entries.open(at);
      if (matches(entry, wanted)) return entry;
    }
    return undefined;
  }

  has(entry: Entry): boolean {
    return this.entries.has(entry);
  }

  /** Adds an entry, which nobody finds before `index` is called. Returns the bytes that it needs. */
  add(entry: NewEntry): number {
    const { entries } = this;
    if (entries.length > MIN_ROWS && entries.length > 2 * entries.size) this.compact();
    const at = entries.add(entry);
    this.unindexed.push(at);
    const bytes = entries.bytesOf(at);
    this.bytes += bytes;
    return bytes;
  }

  /** Lets the entries be found that were added. Must be called before anything else is done with the shelf. */
  index(): void {
    const { entries, unindexed } = this;
    for (const at of unindexed) {
      const sketch = entries.sketchOf(at);
      entries.link(at, this.newest(sketch));
      this.bySketch.set(sketch, at);
    }
    unindexed.length = 0;
  }

  remove(entry: Entry): void {
    this.removeAt(entry.at);
  }

  /** Removes the entries that rules forbid. */
  removeForbidden(isForbidden: (facts: StoredFacts) => boolean): void {
    const { entries } = this;
    for (const at of entries.all()) if (isForbidden(entries.factsOf(at))) this.removeAt(at);
  }

  /** Removes the entries that were stored before a time, ms since the Unix epoch. */
  removeBefore(time_ms: number): void {
    const { entries } = this;
    for (const at of entries.all()) if (entries.storedAt(at) < time_ms) this.removeAt(at);
  }

  /** Counts the size of an entry again. */
  remeasure(entry: Entry): void {
    this.bytes -= entry.bytes;
    entry.bytes = entry.measure();
    this.bytes += entry.bytes;
  }

  /**
   * Removes those of the oldest entries that have the least value, and at least one. The others move to the end.
   * Entries from before `oldest_ms` have none.
   */
  removeLeast(now_ms: number, oldest_ms: number): void {
    const { entries } = this;
    const compared = entries.oldest(COMPARED);
    const values = compared.map((at) =>
      entries.storedAt(at) < oldest_ms ? -1 : entries.valueAt(at, now_ms),
    );
    const least = Math.min(...values);
    const isSmall = this.size < MIN_FOR_MANY;
    // To move entries that are all alike would only copy their texts.
    const worth = isSmall ? Number.NEGATIVE_INFINITY : least * WORTH_MOVING;
    for (let left = isSmall ? compared.length - 1 : KEPT; left > 0; left -= 1) {
      // Of two entries with the same value, the older one is removed.
      let best = 0;
      for (let at = 1; at < compared.length; at += 1) {
        if ((values[at] ?? 0) >= (values[best] ?? 0)) best = at;
      }
      if ((values[best] ?? 0) < worth) break;
      values.splice(best, 1);
      for (const at of compared.splice(best, 1)) this.moveToEnd(at);
    }
    for (const at of compared) this.removeAt(at);
  }

  private newest(sketch: number): number {
    return this.bySketch.get(sketch) ?? NONE;
  }

  private removeAt(at: number): void {
    const { entries } = this;
    const [newer, older] = [entries.newerThan(at), entries.olderThan(at)];
    entries.link(newer, older);
    if (newer === NONE) {
      const sketch = entries.sketchOf(at);
      if (older === NONE) this.bySketch.delete(sketch);
      else this.bySketch.set(sketch, older);
    }
    this.bytes -= entries.bytesOf(at);
    entries.remove(at);
  }

  private moveToEnd(at: number): void {
    const { entries } = this;
    const to = entries.move(at);
    const newer = entries.newerThan(to);
    entries.link(newer, to);
    entries.link(to, entries.olderThan(to));
    if (newer === NONE) this.bySketch.set(entries.sketchOf(to), to);
  }

  /** Leaves no free row between others. Nearly all free ones are at the beginning, so this is seldom needed. */
  private compact(): void {
    this.index();
    for (const at of this.entries.all()) this.moveToEnd(at);
  }
}
