import { Amount } from '../../../parts/amount.ts';
import { count, percent, shortCount } from '../../../parts/figures.ts';
import { duration } from '../../../parts/time.tsx';
import type { MetricName } from './search.ts';

/** How the figures of a metric are shown and summed. */
export interface Figures {
  /** A figure of the API as the page means it; null is unknown. */
  readonly of: (value: number | null) => number | null;
  readonly show: (value: number) => string;
  /** Few characters, for the axis of a plot. */
  readonly short: (value: number) => string;
  /** True if the figures of parts add up to that of the whole. */
  readonly isSum: boolean;
  /** True if the figure is money. */
  readonly isMoney: boolean;
}

const same = (value: number | null) => value;
const number: Figures = { of: same, show: count, short: shortCount, isSum: true, isMoney: false };
const money: Figures = {
  of: same,
  show: (usd) => Amount.ofUsd(usd).short,
  short: (usd) => `$${shortCount(usd)}`,
  isSum: true,
  isMoney: true,
};
const time: Figures = { of: same, show: duration, short: duration, isSum: false, isMoney: false };
const share: Figures = { of: same, show: percent, short: percent, isSum: false, isMoney: false };
/** The API has the share of errors; the page shows that of success. */
const success: Figures = { ...share, of: (errors) => (errors === null ? null : 1 - errors) };

/** Returns how the figures of a metric are shown. */
export function figuresOf(metric: MetricName): Figures {
  if (metric === 'cost' || metric === 'list_price' || metric === 'saved') return money;
  if (metric === 'cache_hit_rate') return share;
  if (metric === 'error_rate') return success;
  return /latency|first_token/.test(metric) ? time : number;
}

/** Sums from the first value on. An unknown value makes the following ones unknown. */
export function runningSums(values: readonly (number | null)[]): (number | null)[] {
  let sum: Amount | null = Amount.zero;
  return values.map((value) => {
    sum = sum === null || value === null ? null : sum.plus(Amount.ofUsd(value));
    return sum === null ? null : sum.usd;
  });
}

/** The change from a figure before, in percent; undefined if there is nothing to compare with. */
export function changeOf(now: number | null, before: number | null): string | undefined {
  if (now === null || before === null || before === 0) return undefined;
  const change = (now - before) / before;
  const sign = change > 0 ? '+' : change < 0 ? '−' : '±';
  return `${sign}${percent(Math.abs(change))}`;
}
