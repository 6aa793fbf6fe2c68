import { digestOf, type RequestIdentity } from './canonical-request.ts';
import {
  Entry,
  MAX_KEPT_BODY_CHARS,
  type NewEntry,
  OVERHEAD_BYTES,
  type StoredFacts,
  worthOf,
} from './entry.ts';
import { Places } from './places.ts';
import { Rows } from './rows.ts';
import { type PackedTexts, Slabs } from './slabs.ts';
import { USAGE_COLUMNS, usageIn, writeUsage } from './usage-columns.ts';

// The columns of a row. What an eviction reads comes first.
/** When the answer was stored, ms since the Unix epoch. */
const STORED_AT = 0;
/** What the answer cost, nano-USD. */
const COST = 1;
const SKETCH = 2;
/** The row of the next older entry with the same sketch, and of the next newer one; NONE if there is none. */
const OLDER = 3;
const NEWER = 4;
const SLAB = 5;
const FROM = 6;
const UNTIL = 7;
/** The number of the request's place; NONE if it has none. */
const PLACE = 8;
/** Where the answer begins, and where the third text does: the body of the request, or its digest. */
const ANSWER = 9;
const REQUEST = 10;
/** The sum of what is true of it. */
const FLAGS = 11;
const USAGE = 12;
const COLUMNS = USAGE + USAGE_COLUMNS;

/** No row. */
export const NONE = -1;
/** No slab: the entry is open. */
const OPEN = 0;

const IS_STREAM = 1;
const IS_DIGESTED = 2;

/**
 * Entries as rows of numbers and packed texts. Nearly all stored answers come and go like this. One that somebody may ask
 * for is opened: then it is an object, and stays so.
 */
export class PackedEntries {
  private readonly rows = new Rows(COLUMNS);
  private readonly places = new Places();
  private readonly slabs: Slabs;
  private readonly opened = new Map<number, Entry>();
  /** Where the texts are that are packed or read now. */
  private readonly texts: PackedTexts = { slab: 0, from: 0, second: 0, third: 0, until: 0 };

  /** `inUse` returns the bytes of all entries. */
  constructor(
    private readonly organization_id: string,
    inUse: () => number,
  ) {
    this.slabs = new Slabs(inUse);
  }

  get size(): number {
    return this.rows.size;
  }

  /** The number of all rows that use memory. */
  get length(): number {
    return this.rows.length;
  }

  /** Adds an entry. Returns its row. */
  add({ request_id, sketch, stored_at_ms, request, answer, known_digest }: NewEntry): number {
    const { rows, texts } = this;
    const digest = request && (known_digest ?? digestOfLong(request));
    const third = digest === undefined ? request?.body_text : digest;
    this.slabs.pack(texts, request_id, answer.pieces ?? answer.text, third ?? '');
    // From here on, nothing can fail: no row is left half written.
    const at = rows.push();
    const { numbers } = rows;
    const row = rows.offset(at);
    numbers[row + STORED_AT] = stored_at_ms;
    numbers[row + COST] = answer.cost_nano_usd;
    numbers[row + SKETCH] = sketch;
    numbers[row + OLDER] = NONE;
    numbers[row + NEWER] = NONE;
    numbers[row + FLAGS] =
      (answer.is_stream ? IS_STREAM : 0) + (digest === undefined ? 0 : IS_DIGESTED);
    numbers[row + PLACE] = request ? this.places.take(request.place) : NONE;
    writeUsage(numbers, row + USAGE, answer.usage);
    this.writeTexts(row);
    return at;
  }

  /** Removes an entry. An open one keeps what it has, for those who read it now. */
  remove(at: number): void {
    const slab = this.get(at, SLAB);
    if (slab === OPEN) this.opened.delete(at);
    else this.slabs.release(slab);
    const place = this.get(at, PLACE);
    if (place !== NONE) this.places.release(place);
    this.rows.free(at);
  }

  /** Moves an entry to a new row, and its texts to newer memory. Returns the row. */
  move(at: number): number {
    const { rows } = this;
    const to = rows.push();
    const from = rows.offset(at);
    rows.numbers.copyWithin(rows.offset(to), from, from + COLUMNS);
    const entry = this.opened.get(at);
    if (entry) {
      this.opened.delete(at);
      this.opened.set(to, entry);
      entry.at = to;
    } else {
      this.slabs.move(this.readTexts(to));
      this.writeTexts(rows.offset(to));
    }
    rows.free(at);
    return to;
  }

  /** Returns an entry as an object, always the same one. */
  open(at: number): Entry {
    const known = this.opened.get(at);
    if (known) return known;
    const [request_id, text, third] = this.slabs.read(this.readTexts(at));
    const flags = this.get(at, FLAGS);
    const isDigested = (flags & IS_DIGESTED) !== 0;
    const entry = new Entry({
      ...{ request_id, organization_id: this.organization_id, sketch: this.get(at, SKETCH) },
      stored_at_ms: this.get(at, STORED_AT),
      place: this.places.get(this.get(at, PLACE)),
      body_text: isDigested ? '' : third,
      digest: isDigested ? third || null : undefined,
      answer: {
        ...{ text, is_stream: (flags & IS_STREAM) !== 0, cost_nano_usd: this.get(at, COST) },
        usage: usageIn(this.rows.numbers, this.rows.offset(at) + USAGE),
      },
    });
    entry.at = at;
    entry.bytes = this.bytesOf(at);
    this.slabs.release(this.get(at, SLAB));
    this.set(at, SLAB, OPEN);
    this.opened.set(at, entry);
    return entry;
  }

  /** Returns what rules say something about, without opening the entry. */
  factsOf(at: number): StoredFacts {
    const known = this.opened.get(at);
    if (known) return known;
    const place = this.places.get(this.get(at, PLACE));
    return {
      request_id: this.slabs.readFirst(this.readTexts(at)),
      model_id: place?.model_id ?? '',
      generation: place?.generation ?? '',
    };
  }

  /** True if an entry is in its row. */
  has(entry: Entry): boolean {
    return this.opened.get(entry.at) === entry;
  }

  oldest(count: number): number[] {
    return this.rows.oldest(count);
  }

  /** The rows of all entries. */
  all(): number[] {
    return this.rows.all();
  }

  sketchOf(at: number): number {
    return this.get(at, SKETCH);
  }

  /** The row of the next older entry with the same sketch; NONE if there is none. */
  olderThan(at: number): number {
    return this.get(at, OLDER);
  }

  /** The row of the next newer one. */
  newerThan(at: number): number {
    return this.get(at, NEWER);
  }

  /** Notes that one entry is the next older one of another with the same sketch. Either may be NONE. */
  link(newer: number, older: number): void {
    if (newer !== NONE) this.set(newer, OLDER, older);
    if (older !== NONE) this.set(older, NEWER, newer);
  }

  storedAt(at: number): number {
    return this.get(at, STORED_AT);
  }

  /** The size of an entry in memory, bytes. */
  bytesOf(at: number): number {
    const entry = this.get(at, SLAB) === OPEN ? this.opened.get(at) : undefined;
    return entry?.bytes ?? OVERHEAD_BYTES + this.get(at, UNTIL) - this.get(at, FROM);
  }

  /** What an entry is worth in memory (see `worthOf`). */
  valueAt(at: number, now_ms: number): number {
    const entry = this.get(at, SLAB) === OPEN ? this.opened.get(at) : undefined;
    const age_ms = now_ms - this.get(at, STORED_AT);
    return worthOf(this.get(at, COST), entry?.hits ?? 0, this.bytesOf(at), age_ms);
  }

  private get(at: number, column: number): number {
    return this.rows.numbers[this.rows.offset(at) + column] as number;
  }

  private set(at: number, column: number, value: number): void {
    this.rows.numbers[this.rows.offset(at) + column] = value;
  }

  private writeTexts(row: number): void {
    const { texts } = this;
    const { numbers } = this.rows;
    numbers[row + SLAB] = texts.slab;
    numbers[row + FROM] = texts.from;
    numbers[row + ANSWER] = texts.second;
    numbers[row + REQUEST] = texts.third;
    numbers[row + UNTIL] = texts.until;
  }

  private readTexts(at: number): PackedTexts {
    const { texts } = this;
    texts.slab = this.get(at, SLAB);
    texts.from = this.get(at, FROM);
    texts.second = this.get(at, ANSWER);
    texts.third = this.get(at, REQUEST);
    texts.until = this.get(at, UNTIL);
    return texts;
  }
}

/** Returns the digest of a long request; '' if it has none. Returns undefined for a request that is kept itself. */
function digestOfLong(request: RequestIdentity): string | undefined {
  if (request.body_text.length <= MAX_KEPT_BODY_CHARS) return undefined;
  return digestOf(request) ?? '';
}
