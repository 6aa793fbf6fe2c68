/**
 * Values that many rows of one statement share. Each combination is sent once, and each row has its number.
 */
export class SharedValues<Row> {
  private readonly texts: string[] = [];
  private readonly numbers = new Map<string, number>();
  private last: Row | undefined;
  private number = 0;

  /** `isSame` compares two rows fast; `valuesOf` returns undefined for a row without values. */
  constructor(
    private readonly isSame: (a: Row, b: Row) => boolean,
    private readonly valuesOf: (row: Row) => object | undefined,
  ) {}

  /** Returns the number of the values of a row. 0 = it has none. */
  numberOf(row: Row): number {
    // In most cases the row has the values of the previous one.
    if (this.last && this.isSame(this.last, row)) return this.number;
    this.last = row;
    const values = this.valuesOf(row);
    this.number = values ? this.numberOfText(JSON.stringify(values)) : 0;
    return this.number;
  }

  /** Returns all combinations with their numbers, as JSON. */
  json(): string {
    return `[${this.texts.join()}]`;
  }

  private numberOfText(text: string): number {
    const known = this.numbers.get(text);
    if (known !== undefined) return known;
    const number = this.texts.length + 1;
    this.numbers.set(text, number);
    this.texts.push(`{"number":${number},${text.slice(1)}`);
    return number;
  }
}
