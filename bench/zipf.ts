/** A trace of questions as people ask them: a few very often, and most of them once (Zipf's law). */

/** Returns a generator of numbers from 0 to 1 that gives the same ones for the same seed (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/**
 * Returns the questions of a trace: numbers below `questions`. Question n is asked with the weight
 * 1 / (n + 1).
 */
export function zipfTrace(calls: number, questions: number, seed: number): number[] {
  const sums: number[] = [];
  let sum = 0;
  for (let question = 0; question < questions; question += 1) {
    sum += 1 / (question + 1);
    sums.push(sum);
  }
  const random = seeded(seed);
  return Array.from({ length: calls }, () => {
    const wanted = random() * sum;
    let [low, high] = [0, questions - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((sums[middle] ?? 0) > wanted) high = middle;
      else low = middle + 1;
    }
    return low;
  });
}

/** What a cache without bounds does for a trace. */
export interface TraceOutcome {
  /** The calls that reach an upstream: the first one of each question. */
  readonly upstream_calls: number;
  readonly hits: number;
  /** What the hits would have cost, nano-USD. */
  readonly saved_nano_usd: number;
}

/** Returns what the cache should do for a trace. `costs` has the price of each question, nano-USD. */
export function expectedOf(
  trace: readonly number[],
  costs: ReadonlyMap<number, number>,
): TraceOutcome {
  const seen = new Set<number>();
  let saved_nano_usd = 0;
  for (const question of trace) {
    if (seen.has(question)) saved_nano_usd += costs.get(question) ?? 0;
    seen.add(question);
  }
  const hits = trace.length - seen.size;
  return { upstream_calls: seen.size, hits, saved_nano_usd };
}
