/** So much is joined at once. */
const PIECES = 128;
const CHARS = 512;

/**
 * A text that grows by the pieces of a stream. A piece that was cut out of an event keeps the whole
 * event in memory; joined ones are text of their own.
 */
export class GrownText {
  private readonly joined: string[] = [];
  private pieces: string[] = [];
  private loose = 0;
  private chars = 0;

  get length(): number {
    return this.chars;
  }

  add(piece: string): void {
    if (piece === '') return;
    this.chars += piece.length;
    this.loose += piece.length;
    if (this.pieces.push(piece) < PIECES && this.loose < CHARS) return;
    this.joined.push(this.pieces.join(''));
    this.pieces = [];
    this.loose = 0;
  }

  toString(): string {
    return this.joined.join('') + this.pieces.join('');
  }
}
