/** Positions that are read ahead; a cancelled batch begins at most about so many more. */
const READ_AHEAD = 32;

/** Gives out what is due, once over; several may take from it at the same time. */
export class DueItems {
  private readonly waiting: number[] = [];
  private last = -1;
  private over = false;
  private filling: Promise<void> | undefined;

  /** `read` gives the next positions after one, in order; none = the end. */
  constructor(private readonly read: (after: number, limit: number) => Promise<number[]>) {}

  /** The next position; undefined = all were given out. Throws what `read` throws. */
  async next(): Promise<number | undefined> {
    while (this.waiting.length === 0 && !this.over) {
      this.filling ??= this.fill().finally(() => {
        this.filling = undefined;
      });
      await this.filling;
    }
    return this.waiting.shift();
  }

  private async fill(): Promise<void> {
    const found = await this.read(this.last, READ_AHEAD);
    this.waiting.push(...found);
    this.last = found.at(-1) ?? this.last;
    this.over = found.length === 0;
  }
}
