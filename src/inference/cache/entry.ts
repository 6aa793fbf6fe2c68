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
import { type PackedTexts, type Slabs, textsOf } from './slabs.ts';

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

/**
 * A stored answer with its request. Most requests never come again. So an entry computes its digest,
 * and reads its answer, only when it may be needed. Until then, its texts are packed (see `Slabs`).
 */
export class Entry {
  /** Size in memory, bytes. Before the entry is stored, at least one for each character. */
  bytes: number;
  /** How often the answer was sent again. */
  hits = 0;
  /** What the answer cost, nano-USD. */
  readonly cost_nano_usd: number;
  /** The answer in pieces (see `KeptAnswer`), and the body of its request, while they are not packed. */
  private pieces: readonly string[];
  private body_text: string;
  /** The same, packed. Undefined before the entry is stored, and once they were needed. */
  private packed: PackedTexts | undefined;
  private is_stream: boolean;
  private readonly usage: KeptAnswer['usage'];
  /** The value when it was last compared (`valueAt`). */
  value = 0;
  /** The place in the list of its organization. */
  at = 0;
  /** The next entry with the same sketch. */
  next: Entry | undefined;
  /** The request without its body. Entries of the same model share it. */
  place: RequestPlace | undefined;
  private digested: string | null | undefined;
  /** The latest request that got the answer, unless it is long. */
  private latest: RequestIdentity | undefined;
  /** The answer of a chat call, once it was read. */
  private whole: WholeAnswer | undefined;
  private latest_hit: StoredHit | undefined;
  /** How many forms of its stream were measured. */
  private measured_streams = 0;

  constructor(
    /** UUID of the request whose answer it is. */
    readonly request_id: string,
    readonly organization_id: string,
    readonly sketch: number,
    readonly stored_at_ms: number,
    request: RequestIdentity | undefined,
    answer: KeptAnswer,
    /** The digest of the request, if it was needed already. */
    known_digest?: string,
  ) {
    // Memory is collected faster if an entry is few objects, so the answer's members are its own.
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
    if (this.hits > 0 || this.whole) return;
    if (this.packed) this.packed = this.packed.slabs.move(this.packed);
    else {
      if (known && this.place && isSamePlace(known, this.place)) this.place = known;
      this.packed = slabs.pack(this.pieces, this.body_text);
      this.pieces = NO_PIECES;
      this.body_text = '';
    }
  }

  /** Makes strings of the packed texts. Whoever finds an entry calls this: it may be removed before it is read. */
  unpack(): void {
    const { packed } = this;
    if (!packed) return;
    const [text, body_text] = textsOf(packed);
    this.release();
    this.pieces = [text];
    this.body_text = body_text;
  }

  /** Called when nobody can find the entry any more. Texts that nobody has asked for are gone then. */
  forget(): void {
    if (!this.packed) return;
    this.release();
    this.digested ??= null;
  }

  private release(): void {
    const { packed } = this;
    this.packed = undefined;
    packed?.slabs.release(packed);
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
    this.latest = request.body_text.length > MAX_KEPT_BODY_CHARS ? undefined : request;
  }

  /**
   * True if a request is, to the byte, the latest one that got the answer. Most requests that come again
   * are, and to compare two texts costs far less than a digest.
   */
  isAgain(request: RequestIdentity): boolean {
    return this.latest !== undefined && isSameRequest(this.latest, request);
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
    if (this.whole) return this.whole;
    const { text, is_stream, usage, cost_nano_usd } = this;
    this.whole = read({ text, is_stream, usage, cost_nano_usd });
    // The events are not needed any more.
    if (this.whole) {
      this.pieces = [this.whole.text];
      this.is_stream = false;
    }
    return this.whole;
  }

  /** Returns a hit at a time, ms since the Unix epoch. All hits in the same second are one object. */
  hitAt(now_ms: number): StoredHit {
    const age_s = Math.max(0, Math.floor((now_ms - this.stored_at_ms) / MS_PER_S));
    if (this.latest_hit?.age_s !== age_s) {
      const { id: entry_id, cost_nano_usd } = this;
      this.latest_hit = { entry: this, entry_id, cost_nano_usd, age_s };
    }
    return this.latest_hit as StoredHit;
  }

  /** What the entry is worth in memory: the cost that it saves per byte, less with its age. */
  valueAt(now_ms: number): number {
    const hours = (now_ms - this.stored_at_ms) / MS_PER_HOUR;
    return (this.cost_nano_usd * (1 + this.hits)) / (this.bytes * (1 + hours));
  }

  /** True if the entry has texts that were not measured yet. */
  get hasGrown(): boolean {
    return (this.whole?.streams?.size ?? 0) > this.measured_streams;
  }

  /** Returns the size in memory, bytes. */
  measure(): number {
    if (this.packed) return OVERHEAD_BYTES + this.packed.until - this.packed.from;
    const streams = [...(this.whole?.streams?.values() ?? [])];
    this.measured_streams = streams.length;
    const texts = [...this.pieces, ...streams.flatMap(({ pieces, ids }) => [...pieces, ...ids])];
    let bytes = OVERHEAD_BYTES + sizeOf(this.body_text || (this.latest?.body_text ?? ''));
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
