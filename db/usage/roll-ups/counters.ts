/**
 * The bounds of the classes of durations, ms. A class is at most 42 % longer than the one below it,
 * so a percentile that is read from the classes is at most that far from the true one.
 */
const BOUNDS_MS: readonly number[] = Array.from({ length: 31 }, (_, at) =>
  Math.round(2 ** (4 + at / 2)),
);
const TOOK = Array.from({ length: BOUNDS_MS.length + 1 }, (_, at) => `took_${at}`);

/** The class of a row's duration, as an SQL expression; null without a duration. */
export const DURATION_CLASS = `width_bucket(ended_ms, array[${BOUNDS_MS.join()}])`;

/** What is summed. */
export const COUNTERS = [
  'requests',
  'charges',
  'succeeded',
  'charged_nano_usd',
  'list_nano_usd',
  'input_tokens',
  'cached_input_tokens',
  'cache_write_tokens',
  'output_tokens',
  'reasoning_tokens',
  'audio_tokens',
  'duration_ms',
  'durations',
  'first_token_ms',
  'first_tokens',
  'cache_lookups',
  'cache_hits',
  'saved_nano_usd',
] as const;

/** The name of one sum. */
export type Counter = (typeof COUNTERS)[number];
/** Sums of one group. `took` counts requests by the class of their duration, if it was read. */
export type Counts = Readonly<Record<Counter, number>> & { readonly took: readonly number[] };

/** The columns of roll-ups that have the classes of durations. */
export const TOOK_COLUMNS: readonly string[] = TOOK;

/** Sums that have 4 bytes. PostgreSQL adds them several times faster than numbers of 8 bytes. */
const SHORT: readonly string[] = [
  ...[
    'requests',
    'charges',
    'succeeded',
    'durations',
    'first_tokens',
    'cache_lookups',
    'cache_hits',
  ],
  ...TOOK,
];

/** Returns the sum of a column of additions, as an SQL expression of the type that it is stored with. */
export function summed(name: string): string {
  return `sum(${name})::${SHORT.includes(name) ? 'int4' : 'int8'} as ${name}`;
}

/** Returns sums of nothing. */
export function noCounts(): Counts {
  return {
    ...(Object.fromEntries(COUNTERS.map((name) => [name, 0])) as Record<Counter, number>),
    took: TOOK.map(() => 0),
  };
}

/** Returns `a + sign * b`. */
export function addCounts(a: Counts, b: Counts, sign: 1 | -1 = 1): Counts {
  const sums = COUNTERS.map((name) => [name, a[name] + sign * b[name]]);
  return {
    ...(Object.fromEntries(sums) as Record<Counter, number>),
    took: a.took.map((count, at) => count + sign * (b.took[at] ?? 0)),
  };
}

/**
 * Returns the duration below which a share of the requests stayed, ms; undefined without requests.
 * Inside a class, durations are taken as spread evenly over its logarithm.
 */
export function percentile({ took }: Counts, share: number): number | undefined {
  const total = took.reduce((sum, count) => sum + count, 0);
  if (total <= 0) return undefined;
  let below = 0;
  for (const [at, count] of took.entries()) {
    const rank = share * total - below;
    if (count > 0 && rank <= count) {
      const lower = BOUNDS_MS[at - 1] ?? 1;
      const upper = BOUNDS_MS[at] ?? lower * Math.SQRT2;
      return lower * (upper / lower) ** (rank / count);
    }
    below += count;
  }
  return BOUNDS_MS.at(-1);
}
