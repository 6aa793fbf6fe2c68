/** Calls whose times are remembered. */
const REMEMBERED = 64;
/** Of fewer calls nothing is said. */
const MIN_SAMPLES = 20;
const WEIGHT_OF_ONE = 0.1;

/** How long a channel took to begin its answers: a mean for routing, a percentile for hedging. */
export class Latency {
  private readonly recent: number[] = [];
  private at = 0;
  private mean: number | undefined;

  record(ms: number): void {
    this.recent[this.at] = ms;
    this.at = (this.at + 1) % REMEMBERED;
    this.mean = this.mean === undefined ? ms : this.mean * (1 - WEIGHT_OF_ONE) + ms * WEIGHT_OF_ONE;
  }

  /** Exponentially weighted, ms; undefined before the first call. */
  get mean_ms(): number | undefined {
    return this.mean;
  }

  /** All but one call in twenty began sooner, ms; undefined while too few are known. */
  get p95_ms(): number | undefined {
    if (this.recent.length < MIN_SAMPLES) return undefined;
    const sorted = this.recent.toSorted((a, b) => a - b);
    return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * 0.95))];
  }
}
