/** The pieces are joined when their number or their total characters reach one of these limits. */
const MAX_UNJOINED_PIECES = 128;
const MAX_UNJOINED_CHARS = 512;
/** For pieces that keep little more than themselves, characters. */
export const MANY_UNJOINED_CHARS = 64 * 1024;

/**
 * A text that is built from the pieces of a stream. A piece is a slice of its event, so the piece
 * keeps the whole event in memory. Joining copies the pieces and frees the events.
 */
export class TextBuilder {
  private readonly joined: string[] = [];
  private pieces: string[] = [];
  /** The characters that the pieces keep in memory. */
  private unjoined_chars = 0;
  private total_chars = 0;

  /** `max_unjoined_chars` bounds the characters of pieces that are not joined yet. */
  constructor(private readonly max_unjoined_chars = MAX_UNJOINED_CHARS) {}

  /** The number of characters of the whole text. */
  get length(): number {
    return this.total_chars;
  }

  /** The piece keeps `kept_chars` characters in memory: more than its own if it is part of another text. */
  add(piece: string, kept_chars = piece.length): void {
    if (piece === '') return;
    this.total_chars += piece.length;
    this.unjoined_chars += kept_chars;
    const count = this.pieces.push(piece);
    if (count < MAX_UNJOINED_PIECES && this.unjoined_chars < this.max_unjoined_chars) return;
    this.joined.push(this.pieces.join(''));
    this.pieces = [];
    this.unjoined_chars = 0;
  }

  /** The pieces in order. Some of them are joined. */
  parts(): string[] {
    return [...this.joined, ...this.pieces];
  }

  toString(): string {
    return this.joined.join('') + this.pieces.join('');
  }
}
