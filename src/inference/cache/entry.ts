import { withoutDashes } from '../../errors/request-id.ts';
import {
  digestOf,
  isSamePlace,
  isSameRequest,
  type RequestIdentity,
  type RequestPlace,
} from './canonical-request.ts';
import type { Hit } from './hit.ts';
import type { KeptAnswer, WholeAnswer } from './kept-answer.ts';
import { releaseTexts, type Slab, type Slabs, type TextHolder, textsOf } from './slabs.ts';

/** What the objects of an entry need beside its texts, bytes (measured with `bun:jsc`). */
const OVERHEAD_BYTES = 500;
const NO_PIECES: readonly string[] = [];
const MS_PER_HOUR = 3_600_000;
const MS_PER_S = 1_000;
/** A body that is longer is kept as its digest, characters. */
const MAX_KEPT_BODY_CHARS = 64 * 1024;

/** A hit in the store. */
export interface StoredHit extends Hit {
  readonly entry: Entry;
}

/** What an entry knows once it was sent again. Most entries never are. */
interface Use {
  /** The latest request that got the answer, unless it is long. */
  latest?: RequestIdentity | undefined;
  /** The answer of a chat call, once it was read. */
  whole?: WholeAnswer;
  latest_hit?: StoredHit;
  /** How many forms of its stream were measured. */
  measured_streams: number;
}

/**
 * A stored answer with its request. Most requests never come again. So an entry computes its digest,
 * and reads its answer, only when it may be needed. Until then, its texts are packed (see `Slabs`).
 *
 * On a busy replica, thousands come and go in a second. So each is one object, and what an eviction reads comes first.
 */
export class Entry implements TextHolder {
  /** Size in memory, bytes. Before the entry is stored, at least one for each character. */
  bytes: number;
  /** How often the answer was sent again. */
  hits = 0;
  /** What the answer cost, nano-USD. */
  readonly cost_nano_usd: number;
  /** When the answer was stored, ms since the Unix epoch. */
  readonly stored_at_ms: number;
  /** The place in the list of its organization. */
  at = 0;
  readonly sketch: number;
  /** The next entry with the same sketch. */
  next: Entry | undefined;
  /** Where the answer and its request are packed. Undefined before the entry is stored, and once they were needed. */
  slab: Slab | undefined;
  from = 0;
  middle = 0;
  until = 0;
  private digested: string | null | undefined;
  /** The answer in pieces (see `KeptAnswer`), and the body of its request, while they are not packed. */
  private pieces: readonly string[];
  private body_text: string;
  private is_stream: boolean;
  private readonly usage: KeptAnswer['usage'];
  /** The request without its body. Entries of the same model share it. */
  place: RequestPlace | undefined;
  private use: Use | undefined;

  constructor(
    /** UUID of the request whose answer it is. */
    readonly request_id: string,
    readonly organization_id: string,
    sketch: number,
    stored_at_ms: number,
    request: RequestIdentity | undefined,
    answer: KeptAnswer,
    /** The digest of the request, if it was needed already. */
    known_digest?: string,
  ) {
    this.sketch = sketch;
    this.stored_at_ms = stored_at_ms;
    // The answer's members are the entry's own, because one object is collected faster than two.
    this.pieces = answer.pieces ?? [answer.text];
    this.is_stream = answer.is_stream;
    this.usage = answer.usage;
    this.cost_nano_usd = answer.cost_nano_usd;
    this.place = request?.place;
    this.digested = known_digest;
    this.body_text = request && known_digest === undefined ? request.body_text : '';
    if (this.body_text.length > MAX_KEPT_BODY_CHARS) this.digest();
    this.bytes = OVERHEAD_BYTES + this.body_text.length;
    for (const { length } of this.pieces) this.bytes += length;
  }

  /** The model of the request. */
  get model_id(): string {
    return this.place?.model_id ?? '';
  }

  /** The purges of the entries of its model until the call began (`cache-rules.ts`). */
  get generation(): string {
    return this.place?.generation ?? '';
  }

  /** The answer (see `KeptAnswer`). */
  get text(): string {
    this.unpack();
    if (this.pieces.length > 1) this.pieces = [this.pieces.join('')];
    return this.pieces[0] ?? '';
  }

  /**
   * Packs the texts, or moves them to newer memory. The texts of an entry that was found stay as they are. `known` is the
   * place of another entry: if it is the same, both share it.
   */
  pack(slabs: Slabs, known?: RequestPlace): void {
    if (this.hits > 0 || this.use?.whole) return;
    if (this.slab) {
      slabs.move(this);
      return;
    }
    if (known && this.place && isSamePlace(known, this.place)) this.place = known;
    slabs.pack(this, this.pieces, this.body_text);
    this.pieces = NO_PIECES;
    this.body_text = '';
  }

  /** Makes strings of the packed texts. Whoever finds an entry calls this: it may be removed before it is read. */
  unpack(): void {
    const texts = textsOf(this);
    if (!texts) return;
    releaseTexts(this);
    this.pieces = [texts[0]];
    this.body_text = texts[1];
  }

  /** Called when nobody can find the entry any more. Texts that nobody has asked for are gone then. */
  forget(): void {
    if (!this.slab) return;
    releaseTexts(this);
    this.digested ??= null;
  }

  /** The digest of the request; null if the request has none. */
  digest(): string | null {
    const { place } = this;
    if (this.digested !== undefined || !place) return this.digested ?? null;
    this.unpack();
    this.digested = digestOf({ place, body_text: this.body_text }) ?? null;
    this.body_text = '';
    return this.digested;
  }

  /** Remembers a request that gets the answer. */
  remember(request: RequestIdentity): void {
    this.used.latest = request.body_text.length > MAX_KEPT_BODY_CHARS ? undefined : request;
  }

  /**
   * True if a request is, to the byte, the latest one that got the answer. Most requests that come again
   * are, and to compare two texts costs far less than a digest.
   */
  isAgain(request: RequestIdentity): boolean {
    const latest = this.use?.latest;
    return latest !== undefined && isSameRequest(latest, request);
  }

  /** Id that clients see. */
  get id(): string {
    return entryIdOf(this.request_id);
  }

  /**
   * Returns the answer of a chat call. `read` reads the kept answer, once. Returns undefined if `read`
   * does: then the answer must not be sent again.
   */
  wholeAnswer(read: (kept: KeptAnswer) => WholeAnswer | undefined): WholeAnswer | undefined {
    if (this.use?.whole) return this.use.whole;
    const { text, is_stream, usage, cost_nano_usd } = this;
    const whole = read({ text, is_stream, usage, cost_nano_usd });
    // The events are not needed any more.
    if (whole) {
      this.used.whole = whole;
      this.pieces = [whole.text];
      this.is_stream = false;
    }
    return whole;
  }

  /** Returns a hit at a time, ms since the Unix epoch. All hits in the same second are one object. */
  hitAt(now_ms: number): StoredHit {
    const age_s = Math.max(0, Math.floor((now_ms - this.stored_at_ms) / MS_PER_S));
    const { latest_hit } = this.used;
    if (latest_hit?.age_s === age_s) return latest_hit;
    const { id: entry_id, cost_nano_usd } = this;
    const hit = { entry: this, entry_id, cost_nano_usd, age_s };
    this.used.latest_hit = hit;
    return hit;
  }

  /** What the entry is worth in memory: the cost that it saves per byte, less with its age. */
  valueAt(now_ms: number): number {
    const hours = (now_ms - this.stored_at_ms) / MS_PER_HOUR;
    return (this.cost_nano_usd * (1 + this.hits)) / (this.bytes * (1 + hours));
  }

  /** True if the entry has texts that were not measured yet. */
  get hasGrown(): boolean {
    const { use } = this;
    return use !== undefined && (use.whole?.streams?.size ?? 0) > use.measured_streams;
  }

  private get used(): Use {
    this.use ??= { measured_streams: 0 };
    return this.use;
  }

  /** Returns the size in memory, bytes. */
  measure(): number {
    if (this.slab) return OVERHEAD_BYTES + this.until - this.from;
    const { use } = this;
    const streams = [...(use?.whole?.streams?.values() ?? [])];
    if (use) use.measured_streams = streams.length;
    const texts = [...this.pieces, ...streams.flatMap(({ pieces, ids }) => [...pieces, ...ids])];
    let bytes = OVERHEAD_BYTES + sizeOf(this.body_text || (use?.latest?.body_text ?? ''));
    for (const text of texts) bytes += sizeOf(text);
    return bytes;
  }
}

/** Returns the memory of a text, bytes. A text with characters beyond ASCII may need two for each. */
function sizeOf(text: string): number {
  return Buffer.byteLength(text) === text.length ? text.length : 2 * text.length;
}

/** Returns the id of the entry with the answer of a request. */
export function entryIdOf(request_uuid: string): string {
  return `ce_${withoutDashes(request_uuid)}`;
}
