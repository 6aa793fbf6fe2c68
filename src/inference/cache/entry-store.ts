import type { RequestIdentity } from './canonical-request.ts';
import { type Entry, type NewEntry, OVERHEAD_BYTES, type StoredFacts } from './entry.ts';
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
 * New entries wait, and many are put on their shelves at once: the processor then has the code and the memory at hand.
 * Whoever looks for an entry does not notice it.
 */
export class EntryStore {
  private readonly shelves = new Map<string, Shelf>();
  /** The bytes of all entries. */
  bytes = 0;
  /** The shelves with entries that nobody finds yet. */
  private waiting: Shelf[] = [];
  private readonly waiting_sketches = new Int32Array(MANY_WAITING);
  private waiting_bytes = 0;

  constructor(
    private readonly bounds: () => StoreBounds,
    private readonly now: () => number,
  ) {}

  /** True if an entry of the organization may have the sketch. */
  mayHave(organization_id: string, sketch: number): boolean {
    const at = this.waiting_sketches.indexOf(sketch);
    if (at >= 0 && at < this.waiting.length) this.indexWaiting();
    return this.shelves.get(organization_id)?.mayHave(sketch) === true;
  }

  /** Returns the entry of a request; undefined if there is none, or if it is too old. */
  find(organization_id: string, sketch: number, digest: string): Entry | undefined {
    return this.seek(organization_id, sketch, this.now(), hasDigest, digest);
  }

  /** The same for a request that is, to the byte, the latest one that got the answer. `now_ms` is the present. */
  findAgain(
    organization_id: string,
    sketch: number,
    request: RequestIdentity,
    now_ms: number,
  ): Entry | undefined {
    return this.seek(organization_id, sketch, now_ms, isAgain, request);
  }

  private seek<Wanted>(
    organization_id: string,
    sketch: number,
    now_ms: number,
    matches: (entry: Entry, wanted: Wanted) => boolean,
    wanted: Wanted,
  ): Entry | undefined {
    this.indexWaiting();
    const entry = this.shelves.get(organization_id)?.find(sketch, matches, wanted);
    if (!entry || entry.stored_at_ms >= now_ms - this.bounds().max_age_ms) return entry;
    this.remove(entry);
    return undefined;
  }

  /** Adds an entry, unless it is too large. */
  add(entry: NewEntry): void {
    if (leastBytes(entry) > this.bounds().max_bytes * MAX_ENTRY_SHARE) return;
    const { organization_id, sketch } = entry;
    let shelf = this.shelves.get(organization_id);
    if (!shelf) {
      shelf = new Shelf(organization_id);
      this.shelves.set(organization_id, shelf);
    }
    const bytes = shelf.add(entry);
    this.bytes += bytes;
    this.waiting_bytes += bytes;
    this.waiting_sketches[this.waiting.length] = sketch;
    this.waiting.push(shelf);
    const isMany = this.waiting.length === MANY_WAITING || this.waiting_bytes > MANY_WAITING_BYTES;
    if (isMany) this.indexWaiting();
  }

  /** Lets all entries be found, and keeps the bounds. */
  private indexWaiting(): void {
    const { waiting } = this;
    if (waiting.length === 0) return;
    this.waiting = [];
    this.waiting_bytes = 0;
    for (const shelf of waiting) shelf.index();
    const bounds = this.bounds();
    for (const shelf of waiting) {
      while (shelf.bytes > bounds.max_bytes || shelf.size > bounds.max_entries) {
        this.removeLeast(shelf);
      }
      while (this.bytes > bounds.max_total_bytes) this.removeLeast(this.largest(shelf));
    }
  }

  /** Counts an entry again, after its answer was read or sent. */
  remeasure(entry: Entry): void {
    this.change(entry.organization_id, (shelf) => shelf.has(entry) && shelf.remeasure(entry));
  }

  remove(entry: Entry): void {
    this.change(entry.organization_id, (shelf) => shelf.has(entry) && shelf.remove(entry));
  }

  /** Removes the entries of an organization that rules forbid. */
  removeForbidden(organization_id: string, isForbidden: (facts: StoredFacts) => boolean): void {
    this.change(organization_id, (shelf) => shelf.removeForbidden(isForbidden));
  }

  /** Removes all entries that are too old. */
  removeOld(): void {
    this.indexWaiting();
    const { oldest_ms } = this;
    for (const organization_id of [...this.shelves.keys()]) {
      this.change(organization_id, (shelf) => shelf.removeBefore(oldest_ms));
    }
  }

  /** Changes the shelf of an organization, and counts it anew. An empty shelf is removed. */
  private change(organization_id: string, change: (shelf: Shelf) => void): void {
    this.indexWaiting();
    const shelf = this.shelves.get(organization_id);
    if (!shelf) return;
    const before = shelf.bytes;
    change(shelf);
    this.bytes += shelf.bytes - before;
    if (shelf.size === 0) this.shelves.delete(organization_id);
  }

  /** An entry that was stored before this time is too old, ms since the Unix epoch. */
  private get oldest_ms(): number {
    return this.now() - this.bounds().max_age_ms;
  }

  private removeLeast(shelf: Shelf): void {
    const before = shelf.bytes;
    shelf.removeLeast(this.now(), this.oldest_ms);
    this.bytes += shelf.bytes - before;
    if (shelf.size === 0) this.shelves.delete(shelf.organization_id);
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

const hasDigest = (entry: Entry, digest: string) => entry.digest() === digest;
const isAgain = (entry: Entry, request: RequestIdentity) => entry.isAgain(request);

/** The bytes that a new entry needs at least: one for each character. */
function leastBytes({ request, answer }: NewEntry): number {
  let bytes = OVERHEAD_BYTES + (request?.body_text.length ?? 0);
  if (!answer.pieces) return bytes + answer.text.length;
  for (const { length } of answer.pieces) bytes += length;
  return bytes;
}
