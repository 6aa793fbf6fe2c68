import { withoutDashes } from '../../errors/request-id.ts';
import { digestOf, type RequestIdentity } from './canonical-request.ts';
import type { KeptAnswer, WholeAnswer } from './kept-answer.ts';

/** What the objects of an entry need beside its texts, bytes (measured with `bun:jsc`). */
const OVERHEAD_BYTES = 500;
/** A body that is longer is kept as its digest, characters. */
const MAX_KEPT_BODY_CHARS = 64 * 1024;

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
  /** The answer of a chat call, once it was read. */
  private whole: WholeAnswer | undefined;

  constructor(
    /** UUID of the request whose answer it is. */
    readonly request_id: string,
    readonly organization_id: string,
    readonly sketch: number,
    readonly stored_at_ms: number,
    private identity: RequestIdentity | undefined,
    private answer: KeptAnswer,
    /** The digest of the request, if it was needed already. */
    known_digest?: string,
  ) {
    this.model_id = identity?.model_id ?? '';
    this.generation = identity?.generation ?? '';
    if (known_digest !== undefined) {
      this.digested = known_digest;
      this.identity = undefined;
    }
    if (this.identity && this.identity.body_text.length > MAX_KEPT_BODY_CHARS) this.digest();
    this.cost_nano_usd = answer.cost_nano_usd;
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
    this.whole = read(this.answer);
    // The events are not needed any more.
    if (this.whole) this.answer = { ...this.answer, text: this.whole.text, is_stream: false };
    return this.whole;
  }

  /** What the entry is worth in memory: the cost that it saves per byte, less with its age. */
  valueAt(now_ms: number): number {
    const hours = (now_ms - this.stored_at_ms) / MS_PER_HOUR;
    return (this.cost_nano_usd * (1 + this.hits)) / (this.bytes * (1 + hours));
  }

  /** The text of the answer. */
  get text(): string {
    return this.answer.text;
  }

  measure(): number {
    return OVERHEAD_BYTES + sizeOf(this.answer.text) + sizeOf(this.identity?.body_text ?? '');
  }
}

const MS_PER_HOUR = 3_600_000;

/** Returns the memory of a text, bytes. A text with characters beyond ASCII may need two for each. */
function sizeOf(text: string): number {
  return Buffer.byteLength(text) === text.length ? text.length : 2 * text.length;
}

/** Returns the id of the entry with the answer of a request. */
export function entryIdOf(request_uuid: string): string {
  return `ce_${withoutDashes(request_uuid)}`;
}
