import type { Bytes, ParsedHead } from './response-parser.ts';

/** So much of a body is held for a reader that is slow; then the upstream is made to wait. */
export const MAX_HELD_BYTES = 64 * 1024;
/** Small pieces are given out together. */
const MAX_JOINED_BYTES = 16 * 1024;

/** What an exchange uses of an answer: a `Response` is one as well. */
export interface HttpResponse {
  readonly status: number;
  readonly ok: boolean;
  readonly headers: Pick<Headers, 'get' | 'has'>;
  readonly body: HttpBody | null;
  /** The whole body. May be asked once, and not after `body` was read. */
  text(): Promise<string>;
}

export interface HttpBody {
  getReader(): BodyReader;
}

/** A body piece by piece; one reader, one read at a time. */
export interface BodyReader {
  read(): Promise<Piece>;
  cancel(): Promise<void>;
}

export type Piece =
  | { done: false; value: Uint8Array<ArrayBuffer> }
  | { done: true; value?: Uint8Array<ArrayBuffer> | undefined };

/** The connection that a body comes from. */
export interface BodySource {
  pause(): void;
  resume(): void;
  /** The rest is not wanted. */
  abort(): void;
}

interface Waiter {
  resolve: () => void;
  reject: (error: unknown) => void;
}

/** A part of the bytes that came. A view of each would cost a call more than anything else here. */
interface Held {
  readonly bytes: Bytes;
  readonly from: number;
  readonly to: number;
}

/** An answer whose head is there, and whose body is coming. */
export class Http1Response implements HttpResponse, HttpBody, BodyReader {
  readonly status: number;
  readonly headers: ParsedHead['headers'];
  private pieces: Held[] = [];
  private held = 0;
  private ended = false;
  private broken: unknown;
  private waiter: Waiter | undefined;
  private paused = false;
  /** Whoever wants all of it does not read slowly. */
  private whole = false;

  constructor(
    head: ParsedHead,
    private readonly source: BodySource,
  ) {
    this.status = head.status;
    this.headers = head.headers;
  }

  get ok(): boolean {
    return this.status >= 200 && this.status < 300;
  }

  get body(): HttpBody {
    return this;
  }

  getReader(): BodyReader {
    return this;
  }

  push(bytes: Bytes, from: number, to: number): void {
    this.pieces.push({ bytes, from, to });
    this.held += to - from;
    if (this.held <= MAX_HELD_BYTES || this.whole || this.paused) return;
    this.paused = true;
    this.source.pause();
  }

  end(): void {
    this.ended = true;
    // The connection carries somebody else's answer from now on.
    this.flow();
  }

  fail(error: unknown): void {
    if (this.ended) return;
    this.broken ??= error;
    this.wake();
  }

  /** Whoever waits is told of all that came at once. */
  wake(): void {
    const { waiter } = this;
    if (!waiter || !(this.broken || this.ended || (this.held > 0 && !this.whole))) return;
    this.waiter = undefined;
    if (this.broken) waiter.reject(this.broken);
    else waiter.resolve();
  }

  text(): Promise<string> {
    // Most answers came with their heads.
    this.whole = true;
    return this.ended ? Promise.resolve(this.takenText()) : this.textToCome();
  }

  private async textToCome(): Promise<string> {
    this.flow();
    while (!this.ended) await this.more();
    return this.takenText();
  }

  async read(): Promise<Piece> {
    while (this.held === 0) {
      if (this.ended) return { done: true };
      // Only now: whoever still works on the last piece does not want the next one in memory.
      this.flow();
      await this.more();
    }
    return { done: false, value: this.taken() };
  }

  async cancel(): Promise<void> {
    if (!this.ended) this.source.abort();
  }

  private more(): Promise<void> {
    if (this.broken) return Promise.reject(this.broken);
    return new Promise((resolve, reject) => {
      this.waiter = { resolve, reject };
    });
  }

  /** All that came, in one piece if that is small; else the first of the pieces. */
  private taken(): Bytes {
    const [first] = this.pieces;
    if (!first || (this.pieces.length > 1 && this.held <= MAX_JOINED_BYTES)) return this.joined();
    this.pieces.shift();
    this.held -= first.to - first.from;
    return first.bytes.subarray(first.from, first.to);
  }

  private takenText(): string {
    const [only] = this.pieces;
    if (!only || this.pieces.length > 1) return withoutMark(this.joined().toString());
    this.pieces = [];
    this.held = 0;
    return withoutMark(only.bytes.toString('utf8', only.from, only.to));
  }

  private joined(): Bytes {
    const all = Buffer.allocUnsafe(this.held);
    let at = 0;
    for (const { bytes, from, to } of this.pieces) at += bytes.copy(all, at, from, to);
    this.pieces = [];
    this.held = 0;
    return all;
  }

  private flow(): void {
    if (!this.paused) return;
    this.paused = false;
    this.source.resume();
  }
}

/** As the platform's decoder has it: a byte order mark is none of the text. */
function withoutMark(text: string): string {
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
}
