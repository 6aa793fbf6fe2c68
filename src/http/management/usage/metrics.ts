import { type Counter, type Counts, percentile } from '../../../../db/usage/roll-ups/counters.ts';
import { usd } from '../../../json/usd.ts';

/** A figure of usage. */
export interface Metric {
  readonly unit: 'USD' | 'requests' | 'tokens' | 'share' | 'ms';
  /** The figure; null if no request has it. */
  readonly value: (counts: Counts) => number | null;
  /** What sorts series. A share or a time of few requests says little, so these sort by requests. */
  readonly rank: Counter;
  /** The sums that the figure is made of. */
  readonly counters: readonly Counter[];
  /** True if the classes of durations are needed. */
  readonly took: boolean;
}

const requests = (counts: Counts) => counts.requests;
const money = (name: 'charged_nano_usd' | 'list_nano_usd' | 'saved_nano_usd'): Metric => ({
  unit: 'USD',
  value: (counts) => usd(counts[name]),
  rank: name,
  counters: [name],
  took: false,
});
const calls = (name: 'cache_lookups' | 'cache_hits'): Metric => ({
  unit: 'requests',
  value: (counts) => counts[name],
  rank: name,
  counters: [name],
  took: false,
});
const tokens = (
  name:
    | 'input_tokens'
    | 'cached_input_tokens'
    | 'cache_write_tokens'
    | 'output_tokens'
    | 'reasoning_tokens'
    | 'audio_tokens',
): Metric => ({
  unit: 'tokens',
  value: (counts) => counts[name],
  rank: name,
  counters: [name],
  took: false,
});
const latency = (share: number): Metric => ({
  unit: 'ms',
  value: (counts) => rounded(percentile(counts, share)),
  rank: 'requests',
  counters: [],
  took: true,
});

/** The metrics by their names. */
export const METRICS = {
  cost: money('charged_nano_usd'),
  list_price: money('list_nano_usd'),
  requests: { unit: 'requests', value: requests, rank: 'requests', counters: [], took: false },
  error_rate: {
    unit: 'share',
    value: (counts) =>
      counts.requests === 0 ? null : (counts.requests - counts.succeeded) / counts.requests,
    rank: 'requests',
    counters: ['succeeded'],
    took: false,
  },
  input_tokens: tokens('input_tokens'),
  cached_input_tokens: tokens('cached_input_tokens'),
  cache_write_tokens: tokens('cache_write_tokens'),
  output_tokens: tokens('output_tokens'),
  reasoning_tokens: tokens('reasoning_tokens'),
  audio_tokens: tokens('audio_tokens'),
  latency_p50: latency(0.5),
  latency_p95: latency(0.95),
  first_token_mean: {
    unit: 'ms',
    value: (counts) =>
      rounded(counts.first_tokens === 0 ? undefined : counts.first_token_ms / counts.first_tokens),
    rank: 'requests',
    counters: ['first_tokens', 'first_token_ms'],
    took: false,
  },
  cache_lookups: calls('cache_lookups'),
  cache_hits: calls('cache_hits'),
  cache_hit_rate: {
    unit: 'share',
    value: ({ cache_hits, cache_lookups }) =>
      cache_lookups === 0 ? null : cache_hits / cache_lookups,
    rank: 'requests',
    counters: ['cache_lookups', 'cache_hits'],
    took: false,
  },
  saved: money('saved_nano_usd'),
} as const satisfies Record<string, Metric>;

export type MetricName = keyof typeof METRICS;

function rounded(value: number | undefined): number | null {
  return value === undefined ? null : Math.round(value);
}
