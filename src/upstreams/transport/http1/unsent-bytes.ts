import type { Socket } from 'bun';

/** Other calls run between two slices of a large request (P20). */
const SLICE_BYTES = 256 * 1024;
const FIRST_HIGH_SURROGATE = 0xd800;
const LAST_HIGH_SURROGATE = 0xdbff;

/**
 * The part of a request that the socket did not accept yet. A text is encoded slice by slice, so
 * that its bytes are never in memory as a whole.
 */
export class UnsentBytes {
  /** The position in the content after the current slice. */
  private at = 0;
  private slice: Uint8Array;

  /** `head` has one Latin-1 byte per character. */
  constructor(
    head: string,
    private readonly content: string | Uint8Array,
  ) {
    this.slice = Buffer.concat([Buffer.from(head, 'latin1'), this.nextSlice()]);
  }

  get isEmpty(): boolean {
    return this.slice.byteLength === 0 && this.at >= this.content.length;
  }

  /** Leaves out bytes at the start that were already written. */
  dropStart(bytes: number): this {
    this.slice = this.slice.subarray(bytes);
    return this;
  }

  /**
   * Writes at most one slice. Returns true if the socket accepted the whole slice. Otherwise the
   * socket reports when it can accept more.
   */
  writeTo(socket: Pick<Socket, 'write'>): boolean {
    if (this.slice.byteLength === 0) this.slice = this.nextSlice();
    this.dropStart(Math.max(0, socket.write(this.slice)));
    return this.slice.byteLength === 0;
  }

  private nextSlice(): Uint8Array {
    const { content, at } = this;
    const end = Math.min(at + SLICE_BYTES, content.length);
    if (typeof content !== 'string') {
      this.at = end;
      return content.subarray(at, end);
    }
    // Two code units of one character must stay together, or each would become U+FFFD.
    const last = content.charCodeAt(end - 1);
    const isCut =
      end < content.length && last >= FIRST_HIGH_SURROGATE && last <= LAST_HIGH_SURROGATE;
    this.at = isCut ? end - 1 : end;
    return Buffer.from(content.slice(at, this.at));
  }
}
