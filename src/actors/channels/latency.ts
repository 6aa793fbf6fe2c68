/** The number of recent calls from which the percentile is computed. */
const MAX_KEPT_CALLS = 64;
/** With fewer calls than this, the percentile is undefined. */
const MIN_SAMPLES = 20;
/** The weight of the latest call in the mean. */
const WEIGHT_OF_ONE = 0.1;

/**
 * The times from the start of a call to the start of its answer, of one model on one channel.
 * Routing uses their mean. Hedging uses a percentile.
 */
export class Latency {
  private readonly recent: number[] = [];
  private next = 0;
  private mean: number | undefined;

  record(ms: number): void {
    this.recent[this.next] = ms;
    this.next = (this.next + 1) % MAX_KEPT_CALLS;
    this.mean = this.mean === undefined ? ms : this.mean * (1 - WEIGHT_OF_ONE) + ms * WEIGHT_OF_ONE;
  }

  /** The exponentially weighted mean, ms; undefined before the first call. */
  get mean_ms(): number | undefined {
    return this.mean;
  }

  /** The 95th percentile, ms; undefined below 20 calls. */
  get p95_ms(): number | undefined {
    if (this.recent.length < MIN_SAMPLES) return undefined;
    const sorted = this.recent.toSorted((a, b) => a - b);
    return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * 0.95))];
  }
}
