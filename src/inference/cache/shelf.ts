import type { RequestPlace } from './canonical-request.ts';
import type { Entry } from './entry.ts';
import { Places } from './places.ts';
import { SketchIndex } from './sketch-index.ts';
import { Slabs } from './slabs.ts';

/** How many of the oldest entries are compared to remove those of little value. */
const COMPARED = 16;
/** How many of them stay. */
const KEPT = 4;
/** They stay only if their value is this many times the least one. */
const WORTH_MOVING = 1.25;
/** With fewer entries, one is removed at a time. */
const MIN_FOR_MANY = 4 * COMPARED;
/** Free places are given back only if there are more places than this. */
const MIN_PLACES = 1_024;

/**
 * The entries of one organization, in the order of their places. Evictions look at the oldest ones, and
 * let the best of them begin anew at the end. So memory is freed nearly in the order in which it was taken:
 * to remove entries at random places took several times the time.
 */
export class Shelf {
  bytes = 0;
  private readonly places = new Places<Entry>();
  /** The newest entry of each sketch. Older ones follow as `next`. */
  private readonly bySketch = new SketchIndex();
  private readonly slabs = new Slabs(() => this.bytes);
  /** The place of the newest entry. */
  private place: RequestPlace | undefined;

  get size(): number {
    return this.places.size;
  }

  /** Returns the newest entry with a sketch. */
  newest(sketch: number): Entry | undefined {
    const at = this.bySketch.get(sketch);
    return at === undefined ? undefined : this.places.get(at);
  }

  /** Returns the entries that `matches`. */
  list(matches: (entry: Entry) => boolean): Entry[] {
    return [...this.places].filter(matches);
  }

  has(entry: Entry): boolean {
    return this.places.get(entry.at) === entry;
  }

  add(entry: Entry): void {
    if (this.places.length > MIN_PLACES && this.places.length > 2 * this.size) this.compact();
    entry.next = this.newest(entry.sketch);
    entry.pack(this.slabs, this.place);
    this.place = entry.place;
    entry.bytes = entry.measure();
    entry.at = this.places.push(entry);
    this.bySketch.set(entry.sketch, entry.at);
    this.bytes += entry.bytes;
  }

  remove(entry: Entry): void {
    this.unchain(entry);
    this.places.clear(entry.at);
    this.bytes -= entry.bytes;
    entry.forget();
  }

  /** Counts the size of an entry again. Returns the bytes that it has more. */
  remeasure(entry: Entry): number {
    const more = entry.measure() - entry.bytes;
    entry.bytes += more;
    this.bytes += more;
    return more;
  }

  /**
   * Returns those of the oldest entries that have the least value, and at least one. The others move to
   * the end.
   */
  takeLeast(now_ms: number, max_age_ms: number): Entry[] {
    const compared = this.places.oldest(COMPARED);
    const values = compared.map((entry) =>
      now_ms - entry.stored_at_ms > max_age_ms ? -1 : entry.valueAt(now_ms),
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
      const [entry] = compared.splice(best, 1);
      if (!entry) break;
      this.moveToEnd(entry);
    }
    return compared;
  }

  private moveToEnd(entry: Entry): void {
    const isNewest = this.bySketch.get(entry.sketch) === entry.at;
    this.places.clear(entry.at);
    entry.pack(this.slabs);
    entry.at = this.places.push(entry);
    if (isNewest) this.bySketch.set(entry.sketch, entry.at);
  }

  /** Gives back the empty places. Nearly all of them are at the beginning, so this is seldom needed. */
  private compact(): void {
    for (const entry of [...this.places]) this.moveToEnd(entry);
  }

  private unchain(entry: Entry): void {
    const newest = this.newest(entry.sketch);
    if (newest === entry) {
      if (entry.next) this.bySketch.set(entry.sketch, entry.next.at);
      else this.bySketch.delete(entry.sketch);
      return;
    }
    for (let each = newest; each; each = each.next) {
      if (each.next !== entry) continue;
      each.next = entry.next;
      return;
    }
  }
}
