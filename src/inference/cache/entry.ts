import { withoutDashes } from '../../errors/request-id.ts';
import { digestOf, isSameRequest, type RequestIdentity } from './canonical-request.ts';
import type { Hit } from './hit.ts';
import type { KeptAnswer, WholeAnswer } from './kept-answer.ts';

/** What the objects of an entry need beside its texts, bytes (measured with `bun:jsc`). */
const OVERHEAD_BYTES = 500;
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
 * and reads its answer, only when it may be needed.
 */
export class Entry {
  /** Size in memory, bytes. */
  bytes: number;
  /** How often the answer was sent again. */
  hits = 0;
  /** What the answer cost, nano-USD. */
  readonly cost_nano_usd: number;
  /** The answer (see `KeptAnswer`). */
  text: string;
  private is_stream: boolean;
  private readonly usage: KeptAnswer['usage'];
  /** The value when it was last compared (`valueAt`). */
  value = 0;
  /** The place in the list of its organization. */
  at = 0;
  /** The model, and the purges of its entries until the call began (`cache-rules.ts`). */
  readonly model_id: string;
  readonly generation: string;
  /** The next entry with the same sketch. */
  next: Entry | undefined;
  private digested: string | null | undefined;
  /** The latest request that got the answer, unless it is long. */
  private latest: RequestIdentity | undefined;
  /** The answer of a chat call, once it was read. */
  private whole: WholeAnswer | undefined;
  private latest_hit: StoredHit | undefined;

  constructor(
    /** UUID of the request whose answer it is. */
    readonly request_id: string,
    readonly organization_id: string,
    readonly sketch: number,
    readonly stored_at_ms: number,
    private identity: RequestIdentity | undefined,
    { text, is_stream, usage, cost_nano_usd }: KeptAnswer,
    /** The digest of the request, if it was needed already. */
    known_digest?: string,
  ) {
    // Memory is collected faster if an entry is few objects, so the answer's members are its own.
    this.text = text;
    this.is_stream = is_stream;
    this.usage = usage;
    this.cost_nano_usd = cost_nano_usd;
    this.model_id = identity?.model_id ?? '';
    this.generation = identity?.generation ?? '';
    if (known_digest !== undefined) {
      this.digested = known_digest;
      this.identity = undefined;
    }
    if (this.identity && this.identity.body_text.length > MAX_KEPT_BODY_CHARS) this.digest();
    this.bytes = this.measure();
  }

  /** The digest of the request; null if the request has none. */
  digest(): string | null {
    if (this.identity) {
      this.digested = digestOf(this.identity) ?? null;
      this.identity = undefined;
    }
    return this.digested ?? null;
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
      this.text = this.whole.text;
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

  measure(): number {
    const request = this.identity ?? this.latest;
    return OVERHEAD_BYTES + sizeOf(this.text) + sizeOf(request?.body_text ?? '');
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
