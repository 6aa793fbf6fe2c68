/** The largest answer that is kept. */
export const MAX_KEPT_BYTES = 16 * 1024 * 1024;
/** All answers that a replica records at one time have at most this size together. */
const MAX_RECORDED_BYTES = 256 * 1024 * 1024;

/** Bytes of the answers that this replica records now. */
let recorded_bytes = 0;

/** Collects the bytes of one answer. Drops all of them if they exceed one of the limits above. */
export class AnswerRecord {
  private pieces: Uint8Array[] = [];
  private size = 0;
  private dropped: 'too_large' | 'no_room' | undefined;

  add(piece: Uint8Array): void {
    if (this.dropped) return;
    this.size += piece.byteLength;
    recorded_bytes += piece.byteLength;
    if (this.size > MAX_KEPT_BYTES) this.drop('too_large');
    else if (recorded_bytes > MAX_RECORDED_BYTES) this.drop('no_room');
    else this.pieces.push(piece);
  }

  /** Returns the whole answer, or why it cannot be kept. Frees the memory of the record. */
  take(): Uint8Array | 'too_large' | 'no_room' {
    if (this.dropped) return this.dropped;
    const whole = Buffer.concat(this.pieces);
    this.free();
    return whole;
  }

  private drop(reason: 'too_large' | 'no_room'): void {
    this.dropped = reason;
    this.free();
  }

  private free(): void {
    recorded_bytes -= this.size;
    this.size = 0;
    this.pieces = [];
  }
}
