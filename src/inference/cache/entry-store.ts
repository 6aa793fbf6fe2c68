import type { RequestIdentity } from './canonical-request.ts';
import type { Entry } from './entry.ts';
import { Shelf } from './shelf.ts';

/** The bounds of the store. */
export interface StoreBounds {
  /** Bytes of the entries of one organization. */
  readonly max_bytes: number;
  /** Entries of one organization. */
  readonly max_entries: number;
  /** Bytes of the entries of all organizations. */
  readonly max_total_bytes: number;
  /** How long an entry lives, ms. */
  readonly max_age_ms: number;
}

/** An entry may have this share of its organization's bytes. */
const MAX_ENTRY_SHARE = 1 / 8;
/** So many new entries, or so many bytes of them, are put on their shelves at once. */
const MANY_WAITING = 32;
const MANY_WAITING_BYTES = 256 * 1024;
/** How many organizations are compared to find one with many bytes. */
const COMPARED_SHELVES = 16;

/**
 * The stored answers of this process. Each organization has a shelf of its own, so no search ever sees
 * an entry of another organization (P6). If a bound is reached, entries of little value are removed.
 *
 * New entries wait, and many are put on their shelves at once: the processor then has the code and the memory at hand
 * (measured with cold caches: 2.7 µs for an entry in place of 3.3). Whoever looks for an entry does not notice it.
 */
export class EntryStore {
  private readonly shelves = new Map<string, Shelf>();
  private total_bytes = 0;
  private waiting: Entry[] = [];
  private readonly waiting_sketches = new Int32Array(MANY_WAITING);
  private waiting_bytes = 0;

  constructor(
    private readonly bounds: () => StoreBounds,
    private readonly now: () => number,
  ) {}

  /** The bytes of all entries. */
  get bytes(): number {
    return this.total_bytes + this.waiting_bytes;
  }

  /** True if an entry of the organization may have the sketch. */
  mayHave(organization_id: string, sketch: number): boolean {
    const at = this.waiting_sketches.indexOf(sketch);
    if (at >= 0 && at < this.waiting.length) this.placeWaiting();
    return this.shelves.get(organization_id)?.newest(sketch) !== undefined;
  }

  /** Returns the entry of a request; undefined if there is none, or if it is too old. */
  find(organization_id: string, sketch: number, digest: string): Entry | undefined {
    return this.seek(organization_id, sketch, (entry) => entry.digest() === digest);
  }

  /** The same for a request that is, to the byte, the latest one that got the answer. */
  findAgain(organization_id: string, sketch: number, request: RequestIdentity): Entry | undefined {
    return this.seek(organization_id, sketch, (entry) => entry.isAgain(request));
  }

  private seek(
    organization_id: string,
    sketch: number,
    matches: (entry: Entry) => boolean,
  ): Entry | undefined {
    this.placeWaiting();
    const shelf = this.shelves.get(organization_id);
    for (let entry = shelf?.newest(sketch); entry; entry = entry.next) {
      if (!matches(entry)) continue;
      if (!this.isOld(entry)) {
        entry.unpack();
        return entry;
      }
      this.remove(entry);
      return undefined;
    }
    return undefined;
  }

  /** Returns the entries of an organization that `matches`. */
  list(organization_id: string, matches: (entry: Entry) => boolean): Entry[] {
    this.placeWaiting();
    return this.shelves.get(organization_id)?.list(matches) ?? [];
  }

  /** Adds an entry, unless it is too large. */
  add(entry: Entry): void {
    if (entry.bytes > this.bounds().max_bytes * MAX_ENTRY_SHARE) return;
    this.waiting_sketches[this.waiting.length] = entry.sketch;
    this.waiting.push(entry);
    this.waiting_bytes += entry.bytes;
    const isMany = this.waiting.length === MANY_WAITING || this.waiting_bytes > MANY_WAITING_BYTES;
    if (isMany) this.placeWaiting();
  }

  private placeWaiting(): void {
    const { waiting } = this;
    if (waiting.length === 0) return;
    this.waiting = [];
    this.waiting_bytes = 0;
    for (const entry of waiting) this.place(entry);
  }

  private place(entry: Entry): void {
    const bounds = this.bounds();
    let shelf = this.shelves.get(entry.organization_id);
    if (!shelf) {
      shelf = new Shelf();
      this.shelves.set(entry.organization_id, shelf);
    }
    shelf.add(entry);
    this.total_bytes += entry.bytes;
    while (shelf.bytes > bounds.max_bytes || shelf.size > bounds.max_entries) {
      this.removeLeast(shelf);
    }
    while (this.total_bytes > bounds.max_total_bytes) this.removeLeast(this.largest(shelf));
  }

  /** Counts an entry again, after its answer was read or sent. */
  remeasure(entry: Entry): void {
    this.placeWaiting();
    const shelf = this.shelves.get(entry.organization_id);
    if (!shelf?.has(entry)) return;
    this.total_bytes += shelf.remeasure(entry);
  }

  remove(entry: Entry): void {
    this.placeWaiting();
    const shelf = this.shelves.get(entry.organization_id);
    if (!shelf?.has(entry)) return;
    shelf.remove(entry);
    this.total_bytes -= entry.bytes;
    if (shelf.size === 0) this.shelves.delete(entry.organization_id);
  }

  /** Removes all entries that are too old. */
  removeOld(): void {
    this.placeWaiting();
    for (const shelf of this.shelves.values()) {
      for (const entry of shelf.list((each) => this.isOld(each))) this.remove(entry);
    }
  }

  private isOld(entry: Entry): boolean {
    return this.now() - entry.stored_at_ms > this.bounds().max_age_ms;
  }

  private removeLeast(shelf: Shelf): void {
    const { max_age_ms } = this.bounds();
    for (const entry of shelf.takeLeast(this.now(), max_age_ms)) this.remove(entry);
  }

  /**
   * Returns the largest of some shelves. The first shelves of the map move to its end, so that others
   * are looked at next time.
   */
  private largest(given: Shelf): Shelf {
    let largest = given;
    for (const [organization_id, shelf] of [...this.shelves.entries().take(COMPARED_SHELVES)]) {
      if (shelf.bytes > largest.bytes) largest = shelf;
      if (this.shelves.size <= COMPARED_SHELVES) continue;
      this.shelves.delete(organization_id);
      this.shelves.set(organization_id, shelf);
    }
    return largest;
  }
}
