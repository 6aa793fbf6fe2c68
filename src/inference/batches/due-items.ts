/**
 * One query reads at most this many positions ahead. After a batch is canceled, about this many of
 * its items may still start.
 */
const READ_AHEAD = 32;

/**
 * Returns the positions of the due items of a batch, each position once. Several runners may share
 * one instance.
 */
export class DueItems {
  private readonly queued: number[] = [];
  private last_position = -1;
  private isExhausted = false;
  private refill: Promise<void> | undefined;

  /**
   * `read` returns at most `limit` positions after the position `after`, in order. An empty list
   * means that no position is left.
   */
  constructor(private readonly read: (after: number, limit: number) => Promise<number[]>) {}

  /**
   * Returns the next position; undefined if all positions were returned. Throws what `read` throws.
   */
  async next(): Promise<number | undefined> {
    while (this.queued.length === 0 && !this.isExhausted) {
      this.refill ??= this.readMore().finally(() => {
        this.refill = undefined;
      });
      await this.refill;
    }
    return this.queued.shift();
  }

  private async readMore(): Promise<void> {
    const positions = await this.read(this.last_position, READ_AHEAD);
    this.queued.push(...positions);
    this.last_position = positions.at(-1) ?? this.last_position;
    this.isExhausted = positions.length === 0;
  }
}
