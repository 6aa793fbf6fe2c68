/** The statistics of paired measurements. No distribution is assumed. */

export interface Interval {
  low: number;
  high: number;
  /** Probability that the interval contains the true median, 0 to 1. */
  coverage: number;
}

/**
 * Returns the median. For an even count this is the mean of the two middle values. Returns NaN
 * without values.
 */
export function median(values: readonly number[]): number {
  const sorted = ascending(values);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

/**
 * Returns the narrowest pair of order statistics that contains the true median with at least
 * `confidence`. If there are too few values for that (5 or fewer for 95 %), returns the whole
 * range. Then `coverage` is below `confidence`.
 */
export function medianInterval(values: readonly number[], confidence = 0.95): Interval {
  const sorted = ascending(values);
  const count = sorted.length;
  let trimmed = 0;
  while (trimmed + 1 < count / 2 && coverageOf(count, trimmed + 1) >= confidence) trimmed += 1;
  return {
    low: sorted[trimmed] ?? Number.NaN,
    high: sorted[count - 1 - trimmed] ?? Number.NaN,
    coverage: coverageOf(count, trimmed),
  };
}

/**
 * Returns the share of throughput that `after` loses compared with `before`. A gain is negative.
 */
export function loss(before: number, after: number): number {
  return 1 - after / before;
}

/**
 * Returns the probability that the interval contains the true median. The interval does not contain
 * the true median if at most `trimmed` values are below the true median, or at most `trimmed`
 * values are above it.
 */
function coverageOf(count: number, trimmed: number): number {
  let ways = 1;
  let sum = 0;
  for (let beyond = 0; beyond <= trimmed; beyond += 1) {
    sum += ways;
    ways = (ways * (count - beyond)) / (beyond + 1);
  }
  return Math.max(0, 1 - (2 * sum) / 2 ** count);
}

function ascending(values: readonly number[]): number[] {
  return [...values].sort((a, b) => a - b);
}
