import { withoutDashes } from '../../errors/request-id.ts';
import {
  digestOf,
  isSameRequest,
  type RequestIdentity,
  type RequestPlace,
} from './canonical-request.ts';
import type { Hit } from './hit.ts';
import type { KeptAnswer, WholeAnswer } from './kept-answer.ts';

/** What an entry needs beside its texts, bytes. An open one needs most (measured with `bun:jsc`). */
export const OVERHEAD_BYTES = 500;
const MS_PER_HOUR = 3_600_000;
const MS_PER_S = 1_000;
/** A body that is longer is not kept, characters. */
export const MAX_KEPT_BODY_CHARS = 64 * 1024;

/** A hit in the store. */
export interface StoredHit extends Hit {
  readonly entry: Entry;
}

/** An answer that is stored now. */
export interface NewEntry {
  /** UUID of the request whose answer it is. */
  readonly request_id: string;
  readonly organization_id: string;
  readonly sketch: number;
  /** Ms since the Unix epoch. */
  readonly stored_at_ms: number;
  readonly request: RequestIdentity | undefined;
  readonly answer: KeptAnswer;
  /** The digest of the request, if it was needed already. */
  readonly known_digest?: string | undefined;
}

/** What decides if rules forbid an entry (`cache-rules.ts`). */
export interface StoredFacts {
  readonly request_id: string;
  readonly model_id: string;
  /** The purges of the entries of its model until the call began. */
  readonly generation: string;
}

/** An entry as it is taken out of its row. */
export interface OpenedEntry extends Omit<NewEntry, 'request' | 'known_digest'> {
  /** The request without its body. */
  readonly place: RequestPlace | undefined;
  /** The body of the request; '' if its digest is known. */
  readonly body_text: string;
  /** Null for a request that has none, undefined if it was not needed yet. */
  readonly digest: string | null | undefined;
}

/**
 * A stored answer with its request, which somebody asked for or may have asked for. It computes its digest, and reads its
 * answer, only when it is needed.
 */
export class Entry implements StoredFacts {
  readonly request_id: string;
  readonly organization_id: string;
  readonly sketch: number;
  readonly stored_at_ms: number;
  /** What the answer cost, nano-USD. */
  readonly cost_nano_usd: number;
  /** Size in memory, bytes. */
  bytes = 0;
  /** How often the answer was sent again. */
  hits = 0;
  /** Its row (`packed-entries.ts`). */
  at = 0;
  private readonly place: RequestPlace | undefined;
  private digested: string | null | undefined;
  private body_text: string;
  /** The answer (see `KeptAnswer`). */
  text: string;
  private is_stream: boolean;
  private readonly usage: KeptAnswer['usage'];
  /** The latest request that got the answer, unless it is long. */
  private latest: RequestIdentity | undefined;
  /** The answer of a chat call, once it was read. */
  private whole: WholeAnswer | undefined;
  private latest_hit: StoredHit | undefined;
  /** How many forms of its stream were measured. */
  private measured_streams = 0;

  constructor(opened: OpenedEntry) {
    this.request_id = opened.request_id;
    this.organization_id = opened.organization_id;
    this.sketch = opened.sketch;
    this.stored_at_ms = opened.stored_at_ms;
    this.cost_nano_usd = opened.answer.cost_nano_usd;
    this.place = opened.place;
    this.digested = opened.digest;
    this.body_text = opened.body_text;
    this.text = opened.answer.text;
    this.is_stream = opened.answer.is_stream;
    this.usage = opened.answer.usage;
  }

  get model_id(): string {
    return this.place?.model_id ?? '';
  }

  get generation(): string {
    return this.place?.generation ?? '';
  }

  /** The digest of the request; null if the request has none. */
  digest(): string | null {
    const { place } = this;
    if (this.digested !== undefined || !place) return this.digested ?? null;
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
      this.text = this.whole.text;
      this.is_stream = false;
    }
    return this.whole;
  }

  /** Returns a hit at a time, ms since the Unix epoch. All hits in the same second are one object. */
  hitAt(now_ms: number): StoredHit {
    const age_s = Math.max(0, Math.floor((now_ms - this.stored_at_ms) / MS_PER_S));
    const { latest_hit } = this;
    if (latest_hit?.age_s === age_s) return latest_hit;
    const { id: entry_id, cost_nano_usd } = this;
    const hit = { entry: this, entry_id, cost_nano_usd, age_s };
    this.latest_hit = hit;
    return hit;
  }

  /** True if the entry has texts that were not measured yet. */
  get hasGrown(): boolean {
    return (this.whole?.streams?.size ?? 0) > this.measured_streams;
  }

  /** Returns the size in memory, bytes. */
  measure(): number {
    const streams = [...(this.whole?.streams?.values() ?? [])];
    this.measured_streams = streams.length;
    const texts = [this.text, ...streams.flatMap(({ pieces, ids }) => [...pieces, ...ids])];
    let bytes = OVERHEAD_BYTES + sizeOf(this.body_text || (this.latest?.body_text ?? ''));
    for (const text of texts) bytes += sizeOf(text);
    return bytes;
  }
}

/**
 * Returns what an entry is worth in memory: the cost that it saves per byte, less with its age. `age_ms` is in
 * milliseconds.
 */
export function worthOf(
  cost_nano_usd: number,
  hits: number,
  bytes: number,
  age_ms: number,
): number {
  return (cost_nano_usd * (1 + hits)) / (bytes * (1 + age_ms / MS_PER_HOUR));
}

/** Returns the memory of a text, bytes. A text with characters beyond ASCII may need two for each. */
function sizeOf(text: string): number {
  return Buffer.byteLength(text) === text.length ? text.length : 2 * text.length;
}

/** Returns the id of the entry with the answer of a request. */
export function entryIdOf(request_uuid: string): string {
  return `ce_${withoutDashes(request_uuid)}`;
}
