/** The pieces are joined when their number or their total characters reach one of these limits. */
const MAX_UNJOINED_PIECES = 128;
const MAX_UNJOINED_CHARS = 512;

/**
 * A text that is built from the pieces of a stream. A piece is a slice of its event, so the piece
 * keeps the whole event in memory. Joining copies the pieces and frees the events.
 */
export class TextBuilder {
  private readonly joined: string[] = [];
  private pieces: string[] = [];
  private unjoined_chars = 0;
  private total_chars = 0;

  /** The number of characters of the whole text. */
  get length(): number {
    return this.total_chars;
  }

  add(piece: string): void {
    if (piece === '') return;
    this.total_chars += piece.length;
    this.unjoined_chars += piece.length;
    if (this.pieces.push(piece) < MAX_UNJOINED_PIECES && this.unjoined_chars < MAX_UNJOINED_CHARS)
      return;
    this.joined.push(this.pieces.join(''));
    this.pieces = [];
    this.unjoined_chars = 0;
  }

  toString(): string {
    return this.joined.join('') + this.pieces.join('');
  }
}
