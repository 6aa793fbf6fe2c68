import type { Entry } from './entry.ts';

/** How many of the oldest entries are compared to remove those of little value. */
const COMPARED = 16;
/** How many of them stay. */
const KEPT = 4;
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
  size = 0;
  private places: (Entry | undefined)[] = [];
  /** The number of the first place, and how many places at the beginning are free. */
  private first_place = 0;
  private free = 0;
  /** The newest entry of each sketch. Older ones follow as `next`. */
  private readonly bySketch = new Map<number, Entry>();

  /** Returns the newest entry with a sketch. */
  newest(sketch: number): Entry | undefined {
    return this.bySketch.get(sketch);
  }

  /** Returns the entries that `matches`. */
  list(matches: (entry: Entry) => boolean): Entry[] {
    return this.places.filter((entry) => entry !== undefined).filter(matches);
  }

  has(entry: Entry): boolean {
    return this.places[entry.at - this.first_place] === entry;
  }

  add(entry: Entry): void {
    this.append(entry);
    entry.next = this.bySketch.get(entry.sketch);
    this.bySketch.set(entry.sketch, entry);
    this.bytes += entry.bytes;
    this.size += 1;
  }

  remove(entry: Entry): void {
    this.places[entry.at - this.first_place] = undefined;
    this.bytes -= entry.bytes;
    this.size -= 1;
    this.unchain(entry);
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
    const compared = this.oldest(Math.min(COMPARED, this.size));
    for (const entry of compared) {
      const isOld = now_ms - entry.stored_at_ms > max_age_ms;
      entry.value = isOld ? -1 : entry.valueAt(now_ms);
    }
    const kept = this.size < MIN_FOR_MANY ? compared.length - 1 : KEPT;
    for (let left = kept; left > 0; left -= 1) {
      // Of two entries with the same value, the older one is removed.
      let best = 0;
      for (let at = 1; at < compared.length; at += 1) {
        if ((compared[at]?.value ?? 0) >= (compared[best]?.value ?? 0)) best = at;
      }
      const [entry] = compared.splice(best, 1);
      if (!entry) break;
      this.places[entry.at - this.first_place] = undefined;
      this.append(entry);
    }
    return compared;
  }

  private append(entry: Entry): void {
    if (this.places.length > MIN_PLACES && this.places.length > 2 * this.size) this.compact();
    entry.at = this.first_place + this.places.length;
    this.places.push(entry);
  }

  private oldest(count: number): Entry[] {
    const { places } = this;
    while (this.free < places.length && !places[this.free]) this.free += 1;
    const found: Entry[] = [];
    for (let at = this.free; found.length < count; at += 1) {
      const entry = places[at];
      if (entry) found.push(entry);
    }
    return found;
  }

  /** Gives back the free places. Nearly all of them are at the beginning, so the entries keep theirs. */
  private compact(): void {
    this.places = this.places.slice(this.free);
    this.first_place += this.free;
    this.free = 0;
    if (this.places.length <= 2 * this.size) return;
    this.places = this.places.filter((entry) => entry !== undefined);
    for (const [at, entry] of this.places.entries()) if (entry) entry.at = this.first_place + at;
  }

  private unchain(entry: Entry): void {
    const newest = this.bySketch.get(entry.sketch);
    if (newest === entry) {
      if (entry.next) this.bySketch.set(entry.sketch, entry.next);
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
