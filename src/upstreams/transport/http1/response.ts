import type { BodyReader, HttpBody, HttpResponse, Piece } from '../http.ts';
import type { Bytes, ParsedHead } from './response-parser.ts';

/**
 * If more than this many bytes of a body wait for a slow reader, reading from the upstream is
 * paused.
 */
export const MAX_BUFFERED_BYTES = 64 * 1024;
/** Pieces that have at most this number of bytes together are returned as one piece. */
const MAX_JOINED_BYTES = 16 * 1024;

/** The connection that a body is read from. */
export interface BodySource {
  pause(): void;
  resume(): void;
  /** Ends the connection, because the rest of the body is not needed. */
  abort(): void;
}

/** The pending promise of a reader. */
interface Waiter {
  resolve: () => void;
  reject: (error: unknown) => void;
}

/**
 * A range of received bytes. It is not a view (`subarray`), because creating a view for each range
 * would be slower than all other steps here.
 */
interface ByteRange {
  readonly bytes: Bytes;
  readonly from: number;
  readonly to: number;
}

/** A response whose head was parsed. Its body may still be arriving. */
export class Http1Response implements HttpResponse, HttpBody, BodyReader {
  readonly status: number;
  readonly headers: ParsedHead['headers'];
  readonly body_bytes: number | undefined;
  private pieces: ByteRange[] = [];
  private buffered_bytes = 0;
  private hasEnded = false;
  private error: unknown;
  private waiter: Waiter | undefined;
  private isPaused = false;
  /** True after `text` was called. The whole body is needed, so reading is not paused. */
  private isReadWhole = false;

  constructor(
    head: ParsedHead,
    private readonly source: BodySource,
  ) {
    this.status = head.status;
    this.headers = head.headers;
    this.body_bytes = head.body_bytes;
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

  /** Adds the bytes from `from` up to `to` to the body. */
  push(bytes: Bytes, from: number, to: number): void {
    this.pieces.push({ bytes, from, to });
    this.buffered_bytes += to - from;
    if (this.buffered_bytes <= MAX_BUFFERED_BYTES || this.isReadWhole || this.isPaused) return;
    this.isPaused = true;
    this.source.pause();
  }

  /** Marks the body as complete. */
  end(): void {
    this.hasEnded = true;
    // The connection will carry other responses, so it must not stay paused.
    this.resume();
  }

  /**
   * Rejects the pending read. Later reads return the bytes that were received, and then reject. Has
   * no effect if the body is complete.
   */
  fail(error: unknown): void {
    if (this.hasEnded) return;
    this.error ??= error;
    this.wake();
  }

  /**
   * Ends the pending read if the body has new bytes, has ended or has failed. The connection calls
   * `wake` after it pushed all bytes that arrived together, so that one read returns them.
   */
  wake(): void {
    const { waiter } = this;
    if (!waiter || !(this.error || this.hasEnded || (this.buffered_bytes > 0 && !this.isReadWhole)))
      return;
    this.waiter = undefined;
    if (this.error) waiter.reject(this.error);
    else waiter.resolve();
  }

  text(): Promise<string> {
    this.isReadWhole = true;
    // Most bodies arrive together with the head of the response. These need no wait.
    return this.hasEnded ? Promise.resolve(this.takeText()) : this.waitForText();
  }

  private async waitForText(): Promise<string> {
    this.resume();
    while (!this.hasEnded) await this.waitForBytes();
    return this.takeText();
  }

  async read(): Promise<Piece> {
    while (this.buffered_bytes === 0) {
      if (this.hasEnded) return { done: true };
      // Reading resumes only here, so that no further piece is buffered while the caller processes
      // the last piece.
      this.resume();
      await this.waitForBytes();
    }
    return { done: false, value: this.takePiece() };
  }

  async cancel(): Promise<void> {
    if (!this.hasEnded) this.source.abort();
  }

  private waitForBytes(): Promise<void> {
    if (this.error) return Promise.reject(this.error);
    return new Promise((resolve, reject) => {
      this.waiter = { resolve, reject };
    });
  }

  /** Returns all pieces as one piece if they are small, otherwise the first piece. */
  private takePiece(): Bytes {
    const [first] = this.pieces;
    if (!first || (this.pieces.length > 1 && this.buffered_bytes <= MAX_JOINED_BYTES))
      return this.takeAll();
    this.pieces.shift();
    this.buffered_bytes -= first.to - first.from;
    return first.bytes.subarray(first.from, first.to);
  }

  private takeText(): string {
    const [only] = this.pieces;
    if (!only || this.pieces.length > 1) return withoutByteOrderMark(this.takeAll().toString());
    this.pieces = [];
    this.buffered_bytes = 0;
    return withoutByteOrderMark(only.bytes.toString('utf8', only.from, only.to));
  }

  private takeAll(): Bytes {
    const all = Buffer.allocUnsafe(this.buffered_bytes);
    let at = 0;
    for (const { bytes, from, to } of this.pieces) at += bytes.copy(all, at, from, to);
    this.pieces = [];
    this.buffered_bytes = 0;
    return all;
  }

  private resume(): void {
    if (!this.isPaused) return;
    this.isPaused = false;
    this.source.resume();
  }
}

/** Removes the byte order mark, as the platform's decoder does. */
function withoutByteOrderMark(text: string): string {
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
}
