/** The least number of rows that have memory. All such numbers are powers of two. */
const MIN_ROWS = 16;
/** In the first column of a row that is not in use. */
const FREE = -1;

/**
 * Numbered rows of numbers. New rows are at the end, and nearly all are freed near the beginning. They are a ring in one
 * typed array: a freed row is used again, and the collector of memory never reads them. It reads objects again and again.
 */
export class Rows {
  /** How many rows are in use. */
  size = 0;
  /** The numbers of all rows. `push` and `free` may replace the array. */
  numbers: Float64Array;
  /** How many rows have memory. */
  private capacity = MIN_ROWS;
  /** No row before this one is in use. */
  private first = 0;
  /** The number of the next row. */
  private end = 0;

  /** `columns` is the length of a row. The number in its first column must not be negative. */
  constructor(private readonly columns: number) {
    this.numbers = new Float64Array(MIN_ROWS * columns);
  }

  /** The number of rows from the first to the last one, also of those that are free. */
  get length(): number {
    return this.end - this.first;
  }

  /** Takes a new row. Returns its number. Its columns have any numbers. */
  push(): number {
    if (this.length === this.capacity) this.resize(2 * this.capacity);
    const at = this.end;
    this.end += 1;
    this.size += 1;
    return at;
  }

  /** Returns where a row begins in `numbers`. */
  offset(at: number): number {
    return (at & (this.capacity - 1)) * this.columns;
  }

  /** Frees a row that is in use. */
  free(at: number): void {
    this.numbers[this.offset(at)] = FREE;
    this.size -= 1;
    while (this.first < this.end && this.isFree(this.first)) this.first += 1;
    const isSparse = 4 * this.length < this.capacity;
    if (isSparse && this.capacity > MIN_ROWS) this.resize(this.capacity / 2);
  }

  /** Returns the numbers of the first rows in use: at most `count`. */
  oldest(count: number): number[] {
    const found: number[] = [];
    for (let at = this.first; at < this.end && found.length < count; at += 1) {
      if (!this.isFree(at)) found.push(at);
    }
    return found;
  }

  /** Returns the numbers of all rows in use. */
  all(): number[] {
    return this.oldest(this.size);
  }

  private isFree(at: number): boolean {
    return this.numbers[this.offset(at)] === FREE;
  }

  private resize(capacity: number): void {
    const { numbers, columns } = this;
    const from = Array.from({ length: this.length }, (_, row) => this.offset(this.first + row));
    this.capacity = capacity;
    this.numbers = new Float64Array(capacity * columns);
    for (const [row, begin] of from.entries()) {
      this.numbers.set(numbers.subarray(begin, begin + columns), this.offset(this.first + row));
    }
  }
}
